"""One message's content as Converse blocks: text, media, tool calls and their results, thinking put back.

It looks at one message at a time; turns and their order are in `history`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import orjson

from core.catalog.model import Target
from core.chat import (
    AudioPart,
    FilePart,
    ImagePart,
    Json,
    Message,
    Part,
    RefusalPart,
    SealedThinking,
    TextPart,
    ToolCall,
)
from core.errors import InvalidRequest
from core.providers.base import Prepared
from core.providers.bedrock.caching import cache_points
from core.providers.bedrock.media import audio_block, document_name, file_block, image_block
from core.providers.call_arguments import as_object, is_object
from core.providers.custom_tools import INPUT
from core.providers.fields import Disposed
from core.providers.remembered import after_calls, own_turn

Block: TypeAlias = dict[str, Json]

# A result must hold something, and text must not be blank (wire reference, 4.0 and 4.4, read 2026-11-30).
_NO_RESULT: Final[Block] = {"text": "(no output)"}

_LONGEST_TOOL_NAME: Final = 64
_NOT_IN_TOOL_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class Content:
    """Says messages in blocks for one target.

    `ids` gives the id to send for every tool call id; `names` are those that documents have so far.
    """

    target: Target
    prepared: Prepared
    disposed: Disposed
    ids: Mapping[str, str]
    names: set[str] = field(default_factory=set)

    def spoken(self, message: Message, index: int) -> list[Block]:
        """What a user, a system message or an assistant says, without what is blank."""
        blocks: list[Block] = []
        for place, part in enumerate(message.parts):
            block = self._part(part, f"messages[{index}].content[{place}]")
            if block is not None:
                blocks.append(block)
                if not isinstance(part, RefusalPart):
                    blocks += cache_points(part.breakpoint, self.disposed)
        return blocks

    def answered(self, message: Message, index: int) -> list[Block]:
        """An assistant's turn: thinking where it was, then text, then calls."""
        spoken = self.spoken(message, index)
        if message.audio_transcript and not spoken:
            spoken += texts(message.audio_transcript)
        if message.refusal:
            spoken += texts(message.refusal)
        thinking = self.remembered(message.tool_calls)
        blocks = [*map(_sealed, after_calls(thinking, 0)), *spoken]
        last = len(message.tool_calls)
        for number, call in enumerate(message.tool_calls, start=1):
            blocks.append(self._call(call))
            blocks += map(_sealed, after_calls(thinking, number, is_last=number == last))
        return blocks

    def result(self, message: Message) -> list[Block]:
        """A tool's result, with a cache point where one of its parts is marked."""
        call_id = message.tool_call_id or ""
        parts = [part for part in message.parts if isinstance(part, TextPart)]
        result = {"toolUseId": self.ids.get(call_id, call_id), "content": _results([part.text for part in parts])}
        marks = [part.breakpoint for part in parts if part.breakpoint is not None]
        return [{"toolResult": result}, *cache_points(marks[-1] if marks else None, self.disposed)]

    def remembered(self, calls: Sequence[ToolCall]) -> tuple[SealedThinking, ...]:
        """The sealed thinking that this very host did before these calls; it is worth nothing elsewhere."""
        turn = own_turn(self.prepared.turns, calls, self.target)
        return tuple(
            block
            for block in (turn.thinking if turn else ())
            if block.signature is not None or block.redacted is not None
        )

    def _part(self, part: Part, at: str) -> Block | None:
        match part:
            case TextPart():
                return {"text": part.text} if part.text.strip() else None
            case RefusalPart():
                return {"text": part.refusal} if part.refusal.strip() else None
            case ImagePart():
                return image_block(part, self.prepared.media, at)
            case AudioPart():
                return audio_block(part, at)
            case _:
                return self._file(part, at)

    def _file(self, part: FilePart, at: str) -> Block:
        if part.data is None:
            said = "The file is kept by another vendor. Send its bytes in 'file_data'."
            raise InvalidRequest(said, param=f"{at}.file.file_id", code="unsupported_parameter")
        is_named = self.disposed.sends("messages[].content[].file.filename")
        name = document_name(part.filename if is_named else None, self.names)
        return file_block(part, self.prepared.media, at, name)

    def _call(self, call: ToolCall) -> Block:
        given = {INPUT: call.arguments} if call.kind == "custom" else as_object(call.arguments)
        return {
            "toolUse": {
                "toolUseId": self.ids.get(call.id, call.id),
                "name": tool_name(call.name),
                "input": given,
            }
        }


def texts(text: str) -> list[Block]:
    """A text as blocks: none when it is blank."""
    return [{"text": text}] if text.strip() else []


def tool_name(name: str) -> str:
    """A tool's name in the format's alphabet; only histories of other models have others."""
    return _NOT_IN_TOOL_NAMES.sub("_", name)[:_LONGEST_TOOL_NAME]


def _sealed(block: SealedThinking) -> Block:
    if block.redacted is not None:
        return {"reasoningContent": {"redactedContent": block.redacted}}
    return {"reasoningContent": {"reasoningText": {"text": block.text, "signature": block.signature}}}


def _results(said: Sequence[str]) -> list[Block]:
    if len(said) == 1 and is_object(said[0]):
        return [{"json": orjson.Fragment(said[0])}]
    return [block for text in said for block in texts(text)] or [_NO_RESULT]
