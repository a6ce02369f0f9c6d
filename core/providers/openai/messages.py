"""One message of the history as the upstream gets it: what the caller wrote, less what only answers carry.

It looks at one message at a time; rules about neighbours are in `history`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.catalog.model import Quirk, Target
from core.chat import Json, Message, Role, ToolCall
from core.providers.base import Media, Prepared
from core.providers.call_arguments import object_text
from core.providers.custom_tools import wrapped
from core.providers.fields import Disposed
from core.providers.openai.media import inlined

# Members that answers carry and SDKs send back, or that are written anew below (wire reference, 1.2, 2026-11-30).
_EVERYWHERE: Final = frozenset({"role", "content", "name"})
_OF_ANSWERS: Final = _EVERYWHERE | {
    *("reasoning_content", "reasoning", "reasoning_details", "annotations", "parsed", "audio"),
    *("refusal", "function_call", "tool_calls"),
}
_OF_RESULTS: Final = _EVERYWHERE | {"tool_call_id"}
_REPLACED: Final[Mapping[Role, frozenset[str]]] = {
    Role.ASSISTANT: _OF_ANSWERS,
    Role.TOOL: _OF_RESULTS,
    Role.FUNCTION: _OF_RESULTS,
}
# Clients send one shape for all roles: a null of what is known of some other role says nothing.
_SAYS_NOTHING: Final = _OF_ANSWERS | _OF_RESULTS

_OF_AUDIO: Final = frozenset({"id", "data", "expires_at", "transcript"})
_OF_CALLS: Final = frozenset({"id", "type", "index", "function", "custom"})
_INSIDE_CALLS: Final = frozenset({"name", "arguments", "parsed_arguments", "input"})

# What an assistant's turn may have in place of content.
_INSTEAD: Final = frozenset({"tool_calls", "audio", "refusal"})


@dataclass(frozen=True, slots=True)
class Wording:
    """What of a message one upstream takes.

    `ids` gives the id to send for every tool call id; `reasoning_back` is False where nobody wants thinking back.
    """

    target: Target
    prepared: Prepared
    disposed: Disposed
    ids: Mapping[str, str]
    reasoning_back: bool

    def sent(self, message: Message) -> dict[str, Json]:
        """The message to send."""
        members: dict[str, Json] = {"role": self._role(message.role), **_others(message)}
        if message.name is not None and self._sends_names(message):
            members["name"] = message.name
        if message.role is Role.ASSISTANT:
            return self._assistant(message, members)
        members["content"] = self._content(message, message.written.get("content"))
        if message.role in (Role.TOOL, Role.FUNCTION):
            members["content"] = members["content"] or ""
            call_id = message.tool_call_id or ""
            members["tool_call_id"] = self.ids.get(call_id, call_id)
        return members

    def _role(self, role: Role) -> str:
        if role is Role.DEVELOPER and not self.target.has(Quirk.DEVELOPER_ROLE):
            return Role.SYSTEM.value
        return Role.TOOL.value if role is Role.FUNCTION else role.value

    def _sends_names(self, message: Message) -> bool:
        if message.role is Role.FUNCTION:
            return False
        if message.role is Role.TOOL:  # not a field of OpenAI's; Mistral documents it
            return not self.target.has(Quirk.NO_MESSAGE_NAMES)
        return self.disposed.sends("messages[].name")

    def _assistant(self, message: Message, members: dict[str, Json]) -> dict[str, Json]:
        content = self._content(message, message.written.get("content")) or None
        audio: Mapping[str, Json] = message.written.get("audio") or {}
        if audio and self.disposed.sends("messages[].audio"):
            spoken = {name: value for name, value in audio.items() if name not in _OF_AUDIO}
            members["audio"] = {**spoken, "id": audio["id"]}
        elif message.audio_transcript and not content:
            content = message.audio_transcript
        if message.refusal and self.target.has(Quirk.REFUSALS):
            members["refusal"] = message.refusal
        elif message.refusal:
            content = _with_text(content, message.refusal)
        if message.tool_calls:
            members["tool_calls"] = self._calls(message)
            members.update(self._thinking(message))
        if content is None:
            # Only beside something else does a turn go without content.
            is_bare = members.keys().isdisjoint(_INSTEAD) or self.target.has(Quirk.EMPTY_CONTENT)
            content = "" if is_bare or message.written.get("content") == "" else None
        members["content"] = content
        return members

    def _content(self, message: Message, written: Json) -> Json:
        if not isinstance(written, list):
            return message.content if written is None and isinstance(message.content, str) else written
        parts = [self._part(part) for part in written]
        if self.target.has(Quirk.FLAT_TEXT) and all(part.get("type") == "text" for part in parts):
            return "\n".join(part["text"] for part in parts)
        return parts

    def _part(self, part: Mapping[str, Json]) -> dict[str, Json]:
        sent = dict(part)
        if not self.disposed.sends("messages[].content[].prompt_cache_breakpoint"):
            sent.pop("prompt_cache_breakpoint", None)
        match sent.get("type"):
            case "image_url":
                sent["image_url"] = self._image(sent["image_url"])
            case "file":
                sent["file"] = _file(sent["file"], self.prepared.media)
            case "refusal" if not self.target.has(Quirk.REFUSALS):
                sent["text"] = sent.pop("refusal")
                sent["type"] = "text"
            case _:
                pass
        return sent

    def _image(self, image: Mapping[str, Json]) -> dict[str, Json]:
        sent = {**image, "url": inlined(image["url"], self.prepared.media)}
        if not self.disposed.sends("messages[].content[].image_url.detail"):
            sent.pop("detail", None)
        elif sent.get("detail") == "original" and not self.target.has(Quirk.ORIGINAL_DETAIL):
            sent["detail"] = "high"
        return sent

    def _calls(self, message: Message) -> list[Json]:
        entries = message.written.get("tool_calls")
        if not isinstance(entries, list) or len(entries) != len(message.tool_calls):
            entries = [{}] * len(message.tool_calls)
        return [self._call(call, entry) for call, entry in zip(message.tool_calls, entries, strict=True)]

    def _call(self, call: ToolCall, entry: Mapping[str, Json]) -> dict[str, Json]:
        kept = {name: value for name, value in entry.items() if name not in _OF_CALLS}
        inside = {name: value for name, value in entry.get(call.kind, {}).items() if name not in _INSIDE_CALLS}
        call_id = self.ids.get(call.id, call.id)
        if call.kind == "custom" and self.target.has(Quirk.CUSTOM_TOOLS):
            body = {**inside, "name": call.name, "input": call.arguments}
            return {**kept, "id": call_id, "type": "custom", "custom": body}
        if call.kind == "custom":
            arguments = wrapped(call.arguments)
        elif self.target.has(Quirk.PARSED_ARGUMENTS) or not call.arguments.strip():
            arguments = object_text(call.arguments)
        else:
            arguments = call.arguments
        return {
            **kept,
            "id": call_id,
            "type": "function",
            "function": {**inside, "name": call.name, "arguments": arguments},
        }

    def _thinking(self, message: Message) -> dict[str, Json]:
        if not self.reasoning_back:
            return {}
        turn = next(
            (self.prepared.turns[call.id] for call in message.tool_calls if call.id in self.prepared.turns), None
        )
        members: dict[str, Json] = {}
        if self.target.has(Quirk.REASONING_BACK):
            remembered = turn.reasoning if turn and turn.model == self.target.model.id else None
            # The wish is for the member, not for what is in it: hosts take an empty one.
            given = "" if turn else message.reasoning_content
            members["reasoning_content"] = remembered or given or ""
        if self.target.has(Quirk.REASONING_DETAILS_BACK) and turn and turn.host == self.target.name:
            details = [dict(block.detail) for block in turn.thinking if block.detail is not None]
            if details:
                members["reasoning_details"] = details
        return members


def _others(message: Message) -> dict[str, Json]:
    """What the caller wrote beside the members that are known of this role; a null among it too."""
    known = _REPLACED.get(message.role, _EVERYWHERE)
    return {
        name: value
        for name, value in message.written.items()
        if name not in known and (value is not None or name not in _SAYS_NOTHING)
    }


def _file(file: Mapping[str, Json], media: Mapping[str, Media]) -> dict[str, Json]:
    sent = dict(file)
    if "file_data" in sent:
        sent["file_data"] = inlined(sent["file_data"], media)
    return sent


def _with_text(content: Json, text: str) -> Json:
    """Content followed by more text, as what it was: a string or parts."""
    if not content:
        return text
    if isinstance(content, str):
        return f"{content}\n\n{text}"
    return [*content, {"type": "text", "text": text}]
