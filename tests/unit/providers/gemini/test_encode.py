"""The body, address and headers of a call."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from core.catalog.model import Abilities, Auth, Format, StructuredOutput, Target, ThinkingSwitch
from core.chat import ChatRequest
from core.errors import AccountFailure, InvalidRequest
from core.providers.base import Credential, Outgoing, Prepared, RemoteMedia
from core.providers.gemini import GeminiFormat
from tests.support.requests import ask
from tests.support.targets import make_target, make_vendor

ABLE = Abilities(
    tools=True,
    vision=True,
    json_mode=True,
    structured_output=StructuredOutput.VERIFIED,
    choices=8,
)
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"properties": {"city": {}}}}}
CLOCK = {"type": "function", "function": {"name": "clock", "description": ""}}
SHELL = {"type": "custom", "custom": {"name": "shell", "description": "Runs."}}
BASE = "https://generativelanguage.googleapis.com/v1beta"


def target(host: dict[str, Any] | None = None, **vendor: Any) -> Target:
    to = make_vendor(**{"format": Format.GEMINI, "base_url": BASE, **vendor})
    return make_target("gemini-x", vendor=to, abilities=ABLE, **(host or {}))


def sent(request: ChatRequest, to: Target | None = None) -> Outgoing:
    return GeminiFormat().encode(request, to or target(), Prepared())


def body(request: ChatRequest, to: Target | None = None) -> dict[str, Any]:
    parsed: dict[str, Any] = orjson.loads(sent(request, to).body)
    return parsed


def config(**members: Any) -> dict[str, Any]:
    got: dict[str, Any] = body(ask(**members)).get("generationConfig", {})
    return got


def test_the_smallest_request() -> None:
    assert body(ask("Hi.")) == {"contents": [{"role": "user", "parts": [{"text": "Hi."}]}]}


@pytest.mark.parametrize(
    ("base", "version", "url"),
    [
        (BASE, None, f"{BASE}/models/gemini-x:streamGenerateContent?alt=sse"),
        (f"{BASE}/", "v1", f"{BASE[:-4]}/models/gemini-x:streamGenerateContent?alt=sse"),
        ("http://127.0.0.1:9", "v1alpha", "http://127.0.0.1:9/v1alpha/models/gemini-x:streamGenerateContent?alt=sse"),
        ("http://v1:9/x", None, "http://v1:9/x/models/gemini-x:streamGenerateContent?alt=sse"),
        (
            "https://eu-aiplatform.googleapis.com/v1/projects/v2/locations/eu/publishers/google",
            "v1beta1",
            "https://eu-aiplatform.googleapis.com/v1beta1/projects/v2/locations/eu/publishers/google"
            "/models/gemini-x:streamGenerateContent?alt=sse",
        ),
    ],
)
def test_the_address_has_the_hosts_version(base: str, version: str | None, url: str) -> None:
    outgoing = sent(ask(), target({"api_version": version}, base_url=base))
    assert outgoing.url == url
    assert outgoing.method == "POST"


def test_a_model_that_is_no_plain_name_is_quoted() -> None:
    to = make_target("tunedModels/a b?c", vendor=make_vendor(format=Format.GEMINI, base_url=BASE))
    assert sent(ask(), to).url == f"{BASE}/models/tunedModels%2Fa%20b%3Fc:streamGenerateContent?alt=sse"


def test_headers() -> None:
    assert sent(ask(), target(headers={"x-goog-user-project": "p"})).headers == {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "accept-encoding": "identity",
        "x-goog-user-project": "p",
    }


@pytest.mark.parametrize(
    ("auth", "header", "value"),
    [(Auth.GOOGLE, "x-goog-api-key", "k"), (Auth.BEARER, "authorization", "Bearer k")],
)
def test_the_call_is_signed_by_the_vendors_style(auth: Auth, header: str, value: str) -> None:
    outgoing = sent(ask(), target(auth=auth))
    now = datetime(2026, 11, 30, tzinfo=UTC)
    signed = GeminiFormat().sign(outgoing, Credential(key="k"), now)
    assert signed.headers[header] == value
    with pytest.raises(AccountFailure):
        GeminiFormat().sign(outgoing, Credential(), now)


def test_every_setting_has_its_name() -> None:
    assert config(
        max_tokens=9,
        stop=["a", "b"],
        n=2,
        temperature=1.5,
        top_p=0.5,
        presence_penalty=1,
        frequency_penalty=-1,
        seed=-(2**31),
        logprobs=True,
        top_logprobs=3,
    ) == {
        "maxOutputTokens": 9,
        "stopSequences": ["a", "b"],
        "candidateCount": 2,
        "temperature": 1.5,
        "topP": 0.5,
        "presencePenalty": 1,
        "frequencyPenalty": -1,
        "seed": -(2**31),
        "responseLogprobs": True,
        "logprobs": 3,
    }


@pytest.mark.parametrize(
    ("members", "sent_as"),
    [
        ({"max_completion_tokens": 5, "max_tokens": 6}, {"maxOutputTokens": 5}),
        ({"stop": "a"}, {"stopSequences": ["a"]}),
        ({"stop": []}, {}),
        ({"n": 1}, {}),
        ({"logprobs": False}, {}),
        ({"logprobs": True, "top_logprobs": 0}, {"responseLogprobs": True}),
        ({"seed": 2**31}, {}),
        ({"temperature": 0}, {"temperature": 0}),
        ({"response_format": {"type": "text"}}, {}),
        ({"logit_bias": {"1": 1}, "user": "u", "store": True, "metadata": {"a": "b"}, "verbosity": "low"}, {}),
    ],
)
def test_what_says_nothing_or_has_no_form_is_not_sent(members: dict[str, Any], sent_as: dict[str, Any]) -> None:
    assert config(**members) == sent_as


def test_what_the_model_refuses_is_not_sent() -> None:
    to = target({"refuses": frozenset({"temperature", "logprobs", "top_logprobs", "seed", "service_tier"})})
    request = ask(temperature=1, logprobs=True, top_logprobs=2, seed=1, service_tier="flex")
    assert body(request, to) == body(ask())


def test_what_cannot_be_left_out_is_refused() -> None:
    with pytest.raises(InvalidRequest) as caught:
        sent(ask(n=9))
    assert (caught.value.param, caught.value.code) == ("n", "unsupported_parameter")


@pytest.mark.parametrize(
    ("tier", "sent_as"),
    [("auto", None), ("default", "standard"), ("flex", "flex"), ("priority", "priority"), ("fast", "priority")],
)
def test_service_tiers(tier: str, sent_as: str | None) -> None:
    assert body(ask(service_tier=tier)).get("serviceTier") == sent_as


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("wanted", "sent_as"),
    [
        ({"type": "json_object"}, {"responseMimeType": "application/json"}),
        ({"type": "json_schema", "json_schema": {"name": "n"}}, {"responseMimeType": "application/json"}),
        (
            {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": {"$id": "x", **SCHEMA}}},
            {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA},
        ),
    ],
)
def test_structured_output(wanted: dict[str, Any], sent_as: dict[str, Any]) -> None:
    messages = [{"role": "user", "content": "In JSON."}]
    assert body(ask(messages, response_format=wanted))["generationConfig"] == sent_as


DECLARED = {"name": "weather", "parametersJsonSchema": {"type": "object", "properties": {"city": {}}}}
REFERENCE = {"type": "function", "function": {"name": "clock"}}


def test_tools_are_one_list_of_declarations() -> None:
    outgoing = sent(ask(tools=[WEATHER, CLOCK, SHELL]))
    (tool,) = orjson.loads(outgoing.body)["tools"]
    assert tool.keys() == {"functionDeclarations"}
    weather, clock, shell = tool["functionDeclarations"]
    assert (weather, clock) == (DECLARED, {"name": "clock"})
    assert (shell["name"], shell["description"]) == ("shell", "Runs.")
    assert shell["parametersJsonSchema"]["required"] == ["input"]
    assert outgoing.custom_tools == {"shell"}


@pytest.mark.parametrize(
    ("choice", "calling"),
    [
        ("auto", {"mode": "AUTO"}),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        (REFERENCE, {"mode": "ANY", "allowedFunctionNames": ["clock"]}),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [REFERENCE]}},
            {"mode": "ANY", "allowedFunctionNames": ["clock"]},
        ),
    ],
)
def test_a_choice_is_a_mode(choice: Any, calling: dict[str, Any]) -> None:
    got = body(ask(tools=[WEATHER, CLOCK], tool_choice=choice))
    assert got["toolConfig"] == {"functionCallingConfig": calling}
    assert len(got["tools"][0]["functionDeclarations"]) == 2


def test_tools_that_are_merely_allowed_are_the_only_ones_offered() -> None:
    choice = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [REFERENCE]}}
    got = body(ask(tools=[WEATHER, CLOCK], tool_choice=choice))
    assert got["toolConfig"] == {"functionCallingConfig": {"mode": "AUTO"}}
    assert got["tools"] == [{"functionDeclarations": [{"name": "clock"}]}]


def test_deprecated_functions_are_tools() -> None:
    got = body(ask(functions=[{"name": "clock"}], function_call={"name": "clock"}))
    assert got["tools"] == [{"functionDeclarations": [{"name": "clock"}]}]
    assert got["toolConfig"]["functionCallingConfig"]["mode"] == "ANY"


@pytest.mark.parametrize("members", [{"tools": []}, {"tool_choice": "none"}])
def test_a_choice_without_tools_is_not_sent(members: dict[str, Any]) -> None:
    assert body(ask(**members)) == body(ask())


def test_a_hosts_own_members_are_merged_in() -> None:
    options = {"safetySettings": [], "generationConfig": {"mediaResolution": "MEDIA_RESOLUTION_LOW", "topP": 1}}
    got = body(ask(top_p=0.5, temperature=1), target({"options": options}))
    assert got["safetySettings"] == []
    assert got["generationConfig"] == {"temperature": 1, "topP": 1, "mediaResolution": "MEDIA_RESOLUTION_LOW"}


def test_thinking_is_part_of_the_config() -> None:
    able = Abilities(thinking=ABLE.thinking.OPTIONAL)
    to = make_target(vendor=make_vendor(format=Format.GEMINI), abilities=able, thinking_switch=ThinkingSwitch.BUDGET)
    thinking = {"includeThoughts": True, "thinkingBudget": 1024}
    assert body(ask(reasoning_effort="low"), to)["generationConfig"] == {"thinkingConfig": thinking}


def test_media_must_be_fetched() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://a.b/c.png"}}
    needs = GeminiFormat().needs(ask([{"role": "user", "content": [image]}]), target())
    assert needs == (RemoteMedia("https://a.b/c.png", "messages[0].content[0].image_url.url"),)
