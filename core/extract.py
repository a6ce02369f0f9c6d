"""Takes the one JSON document out of an answer that wraps it in code fences or commentary; it never edits it.

The rule: an answer that is JSON as a whole is left alone. Otherwise a document counts if it parses and has the kind of
root that was asked for. Documents that fill a code fence come before others; among several the last one is taken, since
models correct themselves downwards. At most `MOST_STARTS` places are tried.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias

from core.chat import Json, ResponseFormat

MOST_STARTS = 256

Root: TypeAlias = Literal["object", "array", "any"]

_FENCE = re.compile(r"(`{3,}|~{3,})[^\S\n]*[A-Za-z0-9_+-]*[^\S\n]*\n?")
_FENCE_END = re.compile(r"\s*(`{3,}|~{3,})")
_OPENERS = {"object": "{", "array": "[", "any": "{["}


@dataclass(frozen=True, slots=True)
class Extracted:
    """A contiguous part of an answer that is JSON, and what it was wrapped in."""

    text: str
    wrapping: Literal["fence", "commentary"]


def expected_root(format: ResponseFormat) -> Root:
    """The kind of document that a format asks for."""
    kind = None if format.schema is None else format.schema.get("type", "object")
    if format.type == "json_object" or kind in (None, "object"):
        return "object"
    return "array" if kind == "array" else "any"


def is_document(text: str) -> bool:
    """Whether the whole text is JSON."""
    try:
        _DECODER.decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def extract(text: str, root: Root) -> Extracted | None:
    """The document in an answer, or None when there is none to take.

    Args:
        text: The answer; not JSON as a whole.
        root: The kind of root that the document must have; `any` admits scalars, but only in a fence.
    """
    fenced = list(_fenced(text, root))
    if fenced:
        return Extracted(fenced[-1], "fence")
    loose = list(_loose(text, root))
    return Extracted(loose[-1], "commentary") if loose else None


def _fenced(text: str, root: Root) -> Iterator[str]:
    position = 0
    for _ in range(MOST_STARTS):
        fence = _FENCE.search(text, position)
        if fence is None:
            return
        start = _skip_space(text, fence.end())
        end = _document_end(text, start, root)
        closing = None if end is None else _FENCE_END.match(text, end)
        if end is not None and closing is not None and _closes(closing[1], fence[1]):
            yield text[start:end]
            position = closing.end()
        else:
            position = fence.end()


def _closes(closing: str, opening: str) -> bool:
    """CommonMark's rule: of the same character, and at least as long (spec 0.31.2, section 4.5, read 2026-11-30)."""
    return closing.startswith(opening)


def _loose(text: str, root: Root) -> Iterator[str]:
    position = 0
    for _ in range(MOST_STARTS):
        starts = [found for opener in _OPENERS[root] if (found := text.find(opener, position)) >= 0]
        if not starts:
            return
        start = min(starts)
        end = _document_end(text, start, root)
        if end is not None:
            yield text[start:end]
        position = start + 1 if end is None else end


def _document_end(text: str, start: int, root: Root) -> int | None:
    if root != "any" and not text.startswith(_OPENERS[root], start):
        return None
    try:
        return _DECODER.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return None


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _number(text: str) -> Json:
    return text  # only whether it parses matters, and huge numbers must not cost time


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_int=_number, parse_float=_number)
