"""The content blocks of one answer to events: begun, added to and ended by their index.

A whole answer is read by the same steps: each of its blocks comes complete, then ends.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypeVar

import orjson

from core.chat import Json, SealedThinking
from core.events import (
    AnnotationsAdded,
    Event,
    ReasoningDelta,
    TextDelta,
    ThinkingSealed,
    ToolCallDelta,
    ToolCallStarted,
)
from core.providers.custom_tools import unwrapped
from core.providers.failure_words import bad_reply

_BETWEEN: Final = "\n\n"


@dataclass(slots=True)
class _Text:
    start: int
    citations: list[Json] = field(default_factory=list)


@dataclass(slots=True)
class _Thinking:
    calls_before: int
    pieces: list[str] = field(default_factory=list)
    signature: str | None = None
    redacted: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Call:
    number: int
    is_wrapped: bool
    pieces: list[str] = field(default_factory=list)


class _Ignored:
    """What callers never see: the service's own tools and what they found, images, blocks that are not known yet."""


_Block: TypeAlias = _Text | _Thinking | _Call | _Ignored
_Kind = TypeVar("_Kind", _Text, _Thinking)


class BlockReader:
    """The blocks of one answer.

    Args:
        custom_tools: Free-text tools that were sent as functions; their calls are held until they are whole.
    """

    __slots__ = ("_calls", "_custom_tools", "_has_thought", "_length", "_open")

    def __init__(self, custom_tools: frozenset[str]) -> None:
        self._custom_tools = custom_tools
        self._open: dict[int, _Block] = {}
        self._calls = 0
        self._length = 0
        self._has_thought = False

    def start(self, index: int, start: Mapping[str, Json], events: list[Event]) -> None:
        """A block begins that does not begin with its first piece: a tool call, or something to leave out.

        Raises:
            BadReply: A tool call has no name.
        """
        self.stop(index, events)
        call = start.get("toolUse")
        if isinstance(call, Mapping) and call.get("type") is None:
            self._open[index] = self._called(call, events)
        else:
            self._open[index] = _Ignored()

    def add(self, index: int, delta: Mapping[str, Json], events: list[Event]) -> None:
        """A piece of a block; text and thinking begin with theirs.

        Raises:
            BadReply: It belongs to no tool call that began.
        """
        block = self._open.get(index)
        if isinstance(block, _Ignored):
            return
        text, thinking, call = delta.get("text"), delta.get("reasoningContent"), delta.get("toolUse")
        if isinstance(text, str):
            self._at(index, _Text(self._length), events)
            self._add_text(text, events)
        elif isinstance(thinking, Mapping):
            self._add_thinking(self._at(index, _Thinking(self._calls), events), thinking, events)
        elif isinstance(call, Mapping):
            if not isinstance(block, _Call):
                raise bad_reply("arguments belong to no tool call")
            _add_arguments(block, call.get("input"), events)
        elif "citation" in delta:
            self._at(index, _Text(self._length), events).citations.append(delta["citation"])

    def stop(self, index: int, events: list[Event]) -> None:
        """A block ends; one that is not open has ended before."""
        match self._open.pop(index, None):
            case _Text() as text:
                notes = tuple(note for citation in text.citations if (note := self._annotation(citation, text.start)))
                if notes:
                    events.append(AnnotationsAdded(0, notes))
            case _Thinking() as thinking:
                events.extend(_sealed(thinking))
            case _Call(is_wrapped=True) as call:
                events.append(ToolCallDelta(0, call.number, unwrapped("".join(call.pieces))))
            case _:
                pass

    def end(self, events: list[Event]) -> None:
        """End what a host left open."""
        for index in list(self._open):
            self.stop(index, events)

    def whole(self, index: int, block: Mapping[str, Json], events: list[Event]) -> None:
        """A block of a whole answer.

        Raises:
            BadReply: A tool call has no name.
        """
        call, thinking, cited = block.get("toolUse"), block.get("reasoningContent"), block.get("citationsContent")
        if isinstance(call, Mapping):
            self.start(index, block, events)
            self.add(index, {"toolUse": {"input": call.get("input")}}, events)
        elif isinstance(thinking, Mapping):
            readable = thinking.get("reasoningText")
            for piece in (readable, thinking):
                if isinstance(piece, Mapping):
                    self.add(index, {"reasoningContent": piece}, events)
        elif isinstance(cited, Mapping):
            for piece in _objects(cited.get("content")):
                self.add(index, {"text": piece.get("text")}, events)
            for citation in _objects(cited.get("citations")):
                self.add(index, {"citation": citation}, events)
        else:
            self.add(index, {"text": block.get("text")}, events)
        self.stop(index, events)

    def _at(self, index: int, fresh: _Kind, events: list[Event]) -> _Kind:
        """The open block of that kind, or a fresh one in place of what is there."""
        block = self._open.get(index)
        if isinstance(block, type(fresh)):
            return block
        self.stop(index, events)
        self._open[index] = fresh
        return fresh

    def _add_text(self, piece: str, events: list[Event]) -> None:
        if piece:
            self._length += len(piece)
            events.append(TextDelta(0, piece))

    def _add_thinking(self, block: _Thinking, delta: Mapping[str, Json], events: list[Event]) -> None:
        text, signature, redacted = delta.get("text"), delta.get("signature"), delta.get("redactedContent")
        if isinstance(text, str) and text:
            # A blank line between blocks, for readers; what goes back to the host has none.
            between = _BETWEEN if self._has_thought and not block.pieces else ""
            self._has_thought = True
            block.pieces.append(text)
            events.append(ReasoningDelta(0, between + text))
        if isinstance(signature, str):
            block.signature = (block.signature or "") + signature
        if isinstance(redacted, str):
            block.redacted.append(redacted)

    def _called(self, said: Mapping[str, Json], events: list[Event]) -> _Call:
        name, call_id = said.get("name"), said.get("toolUseId")
        if not isinstance(name, str) or not name:
            raise bad_reply("a tool call has no name")
        call = _Call(self._calls, name in self._custom_tools)
        self._calls += 1
        call_id = call_id if isinstance(call_id, str) else ""
        events.append(ToolCallStarted(0, call.number, call_id, name, "custom" if call.is_wrapped else "function"))
        return call

    def _annotation(self, citation: Json, start: int) -> Json:
        """A citation in OpenAI's shape, for the text of its block; None for places that OpenAI does not have."""
        location = citation.get("location") if isinstance(citation, Mapping) else None
        web = location.get("web") if isinstance(location, Mapping) else None
        if not isinstance(web, Mapping) or not isinstance(web.get("url"), str):
            return None
        found = {
            "url": web["url"],
            "title": citation.get("title") or web.get("domain") or "",
            "start_index": start,
            "end_index": self._length,
        }
        return {"type": "url_citation", "url_citation": found}


def _add_arguments(call: _Call, piece: Json, events: list[Event]) -> None:
    if isinstance(piece, Mapping):  # the form of whole answers
        piece = orjson.dumps(piece).decode()
    if isinstance(piece, str) and piece:
        call.pieces.append(piece)
        if not call.is_wrapped:
            events.append(ToolCallDelta(0, call.number, piece))


def _sealed(thinking: _Thinking) -> list[Event]:
    """What the model wants back: thinking with its seal, and what it sealed whole. The rest nobody asks for."""
    seals: list[SealedThinking] = []
    if thinking.signature is not None:
        text = "".join(thinking.pieces)
        seals.append(SealedThinking(text, thinking.signature, calls_before=thinking.calls_before))
    if thinking.redacted:
        redacted = _joined(thinking.redacted)
        seals.append(SealedThinking(redacted=redacted, calls_before=thinking.calls_before))
    return [ThinkingSealed(0, seal) for seal in seals]


def _joined(pieces: list[str]) -> str:
    """Base64 of what pieces in base64 hold together."""
    if len(pieces) == 1:
        return pieces[0]
    try:
        return b64encode(b"".join(b64decode(piece, validate=True) for piece in pieces)).decode()
    except ValueError as error:
        raise bad_reply("redacted thinking is not base64") from error


def _objects(value: Json) -> list[Mapping[str, Json]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
