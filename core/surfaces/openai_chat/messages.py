"""The messages of a conversation, checked role by role and made canonical; each keeps the caller's own object."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.chat import Json, Message, Role, ToolCall
from core.surfaces.openai_chat.checks import (
    At,
    Check,
    Table,
    anything,
    array,
    free_object,
    integer,
    missing,
    named,
    note_unknown,
    record,
    string,
    variant,
    wrong,
    wrong_type,
)
from core.surfaces.openai_chat.pairs import Pairs
from core.surfaces.openai_chat.parts import content_of

_FUNCTION: Final = record({"name": named, "arguments": string, "parsed_arguments": anything}, ("name",))
_CUSTOM: Final = record({"name": named, "input": string}, ("name", "input"))
_FUNCTION_CALL: Final = record({"name": named, "arguments": string}, ("name",))


def _not_both(value: Json, at: At) -> Json:
    raise wrong(at, "does not go with this type of call.")


def _call_of(payload: str, check: Check) -> Check:
    # Accumulated streams keep `index`; in dumped objects the other type's member is null.
    others: Table = {"function": _not_both, "custom": _not_both}
    return record({**others, "id": named, "type": anything, payload: check, "index": integer(0)}, ("id", payload))


_FUNCTION_TOOL_CALL: Final = _call_of("function", _FUNCTION)
_CUSTOM_TOOL_CALL: Final = _call_of("custom", _CUSTOM)


def _function_call(value: Json, at: At) -> ToolCall:
    got = _FUNCTION_TOOL_CALL(value, at)
    # Absent or null arguments are those of a call without any.
    return ToolCall(got["id"], got["function"]["name"], got["function"].get("arguments", ""))


def _custom_call(value: Json, at: At) -> ToolCall:
    got = _CUSTOM_TOOL_CALL(value, at)
    return ToolCall(got["id"], got["custom"]["name"], got["custom"]["input"], kind="custom")


_NAME: Final[Table] = {"role": anything, "name": string}
_TEXTS: Final = content_of("text")

# What answers carry beside OpenAI's own members, here and with the SDKs that parse them.
_ECHOED: Final[Table] = {
    "annotations": array(free_object),
    "parsed": anything,
    "reasoning": string,
    "reasoning_content": string,
    "reasoning_details": array(free_object),
}


@dataclass(frozen=True, slots=True)
class _Rules:
    role: Role
    table: Table
    required: tuple[str, ...] = ("content",)


_ROLES: Final[Mapping[str, _Rules]] = {
    "system": _Rules(Role.SYSTEM, {**_NAME, "content": _TEXTS}),
    "developer": _Rules(Role.DEVELOPER, {**_NAME, "content": _TEXTS}),
    "user": _Rules(Role.USER, {**_NAME, "content": content_of("text", "image_url", "input_audio", "file")}),
    "assistant": _Rules(
        Role.ASSISTANT,
        {
            **_NAME,
            **_ECHOED,
            "content": content_of("text", "refusal"),
            "refusal": string,
            "audio": record({"id": named, "data": string, "expires_at": anything, "transcript": string}, ("id",)),
            "function_call": _FUNCTION_CALL,
            "tool_calls": array(variant({"function": _function_call, "custom": _custom_call})),
        },
        (),
    ),
    "tool": _Rules(Role.TOOL, {**_NAME, "content": _TEXTS, "tool_call_id": named}, ("content", "tool_call_id")),
    "function": _Rules(Role.FUNCTION, {**_NAME, "content": string}, ("name",)),
}
_LISTED: Final = ", ".join(f"'{role}'" for role in _ROLES)

# A null here says nothing, whatever the role: clients send one shape for all of them.
_ANYWHERE: Final = frozenset(name for rules in _ROLES.values() for name in rules.table)


def messages(value: Json, at: At) -> tuple[Message, ...]:
    """The conversation, with each tool call and its result known to belong together."""
    if type(value) is not list:
        raise wrong_type(at, "an array of messages", value)
    if not value:
        raise wrong(at, "must have at least one message.")
    pairs = Pairs(at)
    checked = [pairs.follow(index, _message(each, (at, index), index)) for index, each in enumerate(value)]
    pairs.end()
    return tuple(checked)


def _message(value: Json, at: At, index: int) -> Message:
    written = free_object(value, at)
    rules = _rules(written, at)
    got: dict[str, Json] = {}
    for name, member in written.items():
        check = rules.table.get(name)
        if check is None:
            if member is not None or name not in _ANYWHERE:
                note_unknown(at, name, rules.table)
        elif member is not None:
            got[name] = check(member, (at, name))
    for name in rules.required:
        # An empty array is as good as none.
        if got.get(name, ()) == ():
            raise missing((at, name))
    if rules.role is Role.ASSISTANT:
        return _assistant(got, written, at, index)
    return Message(rules.role, got.get("content", ""), written, got.get("name"), tool_call_id=got.get("tool_call_id"))


def _rules(written: dict[str, Json], at: At) -> _Rules:
    role = written.get("role")
    if role is None:
        raise missing((at, "role"))
    rules = _ROLES.get(string(role, (at, "role")))
    if rules is None:
        raise wrong((at, "role"), f"must be one of {_LISTED}.")
    return rules


def _assistant(got: dict[str, Json], written: dict[str, Json], at: At, index: int) -> Message:
    # Nothing at all is an answer too: one that was filtered, or cut off before its first word.
    content = None if got.get("content") == () else got.get("content")
    calls: tuple[ToolCall, ...] = got.get("tool_calls", ())
    function_call = got.get("function_call")
    if function_call is not None:
        if calls:
            raise wrong((at, "function_call"), "does not go with 'tool_calls'. Send one of them.")
        # Deprecated calls have no id; the pair of call and result gets one that its place makes unique.
        calls = (ToolCall(f"call_function_{index}", function_call["name"], function_call.get("arguments", "")),)
    audio = got.get("audio", {})
    return Message(
        Role.ASSISTANT,
        content,
        written,
        name=got.get("name"),
        tool_calls=calls,
        refusal=got.get("refusal"),
        reasoning_content=got.get("reasoning_content", got.get("reasoning")),
        audio_transcript=audio.get("transcript"),
    )
