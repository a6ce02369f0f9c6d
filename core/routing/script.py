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


_LEADS: Final = (
    (Script.CYRILLIC, (b"\xd0", b"\xd1", b"\xd2", b"\xd3")),
    (Script.ARABIC, (b"\xd8", b"\xd9", b"\xda", b"\xdb")),
    (Script.DEVANAGARI, (b"\xe0\xa4", b"\xe0\xa5")),
    (Script.HAN, (b"\xe4", b"\xe5", b"\xe6", b"\xe7", b"\xe8", b"\xe9")),
    (Script.KANA, (b"\xe3\x81", b"\xe3\x82", b"\xe3\x83")),
    (Script.HANGUL, (b"\xea", b"\xeb", b"\xec", b"\xed")),
    (Script.OTHER, (b"\xce", b"\xcf", b"\xd6", b"\xd7", b"\xe0\xb8", b"\xe0\xb9", b"\xe1", b"\xe0\xa6", b"\xe0\xae")),
)

JAPANESE_SHARE: Final = 0.2
"""From this share of kana on, characters shared with Chinese are Japanese too."""


def script_of(text: str) -> Script:
    """The script that most of the text's letters belong to; Latin where there are none."""
    if text.isascii():
        return Script.LATIN
    held = text.encode("utf-8", "replace")
    counts = {script: sum(map(held.count, leads)) for script, leads in _LEADS}
    foreign = sum(counts.values())
    if counts[Script.KANA] > JAPANESE_SHARE * (counts[Script.KANA] + counts[Script.HAN]):
        counts[Script.KANA] += counts.pop(Script.HAN)
    counts[Script.LATIN] = sum(map(str.isalpha, text)) - foreign if foreign else 1
    return max(counts, key=counts.__getitem__)
