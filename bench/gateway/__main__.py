"""Measures what the gateway adds, beside a direct call and others that stand between: `python -m bench.gateway`.

Prints a table; a whole run writes it into docs/performance.md, with docs/performance.json and docs/performance.svg,
a quick one leaves them alone. Needs Linux: processor time is read of the processes from outside.
"""

import argparse
import asyncio
import json
import platform
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from bench.gateway.goals import Goal, goals
from bench.gateway.picture import picture
from bench.gateway.plan import QUICK_RUN, WHOLE_RUN, Part, run, steps
from bench.gateway.report import COLUMNS, Row, markdown, row_of
from bench.gateway.targets import all_targets
from bench.page import page_with

DOCS: Final = Path(__file__).parents[2] / "docs"
PAGE, PICTURE, DATA = DOCS / "performance.md", DOCS / "performance.svg", DOCS / "performance.json"
MAKER: Final = "bench.gateway"
SEED: Final = 60
LONGEST_S: Final = 360


async def measured(parts: Sequence[Part], console: Console) -> list[Row]:
    """Everything, with a bar that tells how far it is."""
    draw = random.Random(SEED)
    rows: list[Row] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with tempfile.TemporaryDirectory() as folder, Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("starting", total=None)
        async with asyncio.timeout(LONGEST_S), all_targets(Path(folder)) as targets:
            progress.update(task, total=steps(parts, targets))
            for part in parts:
                progress.update(task, description=part.workload.name)
                found = await run(part, targets, draw, lambda: progress.advance(task))
                rows += map(row_of, found)
    return rows


def shown(rows: Sequence[Row]) -> Table:
    """The table for the terminal."""
    table = Table("", *COLUMNS, title="What is added to a direct call; direct itself as it is")
    for column in table.columns[1:]:
        column.justify = "right"
    workload = ""
    for row in rows:
        if row.workload != workload:
            workload = row.workload
            table.add_section()
            table.add_row(f"[bold]{workload}[/bold]")
        table.add_row(row.target, *row.cells())
    return table


def shown_goals(found: Sequence[Goal]) -> Table:
    """The goals for the terminal."""
    table = Table("goal", "is to be", "is", "")
    for goal in found:
        table.add_row(*goal.cells())
    return table


def block(rows: Sequence[Row], found: Sequence[Goal]) -> str:
    """What goes into the page."""
    lines = [f"Python {platform.python_version()}, {platform.machine()}.", ""]
    lines += ["| goal | is to be | is | |", "|---|---|---:|---|"]
    lines += [f"| {' | '.join(goal.cells())} |" for goal in found]
    return "\n".join([*lines, *markdown(rows)])


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog=f"python -m {MAKER}", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a look in half a minute, writing nothing")
    given = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 200)
    began = time.perf_counter()
    rows = asyncio.run(measured(QUICK_RUN if given.quick else WHOLE_RUN, console))
    found = goals(rows)
    console.print(shown(rows))
    console.print(shown_goals(found))
    console.print(f"{time.perf_counter() - began:.0f} s")
    if not given.quick:
        PAGE.write_text(page_with(MAKER, block(rows, found), PAGE.read_text("utf-8")), "utf-8")
        PICTURE.write_text(picture(rows), "utf-8")
        DATA.write_text(json.dumps([row.plain() for row in rows], indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
