"""Tools, tool choice and their deprecated forms, checked and made canonical; parameters are never looked into."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

from core.chat import CustomTool, FunctionTool, Json, Tool, ToolChoice
from core.surfaces.openai_chat.checks import (
    At,
    Check,
    anything,
    array,
    boolean,
    free_object,
    named,
    one_of,
    record,
    string,
    variant,
    wrong,
    wrong_type,
)

LONGEST_NAME: Final = 64
_NAME_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def identifier(value: Json, at: At) -> str:
    """A name of letters, digits, `_` and `-`, at most 64 of them."""
    name = named(value, at)
    if len(name) <= LONGEST_NAME and _NAME_CHARACTERS.issuperset(name):
        return name
    raise wrong(at, f"must have at most {LONGEST_NAME} letters, digits, '_' or '-'.")


_FUNCTION: Final = record(
    {"name": identifier, "description": string, "parameters": free_object, "strict": boolean}, ("name",)
)
_GRAMMAR: Final = record({"definition": string, "syntax": one_of("lark", "regex")}, ("definition", "syntax"))
_FORMAT: Final = variant(
    {
        "text": record({"type": anything}),
        "grammar": record({"type": anything, "grammar": _GRAMMAR}, ("grammar",)),
    }
)
_CUSTOM: Final = record({"name": identifier, "description": string, "format": _FORMAT}, ("name",))
_FUNCTION_TOOL: Final = record({"type": anything, "function": _FUNCTION}, ("function",))
_CUSTOM_TOOL: Final = record({"type": anything, "custom": _CUSTOM}, ("custom",))


_OLD_FUNCTION: Final = record({"name": identifier, "description": string, "parameters": free_object}, ("name",))


def _function_tool(value: Json, at: At) -> FunctionTool:
    got = _FUNCTION_TOOL(value, at)["function"]
    return FunctionTool(got["name"], got.get("description"), got.get("parameters"), got.get("strict"))


def _custom_tool(value: Json, at: At) -> CustomTool:
    got = _CUSTOM_TOOL(value, at)["custom"]
    return CustomTool(got["name"], got.get("description"), got.get("format"))


def _function(value: Json, at: At) -> FunctionTool:
    got = _OLD_FUNCTION(value, at)
    return FunctionTool(got["name"], got.get("description"), got.get("parameters"))


tools: Final = array(variant({"function": _function_tool, "custom": _custom_tool}))
"""`tools`."""

functions: Final = array(_function)
"""The deprecated `functions`."""


@dataclass(frozen=True, slots=True)
class Named:
    """A tool that a choice names, and where it does."""

    kind: str
    name: str
    at: At


@dataclass(frozen=True, slots=True)
class Wanted:
    """A tool choice as written; `named` is None when it names no tool, `forced` when it names the one to call."""

    mode: Literal["none", "auto", "required"]
    named: tuple[Named, ...] | None = None
    forced: bool = False


_POINTER: Final = record({"name": named}, ("name",))


def _pointed(kind: str) -> Check:
    check = record({"type": anything, kind: _POINTER}, (kind,))

    def point(value: Json, at: At) -> Wanted:
        name = check(value, at)[kind]["name"]
        return Wanted("required", (Named(kind, name, ((at, kind), "name")),), forced=True)

    return point


def _allowed_tool(value: Json, at: At) -> Named:
    # Free-form in OpenAI's types: only the type and the name are read, nested or flat.
    entry = free_object(value, at)
    kind = _KIND(entry.get("type", "function"), (at, "type"))
    nested = entry.get(kind)
    if nested is None:
        return Named(kind, _POINTER({"name": entry.get("name")}, at)["name"], (at, "name"))
    inside = (at, kind)
    name = free_object(nested, inside).get("name")
    return Named(kind, _POINTER({"name": name}, inside)["name"], (inside, "name"))


_KIND: Final = one_of("function", "custom")
_ALLOWED_TOOLS: Final = record({"mode": one_of("auto", "required"), "tools": array(_allowed_tool)}, ("mode", "tools"))
_ALLOWED: Final = record({"type": anything, "allowed_tools": _ALLOWED_TOOLS}, ("allowed_tools",))


def _allowed(value: Json, at: At) -> Wanted:
    got = _ALLOWED(value, at)["allowed_tools"]
    if not got["tools"]:
        raise wrong(((at, "allowed_tools"), "tools"), "must have at least one tool. Use 'none' to allow none.")
    return Wanted(got["mode"], got["tools"])


_MODE: Final = one_of("none", "auto", "required")
_OLD_MODE: Final = one_of("none", "auto")
_OBJECT: Final = variant({"function": _pointed("function"), "custom": _pointed("custom"), "allowed_tools": _allowed})


def tool_choice(value: Json, at: At) -> Wanted:
    """`tool_choice`, in any of its forms."""
    if type(value) is str:
        return Wanted(_MODE(value, at))
    if type(value) is dict:
        return cast(Wanted, _OBJECT(value, at))
    raise wrong_type(at, "a string or an object", value)


def function_call(value: Json, at: At) -> Wanted:
    """The deprecated `function_call`."""
    if type(value) is str:
        return Wanted(_OLD_MODE(value, at))
    if type(value) is dict:
        named_function = Named("function", _POINTER(value, at)["name"], (at, "name"))
        return Wanted("required", (named_function,), forced=True)
    raise wrong_type(at, "a string or an object", value)


def check_names(offered: Sequence[Tool], at: At, *, nested: bool) -> None:
    """Refuse two tools of one name. `nested` tells whether names stand inside `function` or `custom`."""
    seen: set[str] = set()
    for index, tool in enumerate(offered):
        if tool.name in seen:
            entry: At = (at, index)
            around = (entry, _kind(tool)) if nested else entry
            raise wrong((around, "name"), f"is there twice: '{tool.name}'.")
        seen.add(tool.name)


def choose(wanted: Wanted, offered: Sequence[Tool], at: At) -> ToolChoice | None:
    """The choice among the tools that are offered; None where there are none and none is needed.

    Raises:
        InvalidRequest: It names a tool that is not there, or asks for a call where there is no tool.
    """
    kinds = {tool.name: _kind(tool) for tool in offered}
    for each in wanted.named or ():
        if kinds.get(each.name) != each.kind:
            raise wrong(each.at, f"names no {each.kind} among the tools: '{each.name[:60]}'.")
    if not offered:
        if wanted.mode == "required":
            raise wrong(at, "asks for a tool call, but there are no 'tools'.")
        return None
    names = None if wanted.named is None else tuple(each.name for each in wanted.named)
    return ToolChoice(wanted.mode, names, wanted.forced)


def _kind(tool: Tool) -> str:
    return "custom" if isinstance(tool, CustomTool) else "function"
