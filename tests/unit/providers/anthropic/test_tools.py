"""Tools and their choice."""

from typing import Any

import orjson
import pytest

from core.catalog.model import Abilities, Format, Target
from core.errors import InvalidRequest
from core.providers.anthropic import AnthropicFormat
from core.providers.base import Outgoing, Prepared
from tests.support.requests import ask
from tests.support.targets import make_target, make_vendor

EMPTY = {"type": "object", "properties": {}}


def target(refuses: frozenset[str] = frozenset(), **abilities: Any) -> Target:
    return make_target(
        vendor=make_vendor(format=Format.ANTHROPIC, refuses=refuses), abilities=Abilities(tools=True, **abilities)
    )


def encoded(to: Target | None = None, **members: Any) -> Outgoing:
    return AnthropicFormat().encode(ask(**members), to or target(), Prepared())


def body(to: Target | None = None, **members: Any) -> dict[str, Any]:
    parsed: dict[str, Any] = orjson.loads(encoded(to, **members).body)
    return parsed


def function(name: str = "f", **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, **more}}


SHELL = {"type": "custom", "custom": {"name": "shell", "description": "Runs."}}


@pytest.mark.parametrize(
    ("tool", "sent"),
    [
        (function(), {"name": "f", "input_schema": EMPTY}),
        (function(parameters={}), {"name": "f", "input_schema": EMPTY}),
        (function(parameters={"$defs": {}}), {"name": "f", "input_schema": {"type": "object", "$defs": {}}}),
        (
            function(description="Does.", parameters={"type": "object", "minProperties": 1}),
            {"name": "f", "input_schema": {"type": "object", "minProperties": 1}, "description": "Does."},
        ),
        (function(description=""), {"name": "f", "input_schema": EMPTY}),
        (function(strict=True), {"name": "f", "input_schema": EMPTY, "strict": True}),
        (function(strict=False), {"name": "f", "input_schema": EMPTY}),
    ],
)
def test_a_function(tool: dict[str, Any], sent: dict[str, Any]) -> None:
    assert body(tools=[tool])["tools"] == [sent]


def test_strictness_is_left_out_where_it_is_refused() -> None:
    refusing = target(frozenset({"tools[].function.strict"}))
    assert "strict" not in body(refusing, tools=[function(strict=True)])["tools"][0]


def test_a_free_text_tool_is_a_function_of_one_text() -> None:
    sent = encoded(tools=[SHELL, function()])
    tool = orjson.loads(sent.body)["tools"][0]
    assert sent.custom_tools == {"shell"}
    assert (tool["name"], tool["description"]) == ("shell", "Runs.")
    assert list(tool["input_schema"]["properties"]) == ["input"]


ALLOWED = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [function("g")]}}


@pytest.mark.parametrize(
    ("choice", "sent", "names"),
    [
        (None, None, ["f", "g"]),
        ("auto", {"type": "auto"}, ["f", "g"]),
        ("none", {"type": "none"}, ["f", "g"]),
        ("required", {"type": "any"}, ["f", "g"]),
        (function("g"), {"type": "tool", "name": "g"}, ["f", "g"]),
        (ALLOWED, {"type": "any"}, ["g"]),
    ],
)
def test_a_choice(choice: Any, sent: Any, names: list[str]) -> None:
    said = body(tools=[function("f"), function("g")], tool_choice=choice)
    assert said.get("tool_choice") == sent
    assert [tool["name"] for tool in said["tools"]] == names


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        (None, {"type": "auto", "disable_parallel_tool_use": True}),
        ("auto", {"type": "auto", "disable_parallel_tool_use": True}),
        ("required", {"type": "any", "disable_parallel_tool_use": True}),
        (function(), {"type": "tool", "name": "f", "disable_parallel_tool_use": True}),
        ("none", {"type": "none"}),
    ],
)
def test_one_call_at_a_time(choice: Any, sent: dict[str, Any]) -> None:
    assert body(tools=[function()], tool_choice=choice, parallel_tool_calls=False)["tool_choice"] == sent


def test_many_calls_are_the_rule() -> None:
    assert "tool_choice" not in body(tools=[function()], parallel_tool_calls=True)


def test_the_deprecated_form_has_room_for_one_call() -> None:
    said = body(functions=[{"name": "f"}], function_call={"name": "f"})
    assert said["tool_choice"] == {"type": "tool", "name": "f", "disable_parallel_tool_use": True}


def test_a_vendor_that_cannot_limit_calls_is_not_asked_to() -> None:
    refusing = target(frozenset({"parallel_tool_calls"}))
    assert "tool_choice" not in body(refusing, functions=[{"name": "f"}])


def test_a_model_that_cannot_be_forced_refuses_that() -> None:
    with pytest.raises(InvalidRequest) as refused:
        body(target(forced_tools=False), tools=[function()], tool_choice="required")
    assert refused.value.param == "tool_choice"


def test_without_tools_there_is_nothing() -> None:
    assert not {"tools", "tool_choice"} & set(body())


def test_called_tools_that_are_offered_no_more_are_named_and_closed() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}]
    history = [
        {"role": "user", "content": "A"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
    ]
    said = body(messages=history)
    assert said["tools"] == [{"name": "f", "input_schema": EMPTY}]
    assert said["tool_choice"] == {"type": "none"}
