"""What an answer is grounded on, as OpenAI's `url_citation`s: Gemini counts bytes, OpenAI characters."""

from bisect import bisect_right
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
        # Where each character ends, in bytes.
        self._ends = range(1, len(text) + 1) if text.isascii() else list(accumulate(map(_width, text)))

    def place(self, segment: Mapping[str, Json]) -> tuple[int, int] | None:
        """Where a segment is.

        Offsets count from the start of a part, which need not be the text's: words that are not there are looked for.
        """
        start, end = segment.get("startIndex", 0), segment.get("endIndex")
        words = segment.get("text")
        if type(start) is int and type(end) is int and 0 <= start < end:
            place = bisect_right(self._ends, start), bisect_right(self._ends, end)
            if words is None or self._text[slice(*place)] == words:
                return place if place[0] < place[1] else None
        if not isinstance(words, str) or words not in self._text:
            return None
        at = self._text.index(words)
        return (at, at + len(words)) if words else None


def _width(char: str) -> int:
    return len(char.encode())


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
