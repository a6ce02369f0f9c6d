"""How commands speak: tables for people, JSON for programs, refusals for both."""

import sys
from collections.abc import Sequence

import orjson
from rich.console import Console
from rich.table import Table


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
        table.add_row(*["" if row[column] is None else str(row[column]) for column in columns])
    Console().print(table)
