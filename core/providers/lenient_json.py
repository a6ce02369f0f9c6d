"""Reads an upstream's JSON, also what is nearly JSON: NaN and infinities, and surrogates that a host left alone.

What comes out can always be written as JSON again.
"""

import json
import re
from typing import Final

import orjson

from core.chat import Json

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_PIECES: Final = frozenset({"content", "reasoning", "reasoning_content", "refusal", "text", "arguments", "input"})

# The least likely log-probability that OpenAI reports (chat completions, read 2026-11-30).
_CONSTANTS: Final = {"-Infinity": -9999.0}


class LenientJson:
    """Parses the documents of one stream.

    A character that a host cut into two surrogates, the halves in two documents, is put together again.
    """

    __slots__ = ("_halves",)

    def __init__(self) -> None:
        self._halves: dict[tuple[str | int, ...], str] = {}

    def loads(self, data: bytes) -> Json:
        """One document.

        Raises:
            ValueError: It is not JSON, not even nearly, or nested too deep.
        """
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError:
            pass
        try:
            return self._mended(json.loads(data.decode(), parse_constant=_CONSTANTS.get, parse_int=_integer), ())
        except RecursionError as error:
            raise ValueError("nested too deep") from error

    def _mended(self, value: Json, path: tuple[str | int, ...]) -> Json:
        if isinstance(value, str):
            return self._text(value, path)
        if isinstance(value, list):
            return [self._mended(item, (*path, index)) for index, item in enumerate(value)]
        if isinstance(value, dict):
            return {_whole(key): self._mended(item, (*path, key)) for key, item in value.items()}
        return value

    def _text(self, text: str, path: tuple[str | int, ...]) -> str:
        if self._halves:
            text = self._halves.pop(path, "") + text
        if path and path[-1] in _PIECES and "\ud800" <= text[-1:] <= "\udbff":
            self._halves[path] = text[-1]
            text = text[:-1]
        return _whole(text)


def _integer(text: str) -> int | float:
    # Like the fast parser: what 64 bits do not hold could not be written again.
    return int(text) if len(text) < 19 else float(text)


def _whole(text: str) -> str:
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
