"""Tools and their choice in Converse: `toolConfig`, and what only Claude can be told beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from core.catalog.model import Target
from core.chat import ChatRequest, CustomTool, FunctionTool, Json, Tool, ToolChoice
from core.providers.bedrock.content import tool_name
from core.providers.bedrock.schemas import tool_schema
from core.providers.custom_tools import as_function
from core.providers.fields import Disposed
from core.providers.thinking import is_claude

_CLOSED: Final = "No longer available: do not call it."


@dataclass(frozen=True, slots=True)
class ToolMembers:
    """Members for the body and for `additionalModelRequestFields`, and the free-text tools sent as functions."""

    members: Mapping[str, Json]
    additional: Mapping[str, Json] = field(default_factory=dict)
    wrapped: frozenset[str] = frozenset()


def tool_members(request: ChatRequest, target: Target, disposed: Disposed) -> ToolMembers:
    """`toolConfig`.

    The format has no choice of `none`: tools are left out instead, unless the history has calls, which are refused
    without any tools. Where the caller offers none any more, those that were called are named and closed.
    """
    offered: Sequence[Tool] = request.tools if disposed.sends("tools") or disposed.sends("functions") else ()
    may_choose = disposed.sends("tool_choice") or disposed.sends("function_call")
    choice = request.tool_choice if may_choose else None
    if choice is not None and choice.names is not None and not choice.forced:
        named = frozenset(choice.names)
        offered = [tool for tool in offered if tool.name in named]
    called = dict.fromkeys(tool_name(call.name) for message in request.messages for call in message.tool_calls)
    is_none = choice is not None and choice.mode == "none"
    if not offered or (is_none and not called):
        return _config([_spec(FunctionTool(name, _CLOSED), disposed) for name in called])
    specs = [_spec(tool, disposed) for tool in offered]
    wrapped = frozenset(tool.name for tool in offered if isinstance(tool, CustomTool))
    if not is_none and _one_call(request, target, disposed):
        # A choice in both places is a conflict that the service refuses.
        return _config(specs, additional={"tool_choice": _native(choice)}, wrapped=wrapped)
    return _config(specs, _chosen(choice), wrapped=wrapped)


def _config(
    specs: Sequence[Json],
    chosen: Mapping[str, Json] | None = None,
    additional: Mapping[str, Json] | None = None,
    wrapped: frozenset[str] = frozenset(),
) -> ToolMembers:
    if not specs:
        return ToolMembers({})
    config: dict[str, Json] = {"tools": specs}
    if chosen is not None:
        config["toolChoice"] = chosen
    return ToolMembers({"toolConfig": config}, additional or {}, wrapped)


def _spec(tool: Tool, disposed: Disposed) -> dict[str, Json]:
    function = as_function(tool) if isinstance(tool, CustomTool) else tool
    strict = bool(function.strict) and disposed.sends("tools[].function.strict")
    spec: dict[str, Json] = {
        "name": function.name,
        "inputSchema": {"json": tool_schema(function.parameters, strict=strict)},
    }
    if function.description and function.description.strip():
        spec["description"] = function.description
    if strict:
        spec["strict"] = True
    return {"toolSpec": spec}


def _chosen(choice: ToolChoice | None) -> dict[str, Json] | None:
    """`toolChoice`; what happens anyway is not said, since not every model knows the member."""
    if choice is None or choice.mode != "required":
        return None
    return {"tool": {"name": choice.names[0]}} if choice.forced and choice.names else {"any": {}}


def _one_call(request: ChatRequest, target: Target, disposed: Disposed) -> bool:
    # The deprecated form has room for one call: that was not written, but it was asked for.
    asked = disposed.sends("parallel_tool_calls") or request.legacy_functions
    is_possible = is_claude(target) and not target.refuses("parallel_tool_calls")
    return request.parallel_tool_calls is False and asked and is_possible


def _native(choice: ToolChoice | None) -> dict[str, Json]:
    """The choice in Claude's own words, with at most one call."""
    chosen: dict[str, Json] = {"type": "any" if choice is not None and choice.mode == "required" else "auto"}
    if choice is not None and choice.forced and choice.names:
        chosen = {"type": "tool", "name": choice.names[0]}
    return {**chosen, "disable_parallel_tool_use": True}
