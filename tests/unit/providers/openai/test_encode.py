"""The body, address and headers of a call."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from pydantic import TypeAdapter

from core.catalog.model import Abilities, Auth, Format, Quirk, StructuredOutput, Target
from core.chat import ChatRequest, CustomTool, FunctionTool
from core.errors import InvalidRequest
from core.providers.base import Credential, Outgoing, Prepared
from core.providers.openai import OpenAIFormat
from tests.support.requests import ask
from tests.support.targets import make_target, make_vendor

ABLE = Abilities(
    tools=True,
    parallel_tools=True,
    vision=True,
    documents=True,
    audio_input=True,
    audio_output=True,
    json_mode=True,
    structured_output=StructuredOutput.VERIFIED,
    choices=8,
)
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "title": None}}}
SHELL = {"type": "custom", "custom": {"name": "shell", "description": "Runs."}}


def target(*quirks: Quirk, host: dict[str, Any] | None = None, **vendor: Any) -> Target:
    return make_target(
        "up-model", vendor=make_vendor(quirks=frozenset(quirks), **vendor), abilities=ABLE, **(host or {})
    )


def sent(request: ChatRequest, to: Target | None = None) -> Outgoing:
    return OpenAIFormat().encode(request, to or target(), Prepared())


def body(request: ChatRequest, to: Target | None = None) -> dict[str, Any]:
    parsed: dict[str, Any] = orjson.loads(sent(request, to).body)
    return parsed


def test_the_smallest_request() -> None:
    assert body(ask("Hi.")) == {
        "model": "up-model",
        "messages": [{"role": "user", "content": "Hi."}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_address_and_headers() -> None:
    outgoing = sent(ask(), target(base_url="https://api.lab.test/v1/", headers={"x-title": "t"}))
    assert outgoing.url == "https://api.lab.test/v1/chat/completions"
    assert outgoing.method == "POST"
    assert outgoing.headers == {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "accept-encoding": "identity",
        "x-title": "t",
    }


def test_a_deployment_stands_in_the_path() -> None:
    to = target(Quirk.URLS_IN_PATH, base_url="https://r.lab.test/openai", host={"api_version": "2025-01-01-preview"})
    assert sent(ask(), to).url == (
        "https://r.lab.test/openai/deployments/up-model/chat/completions?api-version=2025-01-01-preview"
    )


def test_the_call_is_signed_by_the_vendors_style() -> None:
    outgoing = sent(ask(), target(auth=Auth.API_KEY))
    signed = OpenAIFormat().sign(outgoing, Credential(key="k"), datetime(2026, 11, 30, tzinfo=UTC))
    assert signed.headers["api-key"] == "k"


def test_plain_fields_go_as_they_were_written() -> None:
    written: dict[str, Any] = {
        "temperature": 0.25,
        "top_p": 1,
        "seed": 7,
        "user": "u",
        "metadata": {"a": "b"},
        "logit_bias": {"50256": -100},
        "prediction": {"type": "content", "content": "x"},
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"default": None}}},
        "verbosity": "low",
        "prompt_cache_key": "k",
        "service_tier": "flex",
        "web_search_options": {"search_context_size": "low"},
    }
    assert written.items() <= body(ask(**written)).items()


def test_fields_nobody_documents_go_to_hosts_of_this_format() -> None:
    extra: dict[str, Any] = {"top_k": 4, "chat_template_kwargs": {"a": 1}}
    assert extra.items() <= body(ask(**extra)).items()


def test_nulls_go_where_nobody_knows_what_they_mean() -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "n", "schema": None, "strict": None, "later": None}}
    able = make_target(vendor=make_vendor(), abilities=Abilities(structured_output=StructuredOutput.VERIFIED))
    sent_on = body(ask(top_k=None, seed=None, response_format=schema), able)
    assert sent_on["top_k"] is None
    assert "seed" not in sent_on
    assert sent_on["response_format"] == {"type": "json_schema", "json_schema": {"name": "n", "later": None}}


def test_a_choice_goes_with_tools_of_the_other_form() -> None:
    assert body(ask(functions=[{"name": "f"}], tool_choice="none"))["tool_choice"] == "none"
    assert body(ask(tools=[WEATHER], function_call="none"))["tool_choice"] == "none"


def test_fields_that_the_host_refuses_stay_behind() -> None:
    to = target(refuses=frozenset({"verbosity", "metadata"}))
    assert not {"verbosity", "metadata"} & set(body(ask(verbosity="low", metadata={"a": "b"}), to))


def test_nested_fields_that_the_host_refuses_stay_behind() -> None:
    to = target(refuses=frozenset({"tools[].function.strict", "response_format.json_schema.strict"}))
    schema = {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": {"strict": 1}}}
    tool = {"type": "function", "function": {"name": "f", "strict": True}}
    made = body(ask(tools=[tool], response_format=schema), to)
    assert made["tools"] == [{"type": "function", "function": {"name": "f"}}]
    assert made["response_format"]["json_schema"] == {"name": "n", "schema": {"strict": 1}}


def test_what_cannot_be_left_out_is_refused() -> None:
    to = make_target(abilities=Abilities())
    with pytest.raises(InvalidRequest) as caught:
        sent(ask(tools=[WEATHER]), to)
    assert (caught.value.code, caught.value.param) == ("unsupported_parameter", "tools")


def test_the_hosts_words_for_fields_and_values() -> None:
    to = target(renames={"seed": "random_seed"}, values={"service_tier": {"priority": "performance"}})
    made = body(ask(seed=7, service_tier="priority"), to)
    assert made["random_seed"] == 7
    assert "seed" not in made
    assert made["service_tier"] == "performance"
    assert body(ask(service_tier="flex"), to)["service_tier"] == "flex"


@pytest.mark.parametrize(
    ("to", "name"),
    [
        (target(), "max_tokens"),
        (target(renames={"max_tokens": "max_completion_tokens"}), "max_completion_tokens"),
        (target(renames={"max_tokens": "max_completion_tokens"}, host={"limit_field": "max_tokens"}), "max_tokens"),
        (target(host={"limit_field": "max_new"}), "max_new"),
    ],
)
def test_the_limit_has_one_name(to: Target, name: str) -> None:
    forms: list[dict[str, Any]] = [
        {"max_tokens": 5},
        {"max_completion_tokens": 5},
        {"max_completion_tokens": 5, "max_tokens": 9},
    ]
    for written in forms:
        made = body(ask(**written), to)
        assert {key: made[key] for key in made if key.startswith("max_")} == {name: 5}


def test_no_limit_is_made_up() -> None:
    assert not any(name.startswith("max_") for name in body(ask()))


@pytest.mark.parametrize(
    ("written", "to", "expected"),
    [
        ({"stop": "END"}, target(), {"stop": "END"}),
        ({"stop": ["A", "", "B"]}, target(), {"stop": ["A", "B"]}),
        ({"stop": []}, target(), {}),
        ({"n": 3}, target(), {"n": 3}),
        ({"n": 1}, target(), {}),
        ({"logprobs": False}, target(), {}),
        ({"logprobs": True}, target(), {"logprobs": True}),
        ({"logprobs": True, "top_logprobs": 3}, target(), {"logprobs": True, "top_logprobs": 3}),
        ({"logprobs": True, "top_logprobs": 3}, target(Quirk.INTEGER_LOGPROBS), {"logprobs": 3}),
        ({"logprobs": True}, target(Quirk.INTEGER_LOGPROBS), {"logprobs": 1}),
        ({"logprobs": True}, target(refuses=frozenset({"logprobs"})), {}),
        (
            {"logprobs": True, "top_logprobs": 3},
            target(refuses=frozenset({"top_logprobs"})),
            {"logprobs": True},
        ),
    ],
)
def test_fields_whose_meaning_counts(written: dict[str, Any], to: Target, expected: dict[str, Any]) -> None:
    made = body(ask(**written), to)
    assert {name: made[name] for name in ("stop", "n", "logprobs", "top_logprobs") if name in made} == expected


def test_usage_is_always_asked_for() -> None:
    made = body(ask(stream=True, stream_options={"include_usage": False, "include_obfuscation": False}))
    assert made["stream_options"] == {"include_usage": True, "include_obfuscation": False}
    to = target(refuses=frozenset({"stream_options.include_obfuscation"}))
    made = body(ask(stream=True, stream_options={"include_obfuscation": False}), to)
    assert made["stream_options"] == {"include_usage": True}
    assert "stream_options" not in body(ask(stream=True), target(Quirk.NO_STREAM_OPTIONS))


def test_the_operators_options_are_merged_in() -> None:
    to = target(host={"options": {"safe_prompt": True, "provider": {"order": ["a"]}}})
    made = body(ask(provider={"zdr": True, "order": ["b"]}), to)
    assert made["safe_prompt"] is True
    assert made["provider"] == {"zdr": True, "order": ["a"]}


def test_functions_go_as_they_were_written() -> None:
    made = body(ask(tools=[{**WEATHER, "extra": 1}], tool_choice="required", parallel_tool_calls=False))
    assert made["tools"] == [{**WEATHER, "extra": 1}]
    assert made["tool_choice"] == "required"
    assert made["parallel_tool_calls"] is False


def test_nulls_in_tools_say_nothing_save_in_schemas() -> None:
    tool = {"type": "function", "function": {**WEATHER["function"], "strict": None}}  # type: ignore[dict-item]  # JSON is untyped
    assert body(ask(tools=[tool]))["tools"] == [WEATHER]


def test_without_tools_nothing_is_said_about_them() -> None:
    made = body(ask(tools=[], tool_choice="none", parallel_tool_calls=True))
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & set(made)


def test_deprecated_functions_become_tools() -> None:
    functions = [{"name": "weather", "parameters": {"type": "object"}}, {"name": "clock"}]
    made = body(ask(functions=functions, function_call={"name": "clock"}))
    assert not {"functions", "function_call"} & set(made)
    assert made["tools"] == [{"type": "function", "function": function} for function in functions]
    assert made["tool_choice"] == {"type": "function", "function": {"name": "clock"}}
    assert made["parallel_tool_calls"] is False
    to = target(refuses=frozenset({"parallel_tool_calls"}))
    assert "parallel_tool_calls" not in body(ask(functions=functions), to)


@pytest.mark.parametrize(
    ("choice", "native", "clone"),
    [
        ("auto", "auto", "auto"),
        ("none", "none", "none"),
        (
            {"type": "function", "function": {"name": "weather"}},
            {"type": "function", "function": {"name": "weather"}},
            {"type": "function", "function": {"name": "weather"}},
        ),
        (
            {"type": "custom", "custom": {"name": "shell"}},
            {"type": "custom", "custom": {"name": "shell"}},
            {"type": "function", "function": {"name": "shell"}},
        ),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [SHELL]}},
            {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "required", "tools": [{"type": "custom", "custom": {"name": "shell"}}]},
            },
            "required",
        ),
    ],
)
def test_every_tool_choice(choice: Any, native: Any, clone: Any) -> None:
    request = ask(tools=[WEATHER, SHELL], tool_choice=choice)
    assert body(request, target(Quirk.CUSTOM_TOOLS))["tool_choice"] == native
    assert body(request)["tool_choice"] == clone


def test_allowed_tools_are_the_only_ones_for_a_clone() -> None:
    allowed = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [WEATHER]}}
    request = ask(tools=[WEATHER, SHELL], tool_choice=allowed)
    assert body(request)["tools"] == [WEATHER]
    assert sent(request).custom_tools == frozenset()
    assert body(request, target(Quirk.CUSTOM_TOOLS))["tools"] == [WEATHER, SHELL]


def test_custom_tools_are_functions_for_a_clone() -> None:
    request = ask(tools=[WEATHER, SHELL])
    assert sent(request).custom_tools == {"shell"}
    assert body(request)["tools"][1]["function"]["parameters"]["required"] == ["input"]
    native = target(Quirk.CUSTOM_TOOLS)
    assert sent(request, native).custom_tools == frozenset()
    assert body(request, native)["tools"] == [WEATHER, SHELL]


def test_tools_of_our_own_need_no_json() -> None:
    ours = (FunctionTool("clock"), CustomTool("shell", format={"type": "text"}))
    request = replace(ask(tools=[WEATHER]), tools=ours)
    assert body(request, target(Quirk.CUSTOM_TOOLS))["tools"] == [
        {"type": "function", "function": {"name": "clock"}},
        {"type": "custom", "custom": {"name": "shell", "format": {"type": "text"}}},
    ]


def test_the_call_knows_how_many_answers_were_asked_for() -> None:
    assert sent(ask(n=2)).choices == 2


def test_bodies_have_no_field_that_the_sdk_does_not_know() -> None:
    native = target(
        Quirk.CUSTOM_TOOLS,
        Quirk.DEVELOPER_ROLE,
        Quirk.REFUSALS,
        format=Format.OPENAI,
        renames={"max_tokens": "max_completion_tokens"},
    )
    request = ask(
        [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
            {
                "role": "assistant",
                "content": None,
                "annotations": [],
                "refusal": None,
                "reasoning_content": "h",
                "tool_calls": [
                    {"id": "call_1", "index": 0, "type": "function", "function": {"name": "weather", "arguments": ""}}
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "Rain."},
        ],
        tools=[WEATHER, SHELL],
        max_tokens=5,
        temperature=1,
        stop="x",
    )
    made = body(request, native)
    types = TypeAdapter(CompletionCreateParamsStreaming)
    assert set(made) <= set(types.json_schema()["properties"])
    types.validate_python(made)
