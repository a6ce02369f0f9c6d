"""How commands speak: tables for people, JSON for programs, refusals for both."""

import sys
from collections.abc import Sequence
from typing import Any, Final

import orjson
import typer
from rich.console import Console, Group
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from core.surfaces.admin.limits import LARGEST

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
        columns: The columns of the table, in order, but for those that are empty in every row; JSON has every member.
        as_json: One JSON array instead of a table.
    """
    if as_json:
        print(orjson.dumps([*rows], option=orjson.OPT_INDENT_2).decode())
        return
    filled = [column for column in columns if not rows or any(row[column] is not None for row in rows)]
    table = plain_table(*[column.replace("_", " ") for column in filled])
    for row in rows:
        table.add_row(*[Text("" if row[column] is None else str(row[column])) for column in filled])
    print_table(table)


def plain_table(*headers: str) -> Table:
    """A table without lines, as narrow as it can be."""
    return Table(*headers, box=None, header_style="bold", pad_edge=False, collapse_padding=True)


def print_table(table: Table, spare: int = 0) -> None:
    """Print a table with every word whole, so that an id can be copied: cells are folded at spaces alone, and where
    nobody looks on (a pipe, a file) each row is one line.

    Args:
        table: What to print.
        spare: How many of its last columns are left out where the terminal is too narrow for them.
    """
    console = Console()
    if not console.is_terminal:
        console = Console(width=_ANY_WIDTH)
    measured = [Measurement.get(console, console.options.update(max_width=_ANY_WIDTH), each) for each in _cells(table)]
    least = [measure.minimum for measure in measured]
    if spare and sum(least) + len(least) - 1 > console.width:
        del table.columns[-spare:], measured[-spare:], least[-spare:]
    gaps = len(least) - 1
    widths = _narrowed([measure.maximum for measure in measured], least, console.width - gaps)
    for column, width in zip(table.columns, widths, strict=True):
        column.width = width
    Console(width=max(console.width, sum(widths) + gaps)).print(table, crop=False)


def _cells(table: Table) -> Sequence[Group]:
    return [Group(column.header, *column.cells) for column in table.columns]


def _narrowed(widths: list[int], least: Sequence[int], room: int) -> list[int]:
    """Widths of columns, the widest narrowed first until all fit or none can be narrowed any more."""
    while sum(widths) > room and (wide := [at for at, width in enumerate(widths) if width > least[at]]):
        widths[max(wide, key=widths.__getitem__)] -= 1
    return widths


def counted(number: int, noun: str) -> str:
    """So many of something, such as `1 model` and `2 models`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def joined(names: Sequence[object] | None, everything: str = "all") -> str:
    """Names in one cell of a table."""
    return everything if names is None else ", ".join(map(str, names))


def bound(words: str, least: int = 0) -> Any:
    """An option that takes a number which can be kept; its help names the least, since the largest says nothing.

    Args:
        words: Its help.
        least: The least that it may be.
    """

    def check(number: int | None) -> int | None:
        if number is not None and number > LARGEST:
            raise typer.BadParameter(f"{number} is more than {LARGEST}.")
        return number

    return typer.Option(min=least, callback=check, help=words)
