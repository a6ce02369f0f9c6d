"""Citations, with offsets in characters."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.providers.gemini.grounding import annotations

SOURCES = [{"web": {"uri": "https://a", "title": "A"}}, {"maps": {"uri": "https://b"}}, {"web": {"title": "none"}}, 3]


def cited(text: str, segment: Any, indices: Any = (0,), sources: Any = SOURCES) -> list[tuple[int, int, str, str]]:
    listed = list(indices) if isinstance(indices, tuple) else indices
    support = {"segment": segment, "groundingChunkIndices": listed}
    notes = annotations(text, {"groundingChunks": sources, "groundingSupports": [support]})
    assert all(note["type"] == "url_citation" for note in notes)
    found = [note["url_citation"] for note in notes]
    return [(each["start_index"], each["end_index"], each["title"], each["url"]) for each in found]


A = ("A", "https://a")


def test_every_source_of_a_segment_is_cited_if_it_has_an_address() -> None:
    indices = (0, 1, 2, 3, 4, -1, "0", True)
    assert cited("Hi.", {"endIndex": 3}, indices) == [(0, 3, *A), (0, 3, "", "https://b")]


@pytest.mark.parametrize(
    ("text", "segment", "place"),
    [
        ("Hello.", {"startIndex": 1, "endIndex": 4}, (1, 4)),
        ("Hello.", {"endIndex": 99}, (0, 6)),
        ("Ü is ü.", {"startIndex": 6, "endIndex": 8, "text": "ü"}, (5, 6)),
        ("日本。", {"startIndex": 3, "endIndex": 6}, (1, 2)),
        ("日本。", {"startIndex": 3, "endIndex": 99}, (1, 3)),
        ("one two", {"startIndex": 0, "endIndex": 3, "text": "two"}, (4, 7)),
        ("one two", {"text": "two"}, (4, 7)),
        ("one two", {"startIndex": -1, "endIndex": 2, "text": "two"}, (4, 7)),
    ],
)
def test_where_a_segment_is(text: str, segment: Any, place: tuple[int, int]) -> None:
    assert cited(text, segment) == [(*place, *A)]


@pytest.mark.parametrize(
    "segment",
    [
        None,
        {},
        {"startIndex": 3, "endIndex": 3},
        {"startIndex": 50, "endIndex": 60},
        {"endIndex": 3, "text": "nowhere"},
        {"endIndex": 3, "text": ""},
        {"endIndex": 3, "text": 3},
        {"startIndex": "0", "endIndex": 2},
        {"startIndex": 0, "endIndex": 2.0},
    ],
)
def test_a_segment_that_is_nowhere_is_not_cited(segment: Any) -> None:
    assert cited("one two", segment) == []


@pytest.mark.parametrize("metadata", [{}, {"groundingSupports": 3}, {"groundingSupports": ["x", {}]}])
def test_nothing_to_cite(metadata: dict[str, Any]) -> None:
    assert annotations("Hi.", metadata) == ()
    assert cited("Hi.", {"endIndex": 3}, 3) == []
    assert cited("Hi.", {"endIndex": 3}, (0,), None) == []


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20), st.data())
def test_bytes_are_characters_wherever_they_are(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    segment = {"startIndex": len(text[:start].encode()), "endIndex": len(text[:end].encode()), "text": text[start:end]}
    assert cited(text, segment) == [(start, end, *A)]
