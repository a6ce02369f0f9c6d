"""The body, address and headers of a call."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from core.catalog.model import Abilities, Auth, Format, Quirk, StructuredOutput, Target, Vendor
from core.catalog.shipped import SHIPPED_FOLDER, read_shipped
from core.errors import AccountFailure, InvalidRequest
from core.providers.anthropic import AnthropicFormat
from core.providers.base import Credential, Outgoing, Prepared
from tests.support.requests import ask
from tests.support.targets import make_target, make_vendor

FORMAT = AnthropicFormat()
NOW = datetime(2026, 11, 30, tzinfo=UTC)
ABLE = Abilities(structured_output=StructuredOutput.VERIFIED)


def target(*quirks: Quirk, host: dict[str, Any] | None = None, **vendor: Any) -> Target:
    members = {"format": Format.ANTHROPIC, "quirks": frozenset(quirks), **vendor}
    return make_target("claude-x@1", vendor=make_vendor(**members), abilities=ABLE, **(host or {}))


def sent(to: Target | None = None, messages: Any = "Hi.", **members: Any) -> Outgoing:
    return FORMAT.encode(ask(messages, **members), to or target(), Prepared())


def body(to: Target | None = None, messages: Any = "Hi.", **members: Any) -> dict[str, Any]:
    parsed: dict[str, Any] = orjson.loads(sent(to, messages, **members).body)
    return parsed


HI = [{"role": "user", "content": [{"type": "text", "text": "Hi."}]}]


def test_the_smallest_request() -> None:
    assert body() == {"model": "claude-x@1", "max_tokens": 2_048, "messages": HI, "stream": True}


def test_address_and_headers() -> None:
    outgoing = sent(target(base_url="https://api.lab.test/v1/", headers={"anthropic-beta": "b"}))
    assert (outgoing.method, outgoing.url) == ("POST", "https://api.lab.test/v1/messages")
    assert outgoing.headers == {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "accept-encoding": "identity",
        "anthropic-version": "2026-10-21",
        "anthropic-beta": "b",
    }
    assert outgoing.choices == 1


def test_the_catalog_names_the_version() -> None:
    assert sent(target(host={"api_version": "2023-06-01"})).headers["anthropic-version"] == "2023-06-01"


def test_vertex_has_the_model_in_its_path_and_the_version_in_the_body() -> None:
    to = target(
        Quirk.VERTEX_PATH, base_url="https://cloud.test/v1/projects/p/locations/global/publishers/anthropic/models"
    )
    outgoing = sent(to)
    assert outgoing.url.endswith("/publishers/anthropic/models/claude-x@1:streamRawPredict")
    assert "anthropic-version" not in outgoing.headers
    assert orjson.loads(outgoing.body) == {
        "anthropic_version": "2026-10-21",
        "max_tokens": 2_048,
        "messages": HI,
        "stream": True,
    }


@pytest.mark.parametrize(
    ("auth", "header", "value"),
    [(Auth.X_API_KEY, "x-api-key", "k"), (Auth.BEARER, "authorization", "Bearer k"), (Auth.NONE, "x-api-key", None)],
)
def test_the_credential_goes_on_last(auth: Auth, header: str, value: str | None) -> None:
    signed = FORMAT.sign(sent(target(auth=auth)), Credential(key="k"), NOW)
    assert signed.headers.get(header) == value


def test_a_call_without_its_key_is_not_made() -> None:
    with pytest.raises(AccountFailure):
        FORMAT.sign(sent(target(auth=Auth.X_API_KEY)), Credential(), NOW)


def test_the_callers_limit_is_sent() -> None:
    assert body(max_tokens=7)["max_tokens"] == 7
    assert body(max_completion_tokens=8, max_tokens=7)["max_tokens"] == 8


def test_without_a_limit_what_the_window_leaves_is_sent() -> None:
    to = make_target(vendor=make_vendor(format=Format.ANTHROPIC), context_tokens=1_000, max_output_tokens=900)
    calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":"' + "x" * 392 + '"}'}}]
    history = [
        {"role": "user", "content": "é" * 600},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c", "content": ""},
    ]
    assert body(to, history)["max_tokens"] == 1_000 - 300 - 100
    assert body(to, "x" * 8_000)["max_tokens"] == 1


@pytest.mark.parametrize(
    ("asked", "members"),
    [
        ({"temperature": 0.3, "top_p": 0.5}, {"temperature": 0.3, "top_p": 0.5}),
        ({"temperature": 0}, {"temperature": 0}),
        ({"temperature": 1.7}, {"temperature": 1}),
        ({"stop": "END"}, {"stop_sequences": ["END"]}),
        ({"stop": ["\n", "END", " "]}, {"stop_sequences": ["END"]}),
        ({"stop": ["\n"]}, {}),
        ({"user": "u"}, {"metadata": {"user_id": "u"}}),
        ({"safety_identifier": "s", "user": "u"}, {"metadata": {"user_id": "s"}}),
        ({"service_tier": "default"}, {"service_tier": "standard_only"}),
        ({"service_tier": "auto"}, {"service_tier": "auto"}),
        ({"service_tier": "flex"}, {}),
        ({"seed": 1, "frequency_penalty": 1, "verbosity": "low", "metadata": {"a": "b"}, "odd": 1}, {}),
    ],
)
def test_other_members(asked: dict[str, Any], members: dict[str, Any]) -> None:
    plain = ("model", "messages", "max_tokens", "stream")
    assert {name: value for name, value in body(**asked).items() if name not in plain} == members


def test_what_a_model_refuses_is_not_sent() -> None:
    to = target(refuses=frozenset({"temperature", "top_p", "stop"}), host={})
    asked = {"temperature": 0.3, "top_p": 0.5, "user": "u", "service_tier": "auto"}
    assert set(body(to, **asked)) == {*body(), "metadata", "service_tier"}
    refusing = target(refuses=frozenset({"user", "safety_identifier", "service_tier"}))
    assert set(body(refusing, user="u", safety_identifier="s", service_tier="auto")) == set(body())


def test_a_field_that_cannot_be_left_out_is_refused() -> None:
    with pytest.raises(InvalidRequest) as refused:
        body(n=2)
    assert refused.value.param == "n"


SCHEMA = {"type": "object", "properties": {}, "additionalProperties": False}


def test_a_schema_is_the_output_format() -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}
    assert body(response_format=wanted)["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}}


@pytest.mark.parametrize("wanted", [{"type": "json_object"}, {"type": "json_schema", "json_schema": {"name": "n"}}])
def test_json_without_a_schema_is_asked_for_in_words(wanted: dict[str, Any]) -> None:
    said = body(messages=[{"role": "system", "content": "JSON."}, *HI], response_format=wanted)
    assert said["system"][0]["text"] == "JSON."
    assert "JSON object" in said["system"][1]["text"]
    assert "output_config" not in said


def test_text_needs_no_format() -> None:
    assert body(response_format={"type": "text"}) == body()


def test_options_of_the_host_are_merged_into_the_body() -> None:
    to = target(host={"options": {"speed": "fast", "output_config": {"effort": "low"}, "metadata": {"a": 1}}})
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}
    said = body(to, response_format=wanted)
    assert said["speed"] == "fast"
    assert said["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}, "effort": "low"}
    assert said["metadata"] == {"a": 1}


VENDORS = [vendor for vendor in read_shipped(SHIPPED_FOLDER)[0] if vendor.format is Format.ANTHROPIC]


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
def test_every_shipped_vendor_can_be_called(vendor: Vendor) -> None:
    to = make_target("claude-x", vendor=vendor)
    signed = FORMAT.sign(sent(to, prompt_cache_options={}), Credential(key="k"), NOW)
    assert signed.url == f"{vendor.base_url}/messages"
    assert "k" in (signed.headers.get("x-api-key"), signed.headers.get("authorization", "").removeprefix("Bearer "))
    assert ("cache_control" in orjson.loads(signed.body)) is not to.refuses("prompt_cache_options")
