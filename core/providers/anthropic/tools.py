"""Tools and their choice in the Anthropic format; schemas go as they are, free-text tools as functions of one text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.catalog.model import Target
from core.chat import ChatRequest, CustomTool, FunctionTool, Json, Tool, ToolChoice
from core.providers.anthropic.content import tool_name
from core.providers.custom_tools import as_function
from core.providers.fields import Disposed

_ANY_OBJECT: Final[Mapping[str, Json]] = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class ToolMembers:
    """Members for the body, and the names of the free-text tools that were sent as functions."""

    members: Mapping[str, Json]
    wrapped: frozenset[str] = frozenset()


def tool_members(request: ChatRequest, target: Target, disposed: Disposed) -> ToolMembers:
    """`tools` and `tool_choice`.

    A history with calls needs tools to be there ("Tool use", read 2026-11-30): where the caller offers none any more,
    those that were called are named and closed.
    """
    offered: Sequence[Tool] = request.tools if disposed.sends("tools") or disposed.sends("functions") else ()
    may_choose = disposed.sends("tool_choice") or disposed.sends("function_call")
    choice = request.tool_choice if may_choose else None
    if choice is not None and choice.names is not None and not choice.forced:
        named = frozenset(choice.names)
        offered = [tool for tool in offered if tool.name in named]
    if not offered:
        return _closed(request)
    members: dict[str, Json] = {"tools": [_tool(tool, disposed) for tool in offered]}
    chosen = _choice(choice, one_call=_one_call(request, target, disposed))
    if chosen is not None:
        members["tool_choice"] = chosen
    return ToolMembers(members, frozenset(tool.name for tool in offered if isinstance(tool, CustomTool)))


def _closed(request: ChatRequest) -> ToolMembers:
    names = dict.fromkeys(tool_name(call.name) for message in request.messages for call in message.tool_calls)
    if not names:
        return ToolMembers({})
    tools = [{"name": name, "input_schema": _ANY_OBJECT} for name in names]
    return ToolMembers({"tools": tools, "tool_choice": {"type": "none"}})


def _tool(tool: Tool, disposed: Disposed) -> dict[str, Json]:
    if isinstance(tool, CustomTool):
        return _function(as_function(tool))
    strict = bool(tool.strict) and disposed.sends("tools[].function.strict")
    return {**_function(tool), "strict": True} if strict else _function(tool)


def _function(tool: FunctionTool) -> dict[str, Json]:
    schema = tool.parameters or _ANY_OBJECT
    sent: dict[str, Json] = {
        "name": tool.name,
        # The one member that the format insists on.
        "input_schema": schema if "type" in schema else {"type": "object", **schema},
    }
    if tool.description:
        sent["description"] = tool.description
    return sent


def _one_call(request: ChatRequest, target: Target, disposed: Disposed) -> bool:
    # The deprecated form has room for one call: that was not written, but it was asked for.
    asked = disposed.sends("parallel_tool_calls") or request.legacy_functions
    return request.parallel_tool_calls is False and asked and not target.refuses("parallel_tool_calls")


def _choice(choice: ToolChoice | None, *, one_call: bool) -> dict[str, Json] | None:
    if choice is None:
        return {"type": "auto", "disable_parallel_tool_use": True} if one_call else None
    if choice.mode == "none":
        return {"type": "none"}
    chosen: dict[str, Json] = {"type": "auto" if choice.mode == "auto" else "any"}
    if choice.forced and choice.names:
        chosen = {"type": "tool", "name": choice.names[0]}
    return {**chosen, "disable_parallel_tool_use": True} if one_call else chosen
