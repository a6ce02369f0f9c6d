"""One message of the history as Gemini's parts: text, media, calls and results, each signature on the part it came on.

It looks at one message, or one run of results, at a time; turns are in `history`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from core.catalog.model import Target
from core.chat import Json, Message, RefusalPart, SealedThinking, TextPart, ToolCall
from core.ports import ToolTurn
from core.providers.base import Prepared
from core.providers.call_arguments import RAW
from core.providers.custom_tools import INPUT
from core.providers.gemini.media import media_part
from core.providers.gemini.objects import object_in
from core.providers.remembered import own_turn

GeminiPart: TypeAlias = dict[str, Json]

SIGNATURE: Final = "thoughtSignature"
_BETWEEN: Final = "\n"


@dataclass(frozen=True, slots=True)
class Wording:
    """Says messages in parts for one target."""

    target: Target
    prepared: Prepared

    def spoken(self, message: Message, index: int) -> list[GeminiPart]:
        """What a user or a system message says; empty text is refused and left out."""
        parts: list[GeminiPart] = []
        for place, part in enumerate(message.parts):
            if isinstance(part, TextPart | RefusalPart):
                parts += _plain([_words(part)])
            else:
                parts.append(media_part(part, self.prepared.media, f"messages[{index}].content[{place}]"))
        return parts

    def answered(self, message: Message) -> list[GeminiPart]:
        """An assistant's turn: text, then calls, with what this host has signed where it was."""
        turn = own_turn(self.prepared.turns, message.tool_calls, self.target)
        calls = [self._call(call, turn) for call in message.tool_calls]
        return _woven(_texts(message), calls, turn.thinking if turn else ())

    def results(self, calls: Sequence[ToolCall], messages: Sequence[Message]) -> list[GeminiPart]:
        """The results of one step in the order of its calls: where no ids are, the order links them."""
        turn = own_turn(self.prepared.turns, calls, self.target)
        parts: list[GeminiPart] = []
        left = list(messages)
        for call in calls:
            # Every call has its result, and every result its call: else the request was refused.
            place = next(place for place, message in enumerate(left) if message.tool_call_id == call.id)
            result = _result(left.pop(place))
            parts.append({"functionResponse": {**_id(call, turn), "name": call.name, "response": result}})
        return parts

    def _call(self, call: ToolCall, turn: ToolTurn | None) -> GeminiPart:
        part: GeminiPart = {"functionCall": {**_id(call, turn), "name": call.name, "args": _arguments(call)}}
        signature = turn.signatures.get(call.id) if turn else None
        if signature is not None:
            part[SIGNATURE] = signature
        return part


def _id(call: ToolCall, turn: ToolTurn | None) -> dict[str, Json]:
    """The id that the host itself gave, for call and result alike; ours would mean nothing to it."""
    known = turn.upstream_ids.get(call.id) if turn else None
    return {"id": known} if known else {}


def _arguments(call: ToolCall) -> dict[str, Json]:
    if call.kind == "custom":
        return {INPUT: call.arguments}
    if not call.arguments.strip():
        return {}
    found = object_in(call.arguments)
    return {RAW: call.arguments} if found is None else found


def _result(message: Message) -> dict[str, Json]:
    text = _BETWEEN.join(part.text for part in message.parts if isinstance(part, TextPart))
    # The host takes a member of this name for a reference of its own, and refuses what it does not find.
    found = None if '"$ref"' in text else object_in(text)
    return {"output": text} if found is None else found


def _words(part: TextPart | RefusalPart) -> str:
    return part.refusal if isinstance(part, RefusalPart) else part.text


def _texts(message: Message) -> list[str]:
    texts = [_words(part) for part in message.parts if isinstance(part, TextPart | RefusalPart)]
    if message.audio_transcript and not any(texts):
        texts.append(message.audio_transcript)
    if message.refusal:
        texts.append(message.refusal)
    return [text for text in texts if text]


def _woven(texts: Sequence[str], calls: Sequence[GeminiPart], thinking: Sequence[SealedThinking]) -> list[GeminiPart]:
    """All parts in their old order. Where plain text stood among calls is not known: it goes before them."""
    gaps = _split(texts, [block.detail.get("text", "") for block in thinking if block.detail is not None])
    first: list[GeminiPart] = []
    after: list[list[GeminiPart]] = [[] for _ in calls]
    for block in thinking:
        part: GeminiPart
        if block.detail is not None:
            if len(gaps) == 1:
                continue  # the caller has changed the text
            first += _plain(gaps.pop(0))
            part = dict(block.detail)
        elif block.signature is not None:
            part = {"text": block.text, "thought": True, SIGNATURE: block.signature}
        else:
            continue
        (after[min(block.calls_before, len(calls)) - 1] if block.calls_before else first).append(part)
    parts = first + _plain(gaps[0])
    for call, signed in zip(calls, after, strict=True):
        parts += [call, *signed]
    return parts


def _split(texts: Sequence[str], signed: Sequence[str]) -> list[Sequence[str]]:
    """What stands before, between and behind the signed pieces of a text; all in one when a piece is not there."""
    if not signed:
        return [texts]
    gaps: list[Sequence[str]] = []
    rest = "".join(texts)
    for piece in reversed(signed):
        start = rest.rfind(piece)
        if start < 0:
            return [texts]
        gaps.insert(0, [rest[start + len(piece) :]])
        rest = rest[:start]
    return [[rest], *gaps]


def _plain(texts: Iterable[str]) -> list[GeminiPart]:
    return [{"text": text} for text in texts if text]
