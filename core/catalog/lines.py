"""Finds the line of a TOML document that a path of keys and indexes leads to, for error messages.

It reads documents that `tomllib` has read before, and judges nothing.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

Path: TypeAlias = tuple[str | int, ...]

_TOKEN: Final = re.compile(
    r"""
      (?P<comment>\#[^\n]*)
    | (?P<newline>\n)
    | (?P<string>
          \"\"\"(?:\\.|[^\\])*?\"\"\"\"{0,2}
        | '''.*?''''{0,2}
        | "(?:\\.|[^"\\\n])*"
        | '[^'\n]*'
      )
    | (?P<mark>[\[\]{},=])
    | (?P<bare>
          \d{4}-\d\d-\d\d\ \d\d:[^\s\[\]{},\#]+  # a date and a time with a space between
        | [^\s\[\]{},=\#"']+
      )
    """,
    re.VERBOSE | re.DOTALL,
)


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    """The line (from 1) of the most specific table, key or element on the way to `path`, or None."""
    lines = _lines(text)
    wanted = tuple(path)
    while wanted:
        if wanted in lines:
            return lines[wanted]
        wanted = wanted[:-1]
    return None


def _lines(text: str) -> dict[Path, int]:
    scanner = _Scanner(_tokens(text))
    scanner.document()
    return scanner.lines


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    line: int


_END: Final = _Token("end", "", 0)


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    line = 1
    for match in _TOKEN.finditer(text):
        if match.lastgroup != "comment":
            tokens.append(_Token(match.lastgroup or "", match[0], line))
        line += match[0].count("\n")
    return tokens


@dataclass(slots=True)
class _Scanner:
    """Walks the tokens and notes where each path begins."""

    tokens: list[_Token]
    place: int = 0
    lines: dict[Path, int] = field(default_factory=dict)
    last_index: dict[Path, int] = field(default_factory=dict)

    def document(self) -> None:
        table: Path = ()
        while (token := self._next()) is not _END:
            if token.text == "[":
                table = self._header()
            elif token.kind != "newline":
                self.place -= 1
                self._pair(table)

    def _next(self) -> _Token:
        if self.place >= len(self.tokens):
            return _END
        self.place += 1
        return self.tokens[self.place - 1]

    def _after_newlines(self) -> _Token:
        while (token := self._next()).kind == "newline":
            pass
        return token

    def _header(self) -> Path:
        first = self._next()
        is_array = first.text == "["
        if not is_array:
            self.place -= 1
        path: Path = ()
        names = self._key("]")
        if is_array:
            self._next()
        for position, name in enumerate(names):
            path = (*path, name)
            if is_array and position == len(names) - 1:
                self.last_index[path] = self.last_index.get(path, -1) + 1
            if path in self.last_index:
                path = (*path, self.last_index[path])
        self.lines[path] = first.line
        return path

    def _pair(self, table: Path) -> None:
        line = self.tokens[self.place].line
        path = table
        for name in self._key("="):
            path = (*path, name)
            self.lines.setdefault(path, line)
        self._value(path, self._next())

    def _key(self, end: str) -> list[str]:
        names: list[str] = []
        while (token := self._next()).text != end and token is not _END:
            if token.kind == "string":
                names.append(tomllib.loads(f"name = {token.text}")["name"])
            else:
                names += [name for name in token.text.split(".") if name]
        return names

    def _value(self, path: Path, token: _Token) -> None:
        # Everything that is no container is one token.
        if token.text == "[":
            self._array(path)
        elif token.text == "{":
            self._inline_table(path)

    def _array(self, path: Path) -> None:
        index = 0
        while (token := self._after_newlines()).text not in ("]", ""):
            if token.text == ",":
                continue
            element = (*path, index)
            self.lines[element] = token.line
            self._value(element, token)
            index += 1

    def _inline_table(self, path: Path) -> None:
        while (token := self._after_newlines()).text not in ("}", ""):
            if token.text == ",":
                continue
            self.place -= 1
            self._pair(path)
