"""Writes catalog models as TOML that people can read; the same tables give the same bytes."""

import json
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from enum import Enum
from typing import Any, Final

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")

# Tables of their own, and tables that hold such tables by name; every other table stands in one line.
_TABLES: Final = frozenset({"abilities", "quality", "prices"})
_BY_NAME: Final = frozenset({"vendors", "service_prices"})
_LISTS: Final = frozenset({"models", "hosts", "price_changes"})


def write_toml(document: Mapping[str, Any], head: Iterable[str] = ()) -> str:
    """A document as TOML.

    Args:
        document: Tables of tables, text, numbers, booleans, enum members and lists of them.
        head: Lines of comment that go first.
    """
    lines = [f"# {line}".rstrip() for line in head]
    _table(lines, (), document)
    return "\n".join(lines).strip() + "\n"


def _table(lines: list[str], path: tuple[str, ...], table: Mapping[str, Any]) -> None:
    inner = {name: value for name, value in table.items() if name in _TABLES | _BY_NAME | _LISTS}
    lines += (f"{_key(name)} = {_value(value)}" for name, value in table.items() if name not in inner)
    for name, value in inner.items():
        here = (*path, name)
        if name in _LISTS:
            for each in value:
                _section(lines, "[[", here, each, "]]")
        elif name in _BY_NAME:
            for inner_name, each in value.items():
                _section(lines, "[", (*here, inner_name), each, "]")
        else:
            _section(lines, "[", here, value, "]")


def _section(lines: list[str], opening: str, path: tuple[str, ...], table: Mapping[str, Any], closing: str) -> None:
    lines += ["", f"{opening}{'.'.join(map(_key, path))}{closing}"]
    _table(lines, path, table)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: Any) -> str:
    match value:
        case Enum():
            return _value(value.value)
        case bool():
            return "true" if value else "false"
        case Decimal():
            return f"{value:f}"
        case int() | float():
            return repr(value)
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case Mapping():
            return f"{{ {', '.join(f'{_key(name)} = {_value(each)}' for name, each in value.items())} }}"
        case _:
            return f"[{', '.join(map(_value, value))}]"
