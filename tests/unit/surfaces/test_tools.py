"""Tools and the ways to choose among them, the deprecated ones too."""

from typing import Literal

import orjson
import pytest

from core.chat import ChatRequest, CustomTool, FunctionTool, Json, ToolChoice
from core.errors import InvalidRequest
from core.surfaces.openai_chat import parse_chat
from core.surfaces.surface import ROUTING

LOOK: Json = {"type": "function", "function": {"name": "look"}}
RUN: Json = {"type": "custom", "custom": {"name": "run"}}


def chat(**members: Json) -> ChatRequest:
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], **members}
    return parse_chat(orjson.dumps(body), ROUTING).request


def refused(**members: Json) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as raised:
        chat(**members)
    return raised.value


def allowed(mode: str, *tools: Json) -> Json:
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": list(tools)}}


def test_tools_of_both_types() -> None:
    parameters = {"type": "object", "properties": {"unknown": {"$anything": None}}}
    grammar = {"type": "grammar", "grammar": {"definition": "a+", "syntax": "lark"}}
    tools: list[Json] = [
        {
            "type": "function",
            "function": {"name": "a-1_B", "description": "d", "parameters": parameters, "strict": True},
        },
        {"type": "function", "function": {"name": "b", "strict": None, "parameters": None}},
        {"type": "custom", "custom": {"name": "c", "description": "d", "format": grammar}},
        {"type": "custom", "custom": {"name": "d", "format": {"type": "text"}}},
    ]
    request = chat(tools=tools)
    assert request.tools == (
        FunctionTool("a-1_B", "d", parameters, True),
        FunctionTool("b"),
        CustomTool("c", "d", grammar),
        CustomTool("d", None, {"type": "text"}),
    )
    tools[1]["function"] = {"name": "b"}
    assert request.written["tools"] == tools
    assert request.tool_choice is None


@pytest.mark.parametrize(
    ("written", "choice"),
    [
        ("none", ToolChoice("none")),
        ("auto", ToolChoice("auto")),
        ("required", ToolChoice("required")),
        (LOOK, ToolChoice("required", ("look",), forced=True)),
        (RUN, ToolChoice("required", ("run",), forced=True)),
        (allowed("auto", LOOK, RUN), ToolChoice("auto", ("look", "run"))),
        (allowed("required", {"type": "function", "name": "look"}), ToolChoice("required", ("look",))),
        (allowed("auto", {"type": "custom", "name": "run", "extra": 1}), ToolChoice("auto", ("run",))),
        (allowed("auto", {"function": {"name": "look", "extra": 1}}), ToolChoice("auto", ("look",))),
    ],
    ids=str,
)
def test_every_way_to_choose(written: Json, choice: ToolChoice) -> None:
    request = chat(tools=[LOOK, RUN], tool_choice=written)
    assert request.tool_choice == choice
    assert request.written["tool_choice"] == written


@pytest.mark.parametrize(
    ("choice", "param"),
    [
        ({"type": "function", "function": {"name": "gone"}}, "tool_choice.function.name"),
        ({"type": "function", "function": {"name": "run"}}, "tool_choice.function.name"),
        ({"type": "custom", "custom": {"name": "look"}}, "tool_choice.custom.name"),
        ({"type": "function"}, "tool_choice.function"),
        ({"type": "function", "function": {}}, "tool_choice.function.name"),
        (allowed("auto"), "tool_choice.allowed_tools.tools"),
        (allowed("none", LOOK), "tool_choice.allowed_tools.mode"),
        (allowed("auto", LOOK, {"type": "function", "name": "gone"}), "tool_choice.allowed_tools.tools[1].name"),
        (allowed("auto", {"function": {"name": "gone"}}), "tool_choice.allowed_tools.tools[0].function.name"),
        (allowed("auto", {"type": "function"}), "tool_choice.allowed_tools.tools[0].name"),
        (allowed("auto", {"type": "function", "function": 1}), "tool_choice.allowed_tools.tools[0].function"),
        (allowed("auto", {"type": "web"}), "tool_choice.allowed_tools.tools[0].type"),
        (allowed("auto", "look"), "tool_choice.allowed_tools.tools[0]"),
        ({"type": "allowed_tools"}, "tool_choice.allowed_tools"),
    ],
    ids=str,
)
def test_a_choice_that_cannot_be_made_is_refused_by_its_path(choice: Json, param: str) -> None:
    error = refused(tools=[LOOK, RUN], tool_choice=choice)
    assert (error.status, error.param) == (400, param)


@pytest.mark.parametrize("order", [("tools", "tool_choice"), ("tool_choice", "tools")])
def test_the_order_of_members_does_not_matter(order: tuple[str, str]) -> None:
    members = {"tools": [LOOK], "tool_choice": LOOK}
    assert chat(**{name: members[name] for name in order}).tool_choice


@pytest.mark.parametrize("choice", ["none", "auto"])
def test_without_tools_a_choice_says_nothing_and_is_not_sent(choice: str) -> None:
    request = chat(tool_choice=choice, function_call=choice, parallel_tool_calls=False)
    assert request == chat()


@pytest.mark.parametrize(
    "members", [{"tool_choice": "required"}, {"tool_choice": LOOK}, {"function_call": {"name": "f"}}]
)
def test_without_tools_no_call_can_be_asked_for(members: dict[str, Json]) -> None:
    error = refused(**members)
    assert error.status == 400
    assert error.param is not None
    assert error.param.split(".")[0] in members


def test_two_tools_of_one_name_are_refused() -> None:
    assert refused(tools=[LOOK, RUN, LOOK]).param == "tools[2].function.name"
    run_twice = [LOOK, {"type": "custom", "custom": {"name": "look"}}]
    assert refused(tools=run_twice).param == "tools[1].custom.name"
    assert refused(functions=[{"name": "f"}, {"name": "f"}]).param == "functions[1].name"


@pytest.mark.parametrize("name", ["", "a b", "é", "n" * 65, "a.b"])
def test_names_of_tools_are_bounded(name: str) -> None:
    assert refused(tools=[{"type": "function", "function": {"name": name}}]).param == "tools[0].function.name"


@pytest.mark.parametrize(
    ("format", "param"),
    [
        ({}, "type"),
        ({"type": "regex"}, "type"),
        ({"type": "grammar"}, "grammar"),
        ({"type": "grammar", "grammar": {"syntax": "lark"}}, "grammar.definition"),
        ({"type": "grammar", "grammar": {"definition": "a", "syntax": "bnf"}}, "grammar.syntax"),
    ],
    ids=str,
)
def test_wrong_formats_of_custom_tools(format: Json, param: str) -> None:
    error = refused(tools=[{"type": "custom", "custom": {"name": "c", "format": format}}])
    assert error.param == f"tools[0].custom.format.{param}"


def test_deprecated_functions() -> None:
    functions = [{"name": "look", "description": "d", "parameters": {"free": 1}}, {"name": "b"}]
    request = chat(functions=functions, function_call={"name": "b"})
    assert request.legacy_functions
    assert request.tools == (FunctionTool("look", "d", {"free": 1}), FunctionTool("b"))
    assert request.tool_choice == ToolChoice("required", ("b",), forced=True)
    assert request.parallel_tool_calls is False
    assert request.written["functions"] == functions
    assert chat(functions=functions, function_call="none").tool_choice == ToolChoice("none")
    assert refused(functions=functions, function_call={"name": "gone"}).param == "function_call.name"
    assert refused(functions=functions, tools=[LOOK]).param == "functions"


@pytest.mark.parametrize("mode", ["none", "auto"])
def test_a_choice_in_one_form_holds_for_tools_in_the_other(mode: Literal["none", "auto"]) -> None:
    old = chat(functions=[{"name": "f"}], tool_choice=mode)
    new = chat(tools=[LOOK], function_call=mode)
    assert old.tool_choice == new.tool_choice == ToolChoice(mode)
    assert (old.written["tool_choice"], new.written["function_call"]) == (mode, mode)


def test_a_named_or_required_call_holds_across_forms_too() -> None:
    look = ToolChoice("required", ("look",), forced=True)
    assert chat(tools=[LOOK], function_call={"name": "look"}).tool_choice == look
    assert chat(functions=[{"name": "look"}], tool_choice=LOOK).tool_choice == look
    assert chat(functions=[{"name": "look"}], tool_choice="required").tool_choice == ToolChoice("required")
    assert refused(tools=[LOOK], function_call={"name": "gone"}).param == "function_call.name"


def test_two_forms_of_the_choice_must_say_the_same() -> None:
    assert chat(tools=[LOOK], tool_choice=LOOK, function_call={"name": "look"}).tool_choice
    error = refused(tools=[LOOK], tool_choice="auto", function_call="none")
    assert (error.status, error.code, error.param) == (400, "invalid_value", "function_call")
    assert "'tool_choice'" in error.message


def test_parallel_calls_are_kept_where_there_are_tools() -> None:
    request = chat(tools=[LOOK], parallel_tool_calls=False)
    assert request.parallel_tool_calls is False
    assert request.written["parallel_tool_calls"] is False
