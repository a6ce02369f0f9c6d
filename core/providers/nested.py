"""Finds which nested fields a request sets, by their dotted patterns; it decides nothing about them."""

from collections.abc import Mapping
from typing import Final

from core.chat import (
    AudioPart,
    ChatRequest,
    CustomTool,
    FilePart,
    ImagePart,
    Json,
    Message,
    Part,
    RefusalPart,
    Role,
)

_PART: Final = "messages[].content[]"
IMAGE: Final = f"{_PART}.image_url"
AUDIO: Final = f"{_PART}.input_audio"
FILE: Final = f"{_PART}.file"
BREAKPOINT: Final = f"{_PART}.prompt_cache_breakpoint"

# Of top-level objects: members that end otherwise than the object itself.
_MEMBERS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("prompt_cache_options", ("ttl",)),
    ("stream_options", ("include_usage", "include_obfuscation")),
)


def nested_fields(request: ChatRequest) -> dict[str, Json]:
    """The nested fields that have a row of their own, each with a value that says how much it asks for."""
    found: dict[str, Json] = {}
    for message in request.messages:
        # A plain text turn has nothing nested; that is most of a long history.
        if message.content.__class__ is not str or len(message.written) > 2:
            _of_message(message, found)
    _of_tools(request, found)
    _of_response_format(request, found)
    for name, members in _MEMBERS:
        written = request.written.get(name)
        if isinstance(written, Mapping):
            for member in members:
                if written.get(member) is not None:
                    found[f"{name}.{member}"] = written[member]
    return found


def _of_message(message: Message, found: dict[str, Json]) -> None:
    # The name of a tool or function result is part of the result.
    if message.name is not None and message.role not in (Role.TOOL, Role.FUNCTION):
        found["messages[].name"] = message.name
    for part in message.parts:
        _of_part(part, found)
    if message.role is Role.ASSISTANT:
        if message.refusal is not None:
            found["messages[].refusal"] = message.refusal
        if message.written.get("audio") is not None:
            has_all = found.get("messages[].audio", True)
            found["messages[].audio"] = has_all and message.audio_transcript is not None
        if message.written.get("function_call") is not None:
            found["messages[].function_call"] = True


def _of_part(part: Part, found: dict[str, Json]) -> None:
    match part:
        case ImagePart():
            found[IMAGE] = True
            detail = f"{IMAGE}.detail"
            if part.detail is not None and found.get(detail, "auto") == "auto":
                found[detail] = part.detail
        case AudioPart():
            found[AUDIO] = True
        case FilePart():
            found[FILE] = True
            if part.file_id is not None:
                found[f"{FILE}.file_id"] = True
            if part.filename is not None:
                found[f"{FILE}.filename"] = True
        case RefusalPart():
            found["messages[].refusal"] = True
            return
        case _:
            pass
    if part.breakpoint is not None:
        found[BREAKPOINT] = True
        if part.breakpoint.ttl is not None:
            found[f"{BREAKPOINT}.ttl"] = part.breakpoint.ttl


def _of_tools(request: ChatRequest, found: dict[str, Json]) -> None:
    for tool in request.tools:
        if isinstance(tool, CustomTool):
            found["tools[].custom"] = True
            if tool.format is not None:
                kind = tool.format.get("type")
                if found.get("tools[].custom.format", "text") == "text":
                    found["tools[].custom.format"] = kind
        elif tool.strict is not None:
            found["tools[].function.strict"] = tool.strict or found.get("tools[].function.strict", False)
    choice = request.tool_choice
    if choice is not None and choice.names is not None and not choice.forced:
        found["tool_choice.allowed_tools"] = True


def _of_response_format(request: ChatRequest, found: dict[str, Json]) -> None:
    wanted = request.response_format
    if wanted is None or wanted.type != "json_schema":
        return
    found["response_format.json_schema"] = True
    found["response_format.json_schema.name"] = wanted.name
    if wanted.description is not None:
        found["response_format.json_schema.description"] = wanted.description
    if wanted.strict is not None:
        found["response_format.json_schema.strict"] = wanted.strict
