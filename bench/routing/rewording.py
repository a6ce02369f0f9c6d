"""Small rewordings that leave the meaning as it is: case, punctuation, typing errors, a word of politeness."""

import random
import re
import zlib
from collections.abc import Callable
from typing import Final

POLITE: Final = {
    "en": ("Hi, ", "Please: ", "Hello! ", "quick one, ", "ok so "),
    "de": ("Hallo, ", "Hi! ", "kurze Bitte: ", "Guten Tag, "),
    "fr": ("Bonjour, ", "Salut, ", "petite demande : "),
    "es": ("Hola, ", "Buenas, ", "por favor, "),
    "pt": ("Oi, ", "Olá, ", "por favor, "),
    "it": ("Ciao, ", "Salve, ", "per favore, "),
    "zh": ("你好，", "麻烦你，", "请问，"),  # noqa: RUF001 - Chinese commas are meant
    "ja": ("すみません、", "お願いします。"),
    "ar": ("مرحبا، ", "لو سمحت، "),
    "hi": ("नमस्ते, ", "कृपया "),
    "ru": ("Здравствуйте, ", "Привет, "),
}


def lower_case(text: str, language: str) -> str:
    return text.lower()


def bare(text: str, language: str) -> str:
    """Without the marks at the ends of sentences."""
    return re.sub(r"[.!?。\uff01\uff1f؟]+(?=\s|$)", "", text)


def polite(text: str, language: str) -> str:
    openings = POLITE.get(language)
    if openings is None:
        return text
    return openings[zlib.crc32(text.encode()) % len(openings)] + text


def mistyped(text: str, language: str) -> str:
    """Two neighbouring letters swapped, or one left out, in about one of twelve longer words."""
    draw = random.Random(zlib.crc32(text.encode()))
    return re.sub(r"[^\W\d_]{4,}", lambda found: _mistype(found[0], draw), text)


def _mistype(word: str, draw: random.Random) -> str:
    if draw.random() > 1 / 12:
        return word
    at = 1 + int(draw.random() * (len(word) - 2))
    if draw.random() < 0.5:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[:at] + word[at + 1 :]


REWORDINGS: Final[dict[str, Callable[[str, str], str]]] = {
    "lower case": lower_case,
    "punctuation": bare,
    "opening": polite,
    "typing errors": mistyped,
}
