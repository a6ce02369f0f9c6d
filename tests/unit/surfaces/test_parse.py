"""Top-level fields: what each may hold, what they mean together, and what is sent on."""

from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from core.chat import ChatRequest, Json, ResponseFormat
from core.errors import InvalidRequest
from core.surfaces.openai_chat import ParsedChat, parse_chat
from core.surfaces.surface import PLAIN, ROUTING, Surface

MINIMAL: dict[str, Json] = {"model": "lab/small", "messages": [{"role": "user", "content": "Hello"}]}


def parsed(members: Mapping[str, Json], surface: Surface = ROUTING) -> ParsedChat:
    return parse_chat(orjson.dumps({**MINIMAL, **members}), surface)


def chat(**members: Json) -> ChatRequest:
    return parsed(members).request


def refused(**members: Json) -> InvalidRequest:
    return refusal_of(members)


def refusal_of(members: Mapping[str, Json], surface: Surface = ROUTING) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as raised:
        parsed(members, surface)
    return raised.value


def test_a_minimal_request() -> None:
    request = chat()
    assert request.model == "lab/small"
    assert request.written == MINIMAL
    assert (request.n, request.stream, request.include_usage, request.modalities) == (1, False, False, ("text",))
    assert request.max_tokens is None
    assert not request.legacy_functions


@pytest.mark.parametrize("name", ["model", "messages"])
@pytest.mark.parametrize("value", [..., None])
def test_required_fields(name: str, value: Json) -> None:
    body = {**MINIMAL, name: value}
    if value is ...:
        del body[name]
    with pytest.raises(InvalidRequest) as raised:
        parse_chat(orjson.dumps(body), ROUTING)
    assert (raised.value.status, raised.value.code) == (400, "missing_required_parameter")
    assert raised.value.param == name


# Each with values of the wrong type or out of range, and where it is said.
WRONG: dict[str, list[Any]] = {
    "audio": [
        1,
        ({}, "audio.format"),
        ({"format": "wav"}, "audio.voice"),
        ({"format": "ogg", "voice": "ash"}, "audio.format"),
        ({"format": "wav", "voice": 1}, "audio.voice"),
        ({"format": "wav", "voice": {}}, "audio.voice.id"),
    ],
    "extended_thinking": ["yes", 1],
    "frequency_penalty": [-2.1, 2.1, "1", True],
    "function_call": ["required", 1, ({}, "function_call.name"), ({"name": 1}, "function_call.name")],
    "functions": [{}, ([1], "functions[0]"), ([{}], "functions[0].name"), ([{"name": "a b"}], "functions[0].name")],
    "logit_bias": [[], ({"5": 1.5}, "logit_bias.5"), ({"5": 101}, "logit_bias.5"), ({"5": None}, "logit_bias.5")],
    "logprobs": [1, "true"],
    "max_completion_tokens": [0, -1, 1.5, "9", True, 2**63],
    "max_tokens": [0, 100.0],
    "metadata": [
        [],
        {str(index): "" for index in range(17)},
        ({"a": 1}, "metadata.a"),
        ({"a": "x" * 513}, "metadata.a"),
        ({"k" * 65: ""}, f"metadata.{'k' * 60}..."),
    ],
    "modalities": ["text", (["video"], "modalities[0]"), ([None], "modalities[0]")],
    "model": [1, "", "m" * 257],
    "moderation": [
        (1, "moderation"),
        ({}, "moderation.model"),
        ({"model": "m", "policy": {"input": {}}}, "moderation.policy.input.mode"),
        ({"model": "m", "policy": {"output": {"mode": "stop"}}}, "moderation.policy.output.mode"),
    ],
    "n": [0, 129, 1.0, True],
    "parallel_tool_calls": [0],
    "prediction": [
        "x",
        ({"type": "content"}, "prediction.content"),
        ({"type": "text", "content": "x"}, "prediction.type"),
        ({"type": "content", "content": [{"type": "image_url"}]}, "prediction.content[0].type"),
    ],
    "presence_penalty": [-3, [1]],
    "prompt_cache_key": [1],
    "prompt_cache_options": [
        1,
        ({"mode": "auto"}, "prompt_cache_options.mode"),
        ({"ttl": "1h"}, "prompt_cache_options.ttl"),
    ],
    "prompt_cache_retention": ["48h"],
    "reasoning_effort": ["extreme", 1],
    "response_format": [
        "json",
        ({}, "response_format.type"),
        ({"type": None}, "response_format.type"),
        ({"type": 1}, "response_format.type"),
        ({"type": "xml"}, "response_format.type"),
        ({"type": "json_schema"}, "response_format.json_schema"),
        ({"type": "json_schema", "json_schema": {}}, "response_format.json_schema.name"),
        ({"type": "json_schema", "json_schema": {"name": "a.b"}}, "response_format.json_schema.name"),
        ({"type": "json_schema", "json_schema": {"name": "a", "schema": 1}}, "response_format.json_schema.schema"),
        ({"type": "json_schema", "json_schema": {"name": "a", "strict": 1}}, "response_format.json_schema.strict"),
    ],
    "safety_identifier": ["s" * 129],
    "seed": [1.5, "1", 2**63, -1e20],
    "service_tier": ["gold"],
    "stop": [1, {}, ["a"] * 5, (["a", 1], "stop[1]")],
    "store": ["no"],
    "stream": ["yes", 1],
    "stream_options": [[], ({"include_usage": 1}, "stream_options.include_usage")],
    "temperature": [-0.1, 2.01, "1", True, []],
    "tool_choice": ["any", 1, ({}, "tool_choice.type"), ({"type": "tool"}, "tool_choice.type")],
    "tools": [{}, ([1], "tools[0]"), ([{}], "tools[0].type"), ([{"type": "web"}], "tools[0].type")],
    "top_logprobs": [21, -1, 1.5],
    "top_p": [1.01, -0.1, "x"],
    "user": [1, ["u"]],
    "verbosity": ["loud"],
    "web_search_options": [
        1,
        ({"search_context_size": "huge"}, "web_search_options.search_context_size"),
        ({"user_location": {"type": "approximate"}}, "web_search_options.user_location.approximate"),
        ({"user_location": {"type": "exact", "approximate": {}}}, "web_search_options.user_location.type"),
        (
            {"user_location": {"type": "approximate", "approximate": {"city": 1}}},
            "web_search_options.user_location.approximate.city",
        ),
    ],
}
CASES = [
    (name, *(case if isinstance(case, tuple) else (case, name))) for name, cases in WRONG.items() for case in cases
]


@pytest.mark.parametrize(("name", "value", "param"), CASES, ids=lambda value: str(value)[:40])
@pytest.mark.parametrize("surface", [ROUTING, PLAIN], ids=lambda surface: surface.name)
def test_wrong_values_are_refused_by_their_path(name: str, value: Json, param: str, surface: Surface) -> None:
    error = refusal_of({name: value}, surface)
    assert error.status == 400
    assert error.code in ("invalid_value", "missing_required_parameter")
    assert error.param == param
    assert param in error.message


@pytest.mark.parametrize("name", sorted(set(WRONG) - {"model"}))
def test_null_is_the_same_as_leaving_it_out(name: str) -> None:
    assert chat(**{name: None}) == chat()


@pytest.mark.parametrize(
    "members",
    [
        {"temperature": 0},
        {"temperature": 2.0},
        {"top_p": 1},
        {"n": 128},
        {"seed": -(2**63)},
        {"stop": ["a", "b", "c", "d"]},
        {"logprobs": True, "top_logprobs": 0},
        {"metadata": {str(index): "x" * 512 for index in range(16)}},
        {"safety_identifier": "s" * 128},
        {"logit_bias": {"50256": -100}},
        {"audio": {"format": "aac", "voice": {"id": "v"}}, "modalities": ["text", "audio"]},
        {"web_search_options": {"user_location": {"type": "approximate", "approximate": {}}}},
        {"prediction": {"type": "content", "content": [{"type": "text", "text": "x"}]}},
    ],
    ids=str,
)
def test_values_at_the_edges_are_taken_and_sent_as_written(members: dict[str, Json]) -> None:
    assert chat(**members).written == {**MINIMAL, **members}


def test_canonical_members() -> None:
    request = chat(
        temperature=1,
        top_p=0.5,
        frequency_penalty=1,
        presence_penalty=-1,
        seed=4,
        stop="END",
        n=2,
        logprobs=True,
        top_logprobs=3,
        reasoning_effort="low",
        extended_thinking=False,
        service_tier="flex",
        user="u",
        safety_identifier="s",
        stream=True,
        stream_options={"include_usage": True},
    )
    assert (request.temperature, request.top_p) == (1, 0.5)
    assert (request.frequency_penalty, request.presence_penalty) == (1, -1)
    assert (request.seed, request.stop, request.n) == (4, ("END",), 2)
    assert (request.logprobs, request.top_logprobs) == (True, 3)
    assert (request.reasoning_effort, request.extended_thinking) == ("low", False)
    assert (request.service_tier, request.user, request.safety_identifier) == ("flex", "u", "s")
    assert (request.stream, request.include_usage) == (True, True)
    assert "extended_thinking" not in request.written


def test_response_formats() -> None:
    schema = {"type": "object", "properties": {"anything": {"goes": None}}}
    written: Json = {
        "type": "json_schema",
        "json_schema": {"name": "out", "description": "d", "schema": schema, "strict": None},
    }
    request = chat(response_format=written)
    assert request.response_format == ResponseFormat("json_schema", "out", "d", schema)
    del written["json_schema"]["strict"]
    assert request.written["response_format"] == written
    bare = {"name": "out", "description": None, "schema": None, "strict": None}
    sent = chat(response_format={"type": "json_schema", "json_schema": bare}).written["response_format"]
    assert sent == {"type": "json_schema", "json_schema": {"name": "out"}}
    assert chat(response_format={"type": "text"}).response_format == ResponseFormat("text")


def test_one_limit_counts_and_the_newer_name_wins() -> None:
    assert chat(max_tokens=5).max_tokens == 5
    both = chat(max_tokens=5, max_completion_tokens=7)
    assert both.max_tokens == 7
    assert both.written == {**MINIMAL, "max_completion_tokens": 7}
    assert chat(max_tokens=5, max_completion_tokens=None).max_tokens == 5


@pytest.mark.parametrize("name", ["stop", "tools", "functions", "modalities"])
def test_empty_arrays_are_as_good_as_none(name: str) -> None:
    assert chat(**{name: []}) == chat()


def test_empty_stop_sequences_are_left_out() -> None:
    request = chat(stop=["", "END", ""])
    assert request.stop == ("END",)
    assert request.written["stop"] == ["END"]
    assert chat(stop="") == chat()
    assert chat(stop=["", ""]) == chat()


@pytest.mark.parametrize(
    ("members", "code", "param"),
    [
        ({"stream_options": {}}, "invalid_value", "stream_options"),
        ({"stream": False, "stream_options": {"include_usage": True}}, "invalid_value", "stream_options"),
        ({"top_logprobs": 2}, "invalid_value", "top_logprobs"),
        ({"logprobs": False, "top_logprobs": 0}, "invalid_value", "top_logprobs"),
        ({"modalities": ["audio"]}, "missing_required_parameter", "audio"),
        ({"response_format": {"type": "json_object"}}, "invalid_value", "messages"),
    ],
    ids=str,
)
def test_fields_that_do_not_go_together(members: dict[str, Json], code: str, param: str) -> None:
    error = refused(**members)
    assert (error.status, error.code, error.param) == (400, code, param)


@pytest.mark.parametrize("content", ["Answer in JSON.", "json?", [{"type": "text", "text": "a Json please"}]], ids=str)
def test_json_mode_wants_the_word_in_a_message(content: Json) -> None:
    messages = [{"role": "system", "content": "x"}, {"role": "user", "content": content}]
    assert chat(messages=messages, response_format={"type": "json_object"}).response_format


@pytest.mark.parametrize(
    ("name", "hint"), [("temprature", "temperature"), ("max_token", "max_tokens"), ("qqqqq", None), ("n" * 900, None)]
)
def test_an_unknown_field_is_refused_with_a_near_match(name: str, hint: str | None) -> None:
    error = refused(**{name: 1})
    assert (error.status, error.code) == (422, "unknown_field")
    assert error.param is not None
    assert error.param[:60] == name[:60]
    assert len(error.message) < 200
    assert (f"Did you mean '{hint}'?" in error.message) == (hint is not None)


def test_on_the_plain_surface_unknown_fields_are_sent_on_and_known_as_such() -> None:
    request = parsed({"top_k": 5, "nothing": None, "n" * 90: 1}, PLAIN).request
    assert request.unknown == ("top_k", "nothing", "n" * 90)
    assert request.written == {**MINIMAL, "top_k": 5, "nothing": None, "n" * 90: 1}
    assert refused(nothing=None).code == "unknown_field"


def test_null_is_absence_for_known_fields_at_every_depth_and_is_kept_for_unknown_ones() -> None:
    members = {
        "seed": None,
        "stream": True,
        "stream_options": {"include_usage": True, "include_obfuscation": None, "later": None},
        "web_search_options": {"search_context_size": None, "user_location": None},
        "prompt_cache_options": {"mode": "explicit", "ttl": None},
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"default": None}}},
        "messages": [{"role": "user", "content": [{"type": "text", "text": "a", "prompt_cache_breakpoint": None}]}],
    }
    request = parsed(members, PLAIN).request
    assert request.written == {
        **MINIMAL,
        "stream": True,
        "stream_options": {"include_usage": True, "later": None},
        "web_search_options": {},
        "prompt_cache_options": {"mode": "explicit"},
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"default": None}}},
        "messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}],
    }
    assert request.unknown == ("stream_options.later",)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("max_tokens", 0, "must be at least 1, not 0."),
        ("max_completion_tokens", -1, "must be at least 1, not -1."),
        ("max_tokens", 2**63, f"must be from 1 to {2**63 - 1}, not {2**63}."),
        ("n", 0, "must be from 1 to"),
    ],
)
def test_a_bound_that_only_keeps_numbers_readable_is_told_to_those_who_pass_it(
    field: str, value: int, said: str
) -> None:
    assert refused(**{field: value}).message.startswith(f"'{field}' {said}")
