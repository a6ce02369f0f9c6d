"""Which words and counts of a host's answer may go on: labels that are labels, and counts that can be counts."""

import re
from collections.abc import Mapping
from typing import Final

from core.chat import Json

MAX_COUNT: Final = 10**9
"""More tokens than any call can have; what is larger is no count, and would not fit where counts are kept."""

OPENAI_TIERS: Final = frozenset({"auto", "default", "flex", "scale", "priority", "fast"})
"""The service tiers that callers know (OpenAI API reference, read 2026-11-30)."""

_LABEL: Final = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_DIGITS: Final = re.compile(r"[0-9]{1,12}")


def label(value: Json) -> str | None:
    """A word such as a fingerprint or a tier; None for anything else, which may be a text."""
    return value if isinstance(value, str) and _LABEL.fullmatch(value) else None


def count_of(said: Mapping[str, Json], name: str) -> int | None:
    """A count of tokens, also as a string or as a whole float; None where there is none that can be right."""
    value = said.get(name)
    if type(value) is int:
        return value if 0 <= value <= MAX_COUNT else None
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = float(value)
    if type(value) is float and 0 <= value <= MAX_COUNT and value.is_integer():
        return int(value)
    return None
