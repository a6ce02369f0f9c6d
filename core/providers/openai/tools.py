"""Tools and their choice in the OpenAI format: as the caller wrote them, or in the form that a clone knows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.catalog.model import Quirk, Target
from core.chat import ChatRequest, CustomTool, FunctionTool, Json, Tool, ToolChoice
from core.providers.custom_tools import as_function
from core.providers.fields import Disposed


@dataclass(frozen=True, slots=True)
class ToolMembers:
    """Members for the body, and the names of the free-text tools that were sent as functions."""

    members: Mapping[str, Json]
    wrapped: frozenset[str]


_NO_TOOLS: Final = ToolMembers({}, frozenset())


def tool_members(request: ChatRequest, target: Target, disposed: Disposed) -> ToolMembers:
    """`tools` and `tool_choice`; nothing without tools, since a choice alone is an error."""
    if not (disposed.sends("tools") or disposed.sends("functions")):
        return _NO_TOOLS
    native = target.has(Quirk.CUSTOM_TOOLS)
    may_choose = disposed.sends("tool_choice") or disposed.sends("function_call")
    choice = request.tool_choice if may_choose else None
    offered = list(zip(request.tools, _as_written(request), strict=True))
    members: dict[str, Json] = {}
    if choice is not None:
        if choice.names is not None and not choice.forced and not native:
            named = frozenset(choice.names)
            offered = [pair for pair in offered if pair[0].name in named]
            choice = ToolChoice(choice.mode)
        members["tool_choice"] = _choice(choice, request, native)
    members["tools"] = [_sent(tool, entry, native) for tool, entry in offered]
    wrapped = () if native else (tool.name for tool, _ in offered if isinstance(tool, CustomTool))
    return ToolMembers(members, frozenset(wrapped))


def _as_written(request: ChatRequest) -> Sequence[Json]:
    """The caller's own entries beside the tools that were read from them; None where there are none."""
    entries = request.written.get("tools")
    if isinstance(entries, list) and len(entries) == len(request.tools):
        return entries
    return [None] * len(request.tools)


def _sent(tool: Tool, entry: Json, native: bool) -> Json:
    if isinstance(tool, FunctionTool):
        return entry or {"type": "function", "function": _function(tool)}
    if native:
        return entry or {"type": "custom", "custom": _custom(tool)}
    return {"type": "function", "function": _function(as_function(tool))}


def _function(tool: FunctionTool) -> Json:
    return _set(name=tool.name, description=tool.description, parameters=tool.parameters, strict=tool.strict)


def _custom(tool: CustomTool) -> Json:
    return _set(name=tool.name, description=tool.description, format=tool.format)


def _set(**members: Json) -> dict[str, Json]:
    return {name: value for name, value in members.items() if value is not None}


def _choice(choice: ToolChoice, request: ChatRequest, native: bool) -> Json:
    if choice.names is None:
        return choice.mode
    custom = {tool.name for tool in request.tools if native and isinstance(tool, CustomTool)}
    entries = [_reference(name, "custom" if name in custom else "function") for name in choice.names]
    if choice.forced:
        return entries[0]
    return {"type": "allowed_tools", "allowed_tools": {"mode": choice.mode, "tools": entries}}


def _reference(name: str, kind: str) -> Json:
    return {"type": kind, kind: {"name": name}}
