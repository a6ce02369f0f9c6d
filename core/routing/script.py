"""Tells which script a text is written in, by the lead bytes of its UTF-8; it does not guess at languages."""

from enum import Enum
from typing import Final


class Script(Enum):
    """A writing system; `mixed` texts count as the one that fills most of them."""

    LATIN = "latin"
    CYRILLIC = "cyrillic"
    ARABIC = "arabic"
    DEVANAGARI = "devanagari"
    HAN = "han"
    KANA = "kana"
    HANGUL = "hangul"
    OTHER = "other"


_LATIN: Final = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ\xc3\xc4\xc5"

# By the lead bytes of their UTF-8: lone ones, and pairs.
_LEADS: Final = (
    (Script.LATIN, _LATIN, (b"\xe1\xba", b"\xe1\xbb")),
    (Script.CYRILLIC, b"\xd0\xd1\xd2\xd3", ()),
    (Script.ARABIC, b"\xd8\xd9\xda\xdb", ()),
    (Script.DEVANAGARI, b"", (b"\xe0\xa4", b"\xe0\xa5")),
    (Script.HAN, b"\xe4\xe5\xe6\xe7\xe8\xe9", ()),
    (Script.KANA, b"", (b"\xe3\x81", b"\xe3\x82", b"\xe3\x83")),
    (Script.HANGUL, b"\xea\xeb\xec\xed", ()),
    (Script.OTHER, b"\xce\xcf\xd6\xd7", (b"\xe0\xa6", b"\xe0\xae", b"\xe0\xb8", b"\xe0\xb9", b"\xe1\x83")),
)

JAPANESE_SHARE: Final = 0.2
"""From this share of kana on, characters shared with Chinese are Japanese too."""


def script_of(text: str) -> Script:
    """The script that most of the text's letters belong to; Latin where there are none."""
    if text.isascii():
        return Script.LATIN
    held = text.encode("utf-8", "replace")
    size = len(held)
    counts = {
        script: size - len(held.translate(None, lone)) + sum(map(held.count, pairs)) for script, lone, pairs in _LEADS
    }
    if counts[Script.KANA] > JAPANESE_SHARE * (counts[Script.KANA] + counts[Script.HAN]):
        counts[Script.KANA] += counts.pop(Script.HAN)
    return max(counts, key=counts.__getitem__)
