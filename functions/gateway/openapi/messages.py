"""The messages of a request as schemas: one per role, and the parts and tool calls inside them."""

from collections.abc import Mapping
from typing import Final

from functions.gateway.openapi.shapes import (
    LARGEST_COUNT,
    Schema,
    anything,
    array,
    either,
    free,
    mapping,
    record,
    text,
    whole,
    words,
)
from functions.gateway.openapi.space import Space

_URL: Final = "^([hH][tT][tT][pP][sS]?://|[dD][aA][tT][aA]:)"
_NOTHING: Final[Schema] = {"type": "null"}
_NAME: Final = "Tells speakers of one role apart."

_ROLES: Final = {
    "system": "SystemMessage",
    "developer": "SystemMessage",
    "user": "UserMessage",
    "assistant": "AssistantMessage",
    "tool": "ToolMessage",
    "function": "FunctionMessage",
}


def message_schemas(space: Space) -> dict[str, Schema]:
    """The components that describe messages, by their short names."""
    texts = _content(space, "text", least=1)
    roles = {
        "SystemMessage": (
            {"role": words("system", "developer", about="Both mean the same."), "content": texts, "name": text(_NAME)},
            ("role", "content"),
            "Instructions to the model.",
        ),
        "UserMessage": (
            {
                "role": words("user"),
                "content": _content(space, "text", "image_url", "input_audio", "file", least=1),
                "name": text(_NAME),
            },
            ("role", "content"),
            "What the user says.",
        ),
        "AssistantMessage": (
            _assistant(space),
            ("role",),
            "An earlier answer. The `message` of an answer can be sent back as it is, also as SDKs dump it.",
        ),
        "ToolMessage": (
            {
                "role": words("tool"),
                "content": texts,
                "tool_call_id": text("The `id` of the call in the assistant message before.", least=1),
                "name": text("The name of the tool."),
            },
            ("role", "content", "tool_call_id"),
            "The result of one tool call. Every call needs exactly one, right after the message that made the calls.",
        ),
        "FunctionMessage": (
            {"role": words("function"), "content": text("The result."), "name": text("The name of the function.")},
            ("role", "name"),
            "Deprecated: the result of a `function_call`.",
        ),
    }
    everywhere = {name for members, _, _ in roles.values() for name in members}
    made = {
        "Message": space.kinds("role", _ROLES, "One turn of the conversation."),
        **{
            name: space.record(members, required, about, elsewhere=everywhere)
            for name, (members, required, about) in roles.items()
        },
        **_parts(space),
        **_calls(space),
    }
    made["AssistantMessage"] |= _ONE_FORM_OF_CALLS
    return made


def _assistant(space: Space) -> dict[str, Schema]:
    return {
        "role": words("assistant"),
        "content": _content(space, "text", "refusal"),
        "name": text(_NAME),
        "refusal": text("Why the model declined."),
        "tool_calls": array(
            space.kinds("type", {"function": "FunctionToolCall", "custom": "CustomToolCall"}),
            "The calls that the model made.",
        ),
        "function_call": space.record(
            {"name": text(least=1), "arguments": text("JSON, as the model wrote it.")},
            ("name",),
            "Deprecated: the one call that the model made. It does not go with `tool_calls`.",
        ),
        "audio": space.record(
            {
                "id": text(least=1),
                "data": text(),
                "expires_at": anything(),
                "transcript": text("Takes the place of the sound for models that do not hear."),
            },
            ("id",),
            "An earlier spoken answer.",
        ),
        "reasoning_content": text("Accepted and not forwarded, save where a model refuses a tool loop without it."),
        "reasoning": text("The same under another name."),
        "reasoning_details": array(free(), "Accepted and not forwarded."),
        "annotations": array(free(), "Accepted and not forwarded."),
        "parsed": anything("What an SDK made of the content. Accepted and not forwarded."),
    }


def _content(space: Space, *kinds: str, least: int | None = None) -> Schema:
    parts = {kind: _PART_NAMES[kind] for kind in kinds}
    item = space.ref(_PART_NAMES[kinds[0]]) if len(kinds) == 1 else space.kinds("type", parts)
    return either(text(), array(item, least=least), about=f"Text, or parts of type {_listed(kinds)}.")


_PART_NAMES: Final = {
    "text": "TextPart",
    "image_url": "ImagePart",
    "input_audio": "AudioPart",
    "file": "FilePart",
    "refusal": "RefusalPart",
}


def text_content(space: Space) -> Schema:
    """Content that is nothing but text."""
    return _content(space, "text")


def _parts(space: Space) -> dict[str, Schema]:
    marked = {"prompt_cache_breakpoint": space.ref("CacheBreakpoint")}
    image = {
        "url": text("An `https:` URL, or the image itself as a base64 `data:` URL.", pattern=_URL),
        "detail": words("auto", "low", "high", "original", about="How closely the model looks."),
    }
    sound = {"data": text("The recording, in base64.", least=1), "format": words("wav", "mp3")}
    file = {
        "file_data": text("The file in base64, as a `data:` URL, or where to fetch it as an `https:` URL.", least=1),
        "file_id": text("The id of a file that the model's vendor keeps.", least=1),
        "filename": text("Its name; the ending tells its type where nothing else does."),
    }
    made = {
        "TextPart": space.record(
            {"type": words("text"), "text": text(), **marked}, ("type", "text"), "Text in a message."
        ),
        "ImagePart": space.record(
            {"type": words("image_url"), "image_url": space.record(image, ("url",)), **marked},
            ("type", "image_url"),
            "An image in a message.",
        ),
        "AudioPart": space.record(
            {"type": words("input_audio"), "input_audio": space.record(sound, ("data", "format")), **marked},
            ("type", "input_audio"),
            "Recorded sound in a message.",
        ),
        "FilePart": space.record(
            {"type": words("file"), "file": {**space.record(file), **_HAS_A_FILE}, **marked},
            ("type", "file"),
            "A document in a message. It needs `file_data` or `file_id`.",
        ),
        "RefusalPart": space.record(
            {"type": words("refusal"), "refusal": text()}, ("type", "refusal"), "An earlier refusal."
        ),
        "CacheBreakpoint": space.record(
            {"mode": words("explicit"), "ttl": words("30m", "12h", about="How long at least.")},
            ("mode",),
            "Marks that the prompt up to here is worth caching.",
        ),
    }
    return made


def _calls(space: Space) -> dict[str, Schema]:
    function = {
        "name": text(least=1),
        "arguments": text("JSON, as the model wrote it."),
        "parsed_arguments": anything("What an SDK made of the arguments. Not forwarded."),
    }
    shared = {"id": text(least=1), "index": whole("Left by SDKs that put streams together.", low=0, high=LARGEST_COUNT)}
    return {
        "FunctionToolCall": space.record(
            {**shared, "type": words("function"), "function": space.record(function, ("name",)), "custom": _NOTHING},
            ("id", "type", "function"),
            "A call of a function.",
        ),
        "CustomToolCall": space.record(
            {
                **shared,
                "type": words("custom"),
                "custom": space.record({"name": text(least=1), "input": text()}, ("name", "input")),
                "function": _NOTHING,
            },
            ("id", "type", "custom"),
            "A call of a custom tool, with free text.",
        ),
    }


def _listed(kinds: tuple[str, ...]) -> str:
    quoted = [f"`{kind}`" for kind in kinds]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def having(**members: Schema) -> Schema:
    """An object in which these members are there, and like this."""
    return record(members, list(members))


_FILLED: Final = array(anything(), least=1)
_HAS_A_FILE: Final[Mapping[str, object]] = {"anyOf": [having(file_data=text()), having(file_id=text())]}
_ONE_FORM_OF_CALLS: Final[Mapping[str, object]] = {"not": having(function_call=mapping(anything()), tool_calls=_FILLED)}
