"""Estimates tokens where nobody counted them; whoever uses the figure says that it is an estimate."""

import math
import re
from typing import Final

BYTES_PER_TOKEN: Final = 4

SAMPLED_CHARACTERS: Final = 8_192
SLICES: Final = 8
"""Of a longer text so many slices are looked at, evenly spread, and the rest taken to be like them."""

_LETTERS: Final = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CAPITALS: Final = _LETTERS[26:]
_DIGITS: Final = b"0123456789"
_ASCII: Final = bytes(range(128))

# Tokens for each of a kind, fitted to three current vocabularies of about 130,000 to 200,000 entries
# (bench/routing/README.md tells how).
PER_WORD: Final = 0.556
PER_LETTER: Final = 0.148
PER_CAPITAL: Final = 0.131
PER_DIGIT: Final = 0.957
PER_MARK: Final = 0.523
PER_LINE: Final = 0.344
PER_INDENT: Final = 0.238
PER_OTHER: Final = 0.5

# The same by the lead bytes of a character's UTF-8, which tell its script: lone ones, and pairs.
_BY_LEAD: Final = (
    (1.018, b"\xc3\xc4\xc5", (b"\xe1\xba", b"\xe1\xbb")),  # Latin with accents
    (0.257, b"\xd0\xd1\xd2\xd3", ()),  # Cyrillic
    (0.287, b"\xd8\xd9\xda\xdb", ()),  # Arabic
    (0.402, b"", (b"\xe0\xa4", b"\xe0\xa5")),  # Devanagari
    (0.773, b"\xe4\xe5\xe6\xe7\xe8\xe9", ()),  # Han
    (0.638, b"", (b"\xe3\x81", b"\xe3\x82", b"\xe3\x83")),  # kana
    (0.694, b"\xea\xeb\xec\xed", ()),  # hangul
    (0.709, b"\xef", (b"\xe3\x80",)),  # marks as wide as Han characters
    (0.3, b"\xe2", ()),  # dashes, quotes, arrows, mathematical signs
)


# What a text makes at most. An estimate is far off where it is made of what no word holds, so that is counted by its
# bytes: no vocabulary that is made of bytes needs more tokens than those.
_MARGIN: Final = 1.5
_WORD: Final = 10
"""Characters of most words, in prose and in code; most of what is longer are keys, base64 and the like."""

_MOST_PER_BYTE: Final = 0.5
"""Of the usual characters of the scripts below; vocabularies of half the size still stay below it for their texts."""

_LONGER: Final = re.compile(b"[A-Za-z0-9]{%d,}" % (_WORD + 1))
_CONTROLS: Final = bytes((*range(32), 127))
_UNUSUAL: Final = re.compile(
    "[^\x00-\x7f"
    "\u0401\u0404\u0406\u0407\u0410-\u044f\u0451\u0454\u0456\u0457\u0490\u0491"  # Cyrillic
    "\u060c\u061b\u061f\u0621-\u064a\u0660-\u0669\u067e\u0686\u0698\u06a9\u06af\u06cc"  # Arabic
    "\u0900-\u097f\u1ea0-\u1ef9\u2010-\u2027"  # Devanagari, Vietnamese, dashes and quotes
    "\u3000-\u303f\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef]+"  # Chinese, Japanese, Korean
)


def estimated_tokens(utf8_bytes: int) -> int:
    """Tokens that text of that many UTF-8 bytes makes, roughly; rounded up. Use it where the text itself is gone."""
    return -(-utf8_bytes // BYTES_PER_TOKEN)


def estimated_text_tokens(text: str) -> int:
    """Tokens that a text makes, by what it consists of: words, digits, marks, and the scripts it is written in.

    Takes about as long for a megabyte as for a page.
    """
    if not text:
        return 0
    size = len(text)
    if size <= SAMPLED_CHARACTERS:
        return max(1, round(_tokens(text)))
    length = SAMPLED_CHARACTERS // SLICES
    pace = (size - length) / (SLICES - 1)
    starts = [round(pace * number) for number in range(SLICES)]
    seen = "\n".join(text[start : start + length] for start in starts)
    return round(_tokens(seen) * size / len(seen))


def most_text_tokens(text: str) -> int:
    """What a text makes at most, in tokens: what its limits are held to while nobody has counted it.

    For prose and code that is up to twice what they make. What no language writes is counted by its bytes, but for
    made-up words of usual letters, which can make half as much again. Takes as long as the text is.
    """
    held = text.encode("utf-8", "replace")
    size = len(held)
    longer = _LONGER.findall(held)
    most = _MARGIN * _plain_tokens(held, len(text.split()))
    most += sum(map(len, longer)) - _WORD * len(longer) + size - len(held.translate(None, _CONTROLS))
    if not text.isascii():
        unusual = sum(len(run.encode("utf-8", "replace")) for run in _UNUSUAL.findall(text))
        most += unusual + _MOST_PER_BYTE * (len(held.translate(None, _ASCII)) - unusual)
    return min(size, math.ceil(most))


def _tokens(text: str) -> float:
    held = text.encode("utf-8", "replace")
    tokens = _plain_tokens(held, len(text.split()))
    if text.isascii():
        return tokens
    return tokens + _foreign_tokens(held, len(text) - len(held) + len(held.translate(None, _ASCII)))


def _plain_tokens(held: bytes, words: int) -> float:
    """The tokens of so many words, and of what is written in ASCII."""
    size = len(held)
    letters = size - len(held.translate(None, _LETTERS))
    digits = size - len(held.translate(None, _DIGITS))
    capitals = size - len(held.translate(None, _CAPITALS))
    lines, tabs = held.count(b"\n"), held.count(b"\t")
    plain = size - len(held.translate(None, _ASCII))
    marks = plain - letters - digits - lines - tabs - held.count(b" ") - held.count(b"\r")
    return (
        PER_WORD * words
        + PER_LETTER * letters
        + PER_CAPITAL * capitals
        + PER_DIGIT * digits
        + PER_MARK * marks
        + PER_LINE * lines
        + PER_INDENT * held.count(b"  ")
    )


def _foreign_tokens(held: bytes, characters: int) -> float:
    tokens, known = 0.0, 0
    for each, lone, pairs in _BY_LEAD:
        count = len(held) - len(held.translate(None, lone)) + sum(map(held.count, pairs))
        tokens += each * count
        known += count
    return tokens + PER_OTHER * max(0, characters - known)
