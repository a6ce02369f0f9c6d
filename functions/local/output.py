"""How commands speak: tables for people, JSON for programs, refusals for both."""

import sys
from collections.abc import Sequence
from typing import Final

import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

_ANY_WIDTH: Final = 100_000


class Refusal(Exception):
    """A command cannot do what was asked; the message says why and what to do."""


def standard_input() -> str:
    """The text on standard input.

    Raises:
        Refusal: It is not UTF-8.
    """
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refusal(f"standard input is not UTF-8: {error}") from None


def show(rows: Sequence[dict[str, object]], columns: Sequence[str], *, as_json: bool) -> None:
    """Print rows.

    Args:
        rows: Values by column name.
        columns: The columns of the table, in order; JSON has every member.
        as_json: One JSON array instead of a table.
    """
    if as_json:
        print(orjson.dumps([*rows], option=orjson.OPT_INDENT_2).decode())
        return
    table = Table(*[column.replace("_", " ") for column in columns], box=None, header_style="bold")
    for row in rows:
        table.add_row(*[Text("" if row[column] is None else str(row[column])) for column in columns])
    print_table(table)


def print_table(table: Table) -> None:
    """Print a table with every word whole, so that an id can be copied: cells are folded at spaces alone, and where
    nobody looks on (a pipe, a file) each row is one line."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=_ANY_WIDTH)
    for column in table.columns:
        column.min_width = max(console.measure(cell).minimum for cell in (column.header, *column.cells))
    console.print(table, crop=False)


def counted(number: int, noun: str) -> str:
    """So many of something, such as `1 model` and `2 models`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
