"""Tools and their choice."""

from typing import Any

import pytest

from core.catalog.model import Abilities, Format, Target, Thinking, ThinkingSwitch
from core.chat import ChatRequest
from core.providers.bedrock.tools import ToolMembers, tool_members
from core.providers.fields import dispose
from tests.support.requests import ask
from tests.support.targets import make_target, make_vendor

NOTHING = {"type": "object", "properties": {}}
LOOK = {"type": "function", "function": {"name": "look", "description": "Looks.", "strict": True}}
FIND = {"type": "function", "function": {"name": "find", "description": " ", "strict": False, "parameters": {}}}
SHELL = {"type": "custom", "custom": {"name": "shell", "description": "Runs."}}
TOOLS = [LOOK, FIND, SHELL]
NAMED = {"type": "function", "function": {"name": "find"}}
CALLED = [
    {"role": "user", "content": "a"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "old.one", "arguments": ""}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": "b"},
]


def target(switch: ThinkingSwitch = ThinkingSwitch.NONE, **host: Any) -> Target:
    vendor = make_vendor(format=Format.BEDROCK)
    able = Abilities(tools=True, thinking=Thinking.OPTIONAL)
    return make_target(vendor=vendor, abilities=able, thinking_switch=switch, **host)


CLAUDE = target(ThinkingSwitch.ADAPTIVE)


def made(request: ChatRequest, to: Target | None = None) -> ToolMembers:
    to = to or target()
    return tool_members(request, to, dispose(request, to))


def names(members: ToolMembers) -> list[str]:
    return [tool["toolSpec"]["name"] for tool in members.members["toolConfig"]["tools"]]


def choice(members: ToolMembers) -> Any:
    return members.members["toolConfig"].get("toolChoice")


def test_tools_as_they_are_offered() -> None:
    members = made(ask(tools=TOOLS))
    look, find, shell = (tool["toolSpec"] for tool in members.members["toolConfig"]["tools"])
    assert look == {"name": "look", "description": "Looks.", "inputSchema": {"json": NOTHING}, "strict": True}
    assert find == {"name": "find", "inputSchema": {"json": NOTHING}}
    assert (shell["name"], shell["description"]) == ("shell", "Runs.")
    assert shell["inputSchema"]["json"]["required"] == ["input"]
    assert members.wrapped == {"shell"}
    assert members.additional == {}
    assert choice(members) is None


def test_strictness_stays_behind_where_it_is_refused() -> None:
    members = made(ask(tools=[LOOK]), target(refuses=frozenset({"tools[].function.strict"})))
    assert "strict" not in members.members["toolConfig"]["tools"][0]["toolSpec"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [(None, None), ("auto", None), ("required", {"any": {}}), (NAMED, {"tool": {"name": "find"}})],
    ids=["absent", "auto", "required", "named"],
)
def test_choices(asked: Any, said: Any) -> None:
    members = made(ask(tools=TOOLS, **({} if asked is None else {"tool_choice": asked})))
    assert choice(members) == said
    assert names(members) == ["look", "find", "shell"]


@pytest.mark.parametrize(("mode", "said"), [("auto", None), ("required", {"any": {}})])
def test_allowed_tools_are_a_subset(mode: str, said: Any) -> None:
    allowed = {"mode": mode, "tools": [NAMED, {"type": "custom", "custom": {"name": "shell"}}]}
    members = made(ask(tools=TOOLS, tool_choice={"type": "allowed_tools", "allowed_tools": allowed}))
    assert names(members) == ["find", "shell"]
    assert choice(members) == said


def test_no_tools_at_all() -> None:
    assert made(ask()).members == {}


def test_none_is_said_by_leaving_tools_out() -> None:
    assert made(ask(tools=TOOLS, tool_choice="none")).members == {}


def test_none_cannot_be_said_once_tools_were_called() -> None:
    members = made(ask(CALLED, tools=TOOLS, tool_choice="none", parallel_tool_calls=False), CLAUDE)
    assert names(members) == ["look", "find", "shell"]
    assert choice(members) is None
    assert members.additional == {}


def test_tools_that_were_called_and_are_gone_are_named_and_closed() -> None:
    (tool,) = made(ask(CALLED)).members["toolConfig"]["tools"]
    assert tool["toolSpec"]["name"] == "old_one"
    assert "do not call" in tool["toolSpec"]["description"]
    assert tool["toolSpec"]["inputSchema"] == {"json": NOTHING}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (None, {"type": "auto"}),
        ("auto", {"type": "auto"}),
        ("required", {"type": "any"}),
        (NAMED, {"type": "tool", "name": "find"}),
    ],
    ids=["absent", "auto", "required", "named"],
)
def test_claude_can_be_held_to_one_call_in_its_own_words(asked: Any, said: Any) -> None:
    request = ask(tools=TOOLS, parallel_tool_calls=False, **({} if asked is None else {"tool_choice": asked}))
    members = made(request, CLAUDE)
    assert members.additional == {"tool_choice": {**said, "disable_parallel_tool_use": True}}
    assert choice(members) is None
    assert members.wrapped == {"shell"}


@pytest.mark.parametrize(
    ("to", "members"),
    [
        (CLAUDE, {"parallel_tool_calls": True}),
        (CLAUDE, {}),
        (target(), {"parallel_tool_calls": False}),
        (target(ThinkingSwitch.ADAPTIVE, refuses=frozenset({"parallel_tool_calls"})), {"parallel_tool_calls": False}),
    ],
    ids=["asked for", "not asked", "not Claude", "refused"],
)
def test_others_are_not(to: Target, members: dict[str, Any]) -> None:
    assert made(ask(tools=TOOLS, **members), to).additional == {}


def test_deprecated_functions_mean_one_call() -> None:
    request = ask(functions=[{"name": "look"}], function_call={"name": "look"})
    assert made(request, CLAUDE).additional["tool_choice"] == {
        "type": "tool",
        "name": "look",
        "disable_parallel_tool_use": True,
    }
    assert choice(made(request)) == {"tool": {"name": "look"}}
