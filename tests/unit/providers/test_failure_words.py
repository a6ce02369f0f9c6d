import pytest

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
from core.providers.failure_words import MAX_WORDS, bad_reply, caller_message, cleaned, interrupted
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


def test_long_words_are_cut() -> None:
    told = cleaned("words " * 200, target())
    assert len(told) <= MAX_WORDS
    assert told.endswith("…")


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
