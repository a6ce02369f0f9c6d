"""Finds the line of a TOML document that a path of keys and indexes leads to, for error messages."""

import re
from collections.abc import Sequence

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]#]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"^\s*([A-Za-z0-9_\-\"'. ]+?)\s*=")


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    """The line (from 1) of the most specific table or key on the way to `path`, or None.

    Inline tables are one line: the line of the key that holds them is theirs.
    """
    wanted = tuple(path)
    table: tuple[str | int, ...] = ()
    counts: dict[tuple[str | int, ...], int] = {}
    best: tuple[int, int] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.match(line)
        if header:
            table = _table(header.group(1) == "[[", _names(header.group(2)), counts)
            found = table
        else:
            key = _KEY.match(line)
            if not key:
                continue
            found = table + tuple(_names(key.group(1)))
        if wanted[: len(found)] == found and (best is None or len(found) > best[0]):
            best = (len(found), number)
    return None if best is None else best[1]


def _names(dotted: str) -> list[str]:
    return [name.strip().strip("\"'") for name in dotted.split(".")]


def _table(is_array: bool, names: list[str], counts: dict[tuple[str | int, ...], int]) -> tuple[str | int, ...]:
    """The path of a table header, with the index of each array of tables on the way."""
    path: tuple[str | int, ...] = ()
    for position, name in enumerate(names):
        path = (*path, name)
        is_last = position == len(names) - 1
        if is_last and is_array:
            counts[path] = counts.get(path, -1) + 1
            for inner in [known for known in counts if len(known) > len(path) and known[: len(path)] == path]:
                if inner[len(path)] != counts[path]:
                    continue
                del counts[inner]
        if path in counts:
            path = (*path, counts[path])
    return path
