"""Every key, table and element of a TOML document is found on the line where it begins."""

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog.lines import line_of
from functions.local.catalog.writer import write_toml

DOCUMENT = '''\
title = "a # is no comment, [ no table"
[vendors."my.vendor"]  # a comment
headers = { a = 'x = y', b.c = [1,
  2, { q = 3 }] }
when = 1979-05-27 07:32:00

[[models]]
id = """two
lines \\" and a quote"""""
note = \'\'\'raw
\'\'\'
hosts = [
  # a comment inside
  { vendor = "v", prices = { input = 1.5 } },

  { vendor = "w" },
]
[models.abilities]
tools = true
[[models]]
[[models.hosts]]
vendor = 1
[[models.hosts]]
vendor = 2
[models.hosts.prices]
input = 3
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 1),
        (("vendors", "my.vendor"), 2),
        (("vendors", "my.vendor", "headers", "b", "c", 0), 3),
        (("vendors", "my.vendor", "headers", "b", "c", 2, "q"), 4),
        (("vendors", "my.vendor", "when"), 5),
        (("models", 0), 7),
        (("models", 0, "id"), 8),
        (("models", 0, "note"), 10),
        (("models", 0, "hosts", 0, "prices", "input"), 14),
        (("models", 0, "hosts", 1, "vendor"), 16),
        (("models", 0, "abilities", "tools"), 19),
        (("models", 1), 20),
        (("models", 1, "hosts", 0, "vendor"), 22),
        (("models", 1, "hosts", 1, "prices", "input"), 26),
    ],
)
def test_a_place_has_its_line(path: tuple[str | int, ...], line: int) -> None:
    tomllib.loads(DOCUMENT)
    assert line_of(DOCUMENT, path) == line


def test_what_is_missing_is_looked_for_in_what_should_hold_it() -> None:
    assert line_of(DOCUMENT, ("models", 1, "hosts", 1, "upstream_model")) == 23
    assert line_of(DOCUMENT, ("models", 0, "name")) == 7


def test_nothing_on_the_way_is_no_line() -> None:
    assert line_of(DOCUMENT, ("elsewhere", 3)) is None
    assert line_of("", ("a",)) is None


# The writer gives some names tables of their own; that is for its own test.
RESERVED = {"abilities", "quality", "prices", "vendors", "service_prices", "models", "hosts", "price_changes"}
KEYS = st.text(min_size=1, max_size=6).filter(lambda name: name not in RESERVED)
SCALARS = st.booleans() | st.integers(-9, 9) | st.text(max_size=6)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)
MODELS = st.lists(st.dictionaries(KEYS, VALUES, min_size=1, max_size=3), max_size=3)


@given(top=st.dictionaries(KEYS, VALUES, max_size=3), models=MODELS)
def test_every_place_of_any_document_is_found(top: dict[str, Any], models: list[dict[str, Any]]) -> None:
    document: dict[str, Any] = {**top, "models": models} if models else top
    text = write_toml(document)
    lines = text.split("\n")
    for path, key in _places(tomllib.loads(text)):
        line = line_of(text, path)
        assert line is not None
        assert write_toml({key: 0}).partition(" = ")[0] in lines[line - 1]


def _places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every path that ends in a key."""
    if isinstance(value, dict):
        for key, inner in value.items():
            # A list of tables begins at its first table.
            if not (path == () and key == "models" and isinstance(inner, list)):
                yield (*path, key), key
            yield from _places(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _places(inner, (*path, index))


@given(text=st.text(max_size=60), path=st.lists(KEYS | st.integers(0, 3), max_size=3))
def test_no_text_at_all_breaks_it(text: str, path: list[str | int]) -> None:
    line = line_of(text, path)
    assert line is None or 1 <= line <= text.count("\n") + 1
