import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog.loader import load_catalog
from core.catalog.model import Target
from core.errors import (
    AccountFailure,
    BadReply,
    ContentRefused,
    ContextTooLong,
    Interrupted,
    ModelUnavailable,
    UpstreamFailure,
    UpstreamRateLimited,
    UpstreamRejected,
    UpstreamUnavailable,
)
from core.providers.failure_words import (
    MAX_READ,
    MAX_WORDS,
    bad_reply,
    caller_message,
    cleaned,
    excerpt,
    interrupted,
    names_a_host,
)
from core.providers.http_errors import ErrorBody
from tests.support.targets import make_target, make_vendor


def target(vendor: str = "acme") -> Target:
    return make_target("acme-large-prod", vendor=make_vendor(vendor))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Unknown parameter: 'user_location'.", "Unknown parameter: 'user_location'."),
        ("See https://docs.acme.test/errors?x=1 for help", "See (address) for help"),
        ("Write to help@acme.test now", "Write to (address) now"),
        ("Bad host 10.0.0.7:8080/v1", "Bad host (address)"),
        ("Incorrect API key sk-proj-abcDEF1234 provided", "Incorrect API key (removed) provided"),
        ("Key gsk_1234**** is wrong", "Key (removed) is wrong"),
        ("in organization org-AbC123dEf on tokens", "in organization (removed) on tokens"),
        ("Bearer abc.def is bad", "(removed) is bad"),
        ("trace 0123456789abcdef0123456789abcdef", "trace (removed)"),
        ("id 123e4567-e89b-12d3-a456-426614174000.", "id (removed)."),
        ("Acme refused this; ACME says no", "the host refused this; the host says no"),
        ("Azure OpenAI returned 400", "the host returned 400"),
        ("Provider Together AI failed", "Provider the host failed"),
        ("line one\n\n  line\ttwo ", "line one line two"),
        ("mistral-large takes no images", "mistral-large takes no images"),
        ("used together with 'tools'", "used together with 'tools'"),
        ("stop and n cannot go together", "stop and n cannot go together"),
        ("Together cannot do this", "the host cannot do this"),
        ("OpenAI_error from vllm_error2", "the host_error from the host_error2"),
        ("TogetherAI, FireworksAI and MistralAI", "the host, the host and the host"),
        ("OpenAI-compatible Parasail, Ollama, Hyperbolic", "the host-compatible the host, the host, the host"),
        ("at z.ai or api.lab-host.com:8080/v1/chat", "at (address) or (address)"),
        ("openai/gpt-oss takes no images", "openai/gpt-oss takes no images"),
        ("\u4f7f\u7528OpenAI\u63a5\u53e3", "\u4f7f\u7528the host\u63a5\u53e3"),
        ("Open\u200bAI\x00 says \u202eno", "the host says no"),
        ("User: arn:aws:iam::123456789012:user/bob is wrong", "User: (removed) is wrong"),
        ("account 123456789012 is closed", "account (removed) is closed"),
        ("key AKIAIOSFODNN7EXAMPLE", "key (removed)"),
        ("in /home/bob/app/server.py, line 3", "in (path), line 3"),
        ("model us.amazon.nova-pro-v1:0 is busy", "model (model) is busy"),
        ("accounts/lab/models/llama-v3 is busy", "(model) is busy"),
        ("see /properties/name of the schema", "see /properties/name of the schema"),
        ("host fe80:0:0:0:1:2:3:4 or localhost:80", "host (address) or (address)"),
    ],
)
def test_words_are_cleaned(said: str, told: str) -> None:
    assert cleaned(said, target()) == told


def test_the_hosts_name_for_the_model_becomes_ours() -> None:
    ours = make_target("acme-large-prod")
    told = cleaned("acme-large-prod takes no images", ours)
    assert told == f"{ours.model.id} takes no images"


def test_an_english_word_is_no_name_even_of_the_vendor() -> None:
    assert cleaned("used together with 'tools'", target("together")) == "used together with 'tools'"


@pytest.mark.parametrize(
    ("base_url", "said", "told"),
    [
        ("https://api.fastcompute.dev/v1", "FastCompute says no", "the host says no"),
        ("https://fastcompute.dev:8443", "at fastcompute: no", "at the host: no"),
        ("https://llm.model.internal/v1", "this model says no", "this model says no"),
        ("https://go.ab.io", "ab says no", "ab says no"),
        ("http://127.0.0.1:8080/v1", "127 says no", "127 says no"),
        ("http://localhost:8080/v1", "the localhost", "the (address)"),
    ],
)
def test_the_domain_of_an_address_is_a_name_too(base_url: str, said: str, told: str) -> None:
    assert cleaned(said, make_target("m", vendor=make_vendor("acme", base_url=base_url))) == told


def test_no_vendor_of_the_shipped_catalog_is_named_by_any_other() -> None:
    for vendor in load_catalog().vendors.values():
        domain = vendor.base_url.partition("://")[2].partition("/")[0].split(".")[-2:][0]
        for name in {vendor.name.title(), domain} - {"Generic", "127", "0", "aws", "x", "z", "api", "together"}:
            told = cleaned(f"The service {name} says no", target())
            assert name.lower() not in told.lower(), name
            assert names_a_host(f"by {name}.", target())


def test_long_words_are_cut() -> None:
    told = cleaned("words " * 200, target())
    assert len(told) <= MAX_WORDS
    assert told.endswith("…")


@pytest.mark.parametrize(
    "piece", ["a", "a.", "a-", "*", " ", "sk-", "key-", "org-", "\u202e", "a@", "1.", "/a", "a/", "1a", ":"]
)
def test_no_pattern_sees_more_than_a_bounded_part(piece: str) -> None:
    hostile = piece * (1_000_000 // len(piece))
    assert len(excerpt(hostile)) <= MAX_READ
    assert cleaned(hostile, target()) == cleaned(hostile[: MAX_READ + 9].ljust(MAX_READ + 10, hostile[0]), target())


@given(st.text(max_size=30), st.integers(0, MAX_READ))
def test_no_key_is_cut_in_two(text: str, before: int) -> None:
    message = "word " * (before // 5) + "x" * (before % 5) + " sk-proj-abcDEF1234567890" + text * 30
    assert "proj" not in cleaned(message, target())


@pytest.mark.parametrize(
    "kind",
    [
        AccountFailure,
        BadReply,
        ContentRefused,
        ContextTooLong,
        Interrupted,
        ModelUnavailable,
        UpstreamRateLimited,
        UpstreamUnavailable,
    ],
)
def test_only_a_refused_request_is_told_in_the_hosts_words(kind: type[UpstreamFailure]) -> None:
    told = caller_message(kind, ErrorBody(message="seekrit"), target())
    assert told
    assert "seekrit" not in told


def test_a_refused_request_says_why() -> None:
    told = caller_message(UpstreamRejected, ErrorBody(message="n is too large"), target())
    assert told.endswith("It says: n is too large")
    assert "It says" not in caller_message(UpstreamRejected, ErrorBody(), target())


def test_the_two_failures_of_reading_have_words_of_their_own() -> None:
    assert bad_reply("x").detail == "x"
    assert "broke off" in interrupted().message
