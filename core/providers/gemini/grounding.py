"""What an answer is grounded on, as OpenAI's `url_citation`s: Gemini counts bytes, OpenAI characters."""

from bisect import bisect_left
from collections.abc import Mapping
from itertools import accumulate
from typing import Final

from core.chat import Json

_SOURCES: Final = ("web", "retrievedContext", "maps")


def annotations(text: str, metadata: Mapping[str, Json]) -> tuple[Json, ...]:
    """One annotation for each source of each supported piece of the text.

    Args:
        text: The whole answer.
        metadata: Its `groundingMetadata`.
    """
    sources = [_source(chunk) for chunk in _objects(metadata, "groundingChunks")]
    offsets = _Offsets(text)
    found: list[Json] = []
    for support in _objects(metadata, "groundingSupports"):
        segment = support.get("segment")
        place = offsets.place(segment) if isinstance(segment, dict) else None
        indices = support.get("groundingChunkIndices")
        if place is None or not isinstance(indices, list):
            continue
        for index in indices:
            source = sources[index] if type(index) is int and 0 <= index < len(sources) else None
            if source is not None:
                citation = {"start_index": place[0], "end_index": place[1], **source}
                found.append({"type": "url_citation", "url_citation": citation})
    return tuple(found)


class _Offsets:
    """Turns places in bytes into places in characters."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends = None if text.isascii() else list(accumulate(len(char.encode()) for char in text))

    def place(self, segment: Mapping[str, Json]) -> tuple[int, int] | None:
        """Where a segment is. Offsets count from the start of its part, which in a stream is not the text's: where
        the words are not found at their offsets, they are looked for."""
        start, end = segment.get("startIndex", 0), segment.get("endIndex")
        words = segment.get("text")
        if type(start) is int and type(end) is int and 0 <= start < end:
            place = self._character(start), self._character(end)
            if words is None or self._text[slice(*place)] == words:
                return place if place[0] < place[1] else None
        at = self._text.find(words) if isinstance(words, str) and words else -1
        return None if at < 0 else (at, at + len(words))

    def _character(self, byte: int) -> int:
        if self._ends is None:
            return min(byte, len(self._text))
        return min(bisect_left(self._ends, byte) + 1, len(self._text)) if byte else 0


def _source(chunk: Mapping[str, Json]) -> dict[str, str] | None:
    for kind in _SOURCES:
        source = chunk.get(kind)
        if isinstance(source, dict) and isinstance(source.get("uri"), str):
            title = source.get("title")
            return {"title": title if isinstance(title, str) else "", "url": source["uri"]}
    return None


def _objects(metadata: Mapping[str, Json], name: str) -> list[Mapping[str, Json]]:
    """The entries of a list; what is no object keeps its place."""
    entries = metadata.get(name)
    return [entry if isinstance(entry, dict) else {} for entry in entries] if isinstance(entries, list) else []
