"""Tools and their choice in the Gemini format: one list of declarations, and a mode with the names that it allows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.chat import ChatRequest, CustomTool, FunctionTool, Json, Tool, ToolChoice
from core.providers.custom_tools import as_function
from core.providers.fields import Disposed
from core.providers.gemini.schema import parameters_schema

_MODES: Final = {"none": "NONE", "auto": "AUTO", "required": "ANY"}


@dataclass(frozen=True, slots=True)
class ToolMembers:
    """Members for the body, and the names of the free-text tools that were sent as functions."""

    members: Mapping[str, Json]
    wrapped: frozenset[str] = frozenset()


def tool_members(request: ChatRequest, disposed: Disposed) -> ToolMembers:
    """`tools` and `toolConfig`; nothing without tools, since a choice alone is an error."""
    if not request.tools or not (disposed.sends("tools") or disposed.sends("functions")):
        return ToolMembers({})
    may_choose = disposed.sends("tool_choice") or disposed.sends("function_call")
    choice = request.tool_choice if may_choose else None
    offered = request.tools
    if choice is not None and choice.names is not None and choice.mode == "auto":
        # Names go with the mode that forces a call alone.
        named = frozenset(choice.names)
        offered = tuple(tool for tool in offered if tool.name in named)
    members: dict[str, Json] = {"tools": [{"functionDeclarations": [_declared(tool) for tool in offered]}]}
    if choice is not None:
        members["toolConfig"] = {"functionCallingConfig": _config(choice)}
    return ToolMembers(members, frozenset(tool.name for tool in offered if isinstance(tool, CustomTool)))


def _declared(tool: Tool) -> dict[str, Json]:
    function: FunctionTool = as_function(tool) if isinstance(tool, CustomTool) else tool
    declared: dict[str, Json] = {"name": function.name}
    if function.description:
        declared["description"] = function.description
    schema = parameters_schema(function.parameters or {})
    if schema is not None:
        declared["parametersJsonSchema"] = schema
    return declared


def _config(choice: ToolChoice) -> dict[str, Json]:
    config: dict[str, Json] = {"mode": _MODES[choice.mode]}
    if choice.mode == "required" and choice.names is not None:
        config["allowedFunctionNames"] = list(choice.names)
    return config
