"""One message's content as blocks: text, images, documents, tool calls and their results, thinking put back.

It looks at one message at a time; turns and their order are in `history`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

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
from core.providers.anthropic.caching import marked
from core.providers.anthropic.media import document_block, image_block
from core.providers.base import Prepared
from core.providers.call_arguments import as_object
from core.providers.custom_tools import INPUT
from core.providers.fields import Disposed
from core.providers.remembered import after_calls, own_turn

Block: TypeAlias = dict[str, Json]

_NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME: Final = 128


@dataclass(frozen=True, slots=True)
class Content:
    """Says messages in blocks for one target. `ids` gives the id to send for every tool call id."""

    target: Target
    prepared: Prepared
    disposed: Disposed
    ids: Mapping[str, str]

    def spoken(self, message: Message, index: int) -> list[Block]:
        """What a user, a system message or an assistant says, without what is blank."""
        blocks: list[Block] = []
        for place, part in enumerate(message.parts):
            block = self._part(part, f"messages[{index}].content[{place}]")
            if block is not None:
                blocks.append(block)
        return blocks

    def answered(self, message: Message, index: int) -> list[Block]:
        """An assistant's turn: thinking where it was, then text, then calls."""
        spoken = self.spoken(message, index)
        if message.audio_transcript and not spoken:
            spoken += _texts(message.audio_transcript)
        if message.refusal:
            spoken += _texts(message.refusal)
        thinking = self.remembered(message.tool_calls)
        blocks = [*map(_sealed, after_calls(thinking, 0)), *spoken]
        last = len(message.tool_calls)
        for number, call in enumerate(message.tool_calls, start=1):
            blocks.append(self._call(call))
            blocks += map(_sealed, after_calls(thinking, number, is_last=number == last))
        return blocks

    def result(self, message: Message) -> Block:
        """A tool's result. The format has cache marks on results, not inside them."""
        call_id = message.tool_call_id or ""
        block: Block = {"type": "tool_result", "tool_use_id": self.ids.get(call_id, call_id)}
        texts = [part for part in message.parts if isinstance(part, TextPart)]
        said = [text for part in texts for text in _texts(part.text)]
        if said:
            block["content"] = said[0]["text"] if len(said) == 1 else said
        marks = [part.breakpoint for part in texts if part.breakpoint is not None]
        return marked(block, marks[-1] if marks else None, self.disposed)

    def remembered(self, calls: Sequence[ToolCall]) -> tuple[SealedThinking, ...]:
        """The thinking that this very host did before these calls; it is worth nothing elsewhere."""
        turn = own_turn(self.prepared.turns, calls, self.target)
        return tuple(block for block in (turn.thinking if turn else ()) if block.detail is None)

    def _part(self, part: Part, at: str) -> Block | None:
        match part:
            case TextPart():
                if not part.text.strip():
                    return None
                return marked({"type": "text", "text": part.text}, part.breakpoint, self.disposed)
            case RefusalPart():
                return {"type": "text", "text": part.refusal} if part.refusal.strip() else None
            case ImagePart():
                block = image_block(part.url, self.prepared.media, f"{at}.image_url.url")
                return marked(block, part.breakpoint, self.disposed)
            case FilePart():
                return marked(self._file(part, f"{at}.file"), part.breakpoint, self.disposed)
            case AudioPart():
                path = f"{at}.input_audio"
                raise InvalidRequest("This model takes no audio.", param=path, code="unsupported_parameter")
            case _:
                assert_never(part)

    def _file(self, part: FilePart, at: str) -> Block:
        if part.data is None:
            path = f"{at}.file_id"
            said = "The file is kept by another vendor. Send its bytes in 'file_data'."
            raise InvalidRequest(said, param=path, code="unsupported_parameter")
        block = document_block(part.data, self.prepared.media, f"{at}.file_data")
        titled = part.filename and self.disposed.sends("messages[].content[].file.filename")
        return {**block, "title": part.filename} if titled and block["type"] == "document" else block

    def _call(self, call: ToolCall) -> Block:
        return {
            "type": "tool_use",
            "id": self.ids.get(call.id, call.id),
            "name": tool_name(call.name),
            "input": {INPUT: call.arguments} if call.kind == "custom" else as_object(call.arguments),
        }


def tool_name(called: str) -> str:
    """The name of a tool in the history as the format takes it; models of other makers call what they like."""
    return _NOT_IN_NAMES.sub("_", called)[:_LONGEST_NAME]


def _texts(text: str) -> list[Block]:
    return [{"type": "text", "text": text}] if text.strip() else []


def _sealed(block: SealedThinking) -> Block:
    if block.redacted is not None:
        return {"type": "redacted_thinking", "data": block.redacted}
    return {"type": "thinking", "thinking": block.text, "signature": block.signature or ""}
