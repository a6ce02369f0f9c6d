"""The content blocks of one answer to events: opened, added to and closed by their index.

A whole answer is read by the same steps: each of its blocks is opened complete, then closed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

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
    signature: str | None = None
    pieces: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Call:
    number: int
    is_wrapped: bool
    given: Json
    pieces: list[str] = field(default_factory=list)


class _Ignored:
    """What callers never see: server tools and what they found, blocks that are not known yet."""


_Block: TypeAlias = _Text | _Thinking | _Call | _Ignored


class BlockReader:
    """The blocks of one answer.

    Args:
        custom_tools: Free-text tools that were sent as functions; their calls are held until they are whole.
    """

    __slots__ = ("_calls", "_custom_tools", "_has_thought", "_length", "_open")

    def __init__(self, custom_tools: frozenset[str]) -> None:
        self._custom_tools = custom_tools
        self._open: dict[int | None, _Block] = {}
        self._calls = 0
        self._length = 0
        self._has_thought = False

    def open(self, index: int | None, block: Mapping[str, Json], events: list[Event]) -> None:
        """A block begins, with whatever stands in it already.

        Raises:
            BadReply: A tool call has no name.
        """
        self.close(index, events)
        match block.get("type"):
            case "text":
                text = self._open[index] = _Text(self._length)
                self._add_text(block.get("text"), events)
                citations = block.get("citations")
                text.citations.extend(citations if isinstance(citations, list) else ())
            case "thinking":
                thinking = self._open[index] = _Thinking(self._calls)
                self._add_thinking(thinking, block.get("thinking"), events)
                thinking.signature = _string(block.get("signature"))
            case "redacted_thinking":
                self._open[index] = _Ignored()
                data = block.get("data")
                if isinstance(data, str):
                    events.append(ThinkingSealed(0, SealedThinking(redacted=data, calls_before=self._calls)))
            case "tool_use":
                self._open[index] = self._started(block, events)
            case _:
                self._open[index] = _Ignored()

    def add(self, index: int | None, delta: Mapping[str, Json], events: list[Event]) -> None:
        """A piece of an open block.

        Raises:
            BadReply: There is no such block.
        """
        block = self._open.get(index)
        match block:
            case _Text():
                if delta.get("type") == "citations_delta":
                    block.citations.append(delta.get("citation"))
                else:
                    self._add_text(delta.get("text"), events)
            case _Call():
                _add_arguments(block, delta.get("partial_json"), events)
            case _Thinking():
                self._add_thinking(block, delta.get("thinking"), events)
                block.signature = _string(delta.get("signature")) or block.signature
            case None:
                raise bad_reply("a delta belongs to no block")
            case _:
                pass

    def close(self, index: int | None, events: list[Event]) -> None:
        """A block ends; one that is not open has ended before."""
        match self._open.pop(index, None):
            case _Text() as text:
                notes = tuple(note for citation in text.citations if (note := self._annotation(citation, text.start)))
                if notes:
                    events.append(AnnotationsAdded(0, notes))
            case _Thinking() as thinking:
                sealed = SealedThinking(
                    "".join(thinking.pieces), thinking.signature, calls_before=thinking.calls_before
                )
                events.append(ThinkingSealed(0, sealed))
            case _Call() as call:
                _complete(call, events)
            case _:
                pass

    def end(self, events: list[Event]) -> None:
        """Close what a host left open."""
        for index in list(self._open):
            self.close(index, events)

    def _add_text(self, piece: Json, events: list[Event]) -> None:
        if isinstance(piece, str) and piece:
            self._length += len(piece)
            events.append(TextDelta(0, piece))

    def _add_thinking(self, block: _Thinking, piece: Json, events: list[Event]) -> None:
        if isinstance(piece, str) and piece:
            # A blank line between blocks, for readers; what goes back to the host has none.
            between = _BETWEEN if self._has_thought and not block.pieces else ""
            self._has_thought = True
            block.pieces.append(piece)
            events.append(ReasoningDelta(0, between + piece))

    def _started(self, block: Mapping[str, Json], events: list[Event]) -> _Call:
        name = block.get("name")
        if not isinstance(name, str) or not name:
            raise bad_reply("a tool call has no name")
        call = _Call(self._calls, name in self._custom_tools, block.get("input"))
        self._calls += 1
        call_id = _string(block.get("id")) or ""
        events.append(ToolCallStarted(0, call.number, call_id, name, "custom" if call.is_wrapped else "function"))
        return call

    def _annotation(self, citation: Json, start: int) -> Json:
        """A citation in OpenAI's shape, for the text of its block; None for kinds that OpenAI does not have."""
        if not isinstance(citation, dict) or citation.get("type") != "web_search_result_location":
            return None
        found = {
            "url": citation.get("url"),
            "title": citation.get("title") or "",
            "start_index": start,
            "end_index": self._length,
        }
        return {"type": "url_citation", "url_citation": found}


def _add_arguments(call: _Call, piece: Json, events: list[Event]) -> None:
    if isinstance(piece, str) and piece:
        call.pieces.append(piece)
        if not call.is_wrapped:
            events.append(ToolCallDelta(0, call.number, piece))


def _complete(call: _Call, events: list[Event]) -> None:
    """Let out what was held. The input that a block begins with is only a placeholder if pieces follow."""
    given = orjson.dumps(call.given).decode() if isinstance(call.given, dict) else "{}"
    if call.is_wrapped:
        events.append(ToolCallDelta(0, call.number, unwrapped("".join(call.pieces) or given)))
    elif not call.pieces:
        events.append(ToolCallDelta(0, call.number, given))


def _string(value: Json) -> str | None:
    return value if isinstance(value, str) else None
