"""What a text makes at most is no less than what any vocabulary makes of it."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.routing.tokens import counted
from core.tokens import estimated_text_tokens, most_text_tokens

texts = st.text(max_size=400)
any_size = st.builds(lambda text, times: text * times, texts, st.sampled_from([1, 3, 50]))


def test_no_text_that_was_counted_makes_more() -> None:
    found = counted()
    assert len(found) > 250, "too few texts are as they were when they were counted: count them again"
    assert [each for each in found if each.most < max(each.real)] == []


def test_of_ordinary_texts_it_is_not_far_above() -> None:
    for each in counted():
        if each.language in ("en", "zh"):
            assert each.most < 2.5 * max(each.real), each


@given(any_size)
def test_it_is_never_above_the_bytes(text: str) -> None:
    size = len(text.encode("utf-8", "replace"))
    assert min(1, size) <= most_text_tokens(text) <= size


# The blocks of scripts without a figure of their own, of signs, and of marks that are written over letters.
BLOCKS = {
    "Greek": (0x370, 0x3FF),
    "Hebrew": (0x590, 0x5FF),
    "vowel signs of Arabic": (0x64B, 0x65F),
    "Amharic": (0x1200, 0x137F),
    "Tibetan": (0xF00, 0xFFF),
    "Thai": (0xE00, 0xE7F),
    "combining marks": (0x300, 0x36F),
    "arrows and signs": (0x2190, 0x2BFF),
    "rare Han": (0x3400, 0x4DBF),
    "rarer Han": (0x20000, 0x2A6DF),
    "private use": (0xE000, 0xF8FF),
    "hieroglyphs": (0x13000, 0x1342F),
    "mathematical letters": (0x1D400, 0x1D7FF),
    "emoji": (0x1F300, 0x1FAFF),
}


@pytest.mark.parametrize("block", BLOCKS)
@given(data=st.data())
def test_what_has_no_figure_of_its_own_counts_its_bytes(block: str, data: st.DataObject) -> None:
    characters = st.characters(min_codepoint=BLOCKS[block][0], max_codepoint=BLOCKS[block][1])
    text = data.draw(st.text(characters, min_size=1, max_size=50))
    around = data.draw(st.sampled_from(["", "word ", "好", "Слово "]))
    assert most_text_tokens(around + text) - most_text_tokens(around) >= len(text.encode()) - 1
    assert most_text_tokens(text) == len(text.encode())


@given(st.text(st.characters(max_codepoint=0x1FFFF), max_size=60))
def test_marks_over_letters_count_their_bytes(text: str) -> None:
    marks = "".join(each for each in unicodedata.normalize("NFD", text) if 0x300 <= ord(each) <= 0x36F)
    assert most_text_tokens(marks) == len(marks.encode())


@pytest.mark.parametrize("dense", ["xQ", "qzxj", "aGVsbG8gd29ybGQ", "0", "\t", "\x01\x02"])
def test_what_is_no_language_counts_its_bytes_wherever_it_stands(dense: str) -> None:
    """The estimate looks at samples of a long text; what stands between them counts all the same."""
    plain = "word " * 2_000
    held = dense * (8_000 // len(dense))
    assert most_text_tokens(plain + held + " " + plain) - most_text_tokens(plain + plain) >= len(held)


@given(any_size)
def test_a_short_text_never_makes_less_than_its_estimate(text: str) -> None:
    assert most_text_tokens(text) >= min(estimated_text_tokens(text), len(text.encode("utf-8", "replace")))
