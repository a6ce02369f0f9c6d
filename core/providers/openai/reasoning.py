"""Reads thinking out of deltas: from one of the fields that hosts use for it, never from two."""

from collections.abc import Mapping
from typing import Any, Final

from core.chat import Json, SealedThinking
from core.events import Event, ThinkingSealed

# In this order (wire reference, 7.5, read 2026-11-30). The last is read from `reasoning_details`.
_FIELDS: Final = ("reasoning_content", "reasoning")
_DETAILS: Final = "reasoning_details"
_GROWING: Final = ("text", "summary", "data")


class ReasoningReader:
    """The readable thinking of one choice, and the sealed details that some hosts want back."""

    __slots__ = ("_choice", "_details", "_source")

    def __init__(self, choice: int) -> None:
        self._choice = choice
        self._source = ""
        self._details: list[tuple[dict[str, Any], int]] = []

    def text(self, delta: Mapping[str, Json]) -> str:
        """The thinking in a delta; once a field has brought some, the others are copies of it."""
        for source in (self._source,) if self._source else (*_FIELDS, _DETAILS):
            value = delta.get(source)
            if source == _DETAILS:
                value = _details_text(value)
            if isinstance(value, str) and value:
                self._source = source
                return value
        return ""

    def collect(self, details: Json, calls: int, *, is_whole: bool) -> None:
        """Take `reasoning_details`; pieces of one entry carry its index, those of a whole answer are entries already.

        Args:
            details: The list.
            calls: How many tool calls the choice has so far.
            is_whole: Whether it is of a whole answer.
        """
        for entry in details if isinstance(details, list) else ():
            if isinstance(entry, dict):
                earlier = None if is_whole else self._entry(entry)
                if earlier is None:
                    self._details.append((dict(entry), calls))
                else:
                    _grow(earlier, entry)

    def end(self, events: list[Event]) -> None:
        """Let the collected details out, in order."""
        for detail, calls in self._details:
            events.append(ThinkingSealed(self._choice, SealedThinking(detail=detail, calls_before=calls)))
        self._details = []

    def _entry(self, piece: Mapping[str, Json]) -> dict[str, Any] | None:
        """The entry that a piece continues."""
        kind, index = piece.get("type"), piece.get("index")
        if index is None:
            last = self._details[-1][0] if self._details else {}
            grows = kind in ("reasoning.text", "reasoning.summary") and last.get("index") is None
            return last if grows and last.get("type") == kind else None
        for detail, _ in self._details:
            if detail.get("index") == index and detail.get("type") == kind:
                return detail
        return None


def _grow(entry: dict[str, Any], piece: Mapping[str, Json]) -> None:
    for name, value in piece.items():
        if name in _GROWING and isinstance(value, str) and isinstance(entry.get(name), str):
            entry[name] += value
        elif value is not None:
            entry[name] = value


def _details_text(details: Json) -> str:
    if not isinstance(details, list):
        return ""
    texts = (entry.get("text") or entry.get("summary") for entry in details if isinstance(entry, dict))
    return "".join(text for text in texts if isinstance(text, str))
