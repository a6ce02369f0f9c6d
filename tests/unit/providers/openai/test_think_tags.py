"""Thinking in tags."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.providers.openai.think_tags import ThinkTags
from tests.support.splitting import cut


def split(pieces: list[str], *, assume_open: bool = False, is_whole: bool = True) -> tuple[str, str]:
    tags = ThinkTags(assume_open=assume_open)
    parts = [tags.split(piece) for piece in pieces] + [tags.end(is_whole=is_whole)]
    return "".join(part.thinking for part in parts), "".join(part.text for part in parts)


@pytest.mark.parametrize(
    ("content", "thinking", "text"),
    [
        ("Yes.", "", "Yes."),
        ("  Yes.", "", "  Yes."),
        ("<think>\nHm.</think>\n\nYes.", "Hm.", "Yes."),
        (" \n<think>Hm.</think>Yes.", "Hm.", "Yes."),
        ("<thinking>Hm.</thinking>Yes.", "Hm.", "Yes."),
        ("<reasoning>Hm.</reasoning>Yes.", "Hm.", "Yes."),
        ("<think></think>Yes.", "", "Yes."),
        ("<think>a < b </th </think>Yes </think>.", "a < b </th ", "Yes </think>."),
        ("Yes <think>no</think>", "", "Yes <think>no</think>"),
        ("<thin", "", "<thin"),
        ("<b>Yes</b>", "", "<b>Yes</b>"),
        ("<think>Hm.", "Hm.", ""),
        ("<think>Hm.</thi", "Hm.</thi", ""),
        ("", "", ""),
        (" ", "", " "),
    ],
)
def test_tags_at_the_start_are_thinking(content: str, thinking: str, text: str) -> None:
    assert split([content]) == (thinking, text)
    assert split(list(content)) == (thinking, text)


@pytest.mark.parametrize(
    ("content", "whole", "cut_short"),
    [
        ("Hm.\n</think>\nYes.", ("Hm.\n", "Yes."), ("Hm.\n", "Yes.")),
        ("<think>Hm.</think>Yes.", ("Hm.", "Yes."), ("Hm.", "Yes.")),
        # Wrongly assumed: all of it was the answer. Cut at the limit it was thinking.
        ("Yes, </thi", ("Yes, </thi", "Yes, </thi"), ("Yes, </thi", "")),
        ("<think>Hm.", ("Hm.", ""), ("Hm.", "")),
    ],
)
def test_where_only_the_closing_tag_comes(content: str, whole: tuple[str, str], cut_short: tuple[str, str]) -> None:
    for pieces in ([content], list(content)):
        assert split(pieces, assume_open=True) == whole
        assert split(pieces, assume_open=True, is_whole=False) == cut_short


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<thin", "k>", "\n", " ", "a", "</", "<"]), max_size=12),
    st.booleans(),
    st.data(),
)
def test_how_the_content_is_cut_never_shows(words: list[str], assume_open: bool, data: st.DataObject) -> None:
    content = "".join(words)
    at = data.draw(st.lists(st.integers(0, len(content)), max_size=6))
    pieces = [piece.decode() for piece in cut(content.encode(), at)]
    assert split(pieces, assume_open=assume_open) == split([content], assume_open=assume_open)
