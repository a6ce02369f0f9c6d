"""`headrace ledger`: what has to be made up for when processes died or the store was away."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import orjson
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from core.ports import Store
from core.record import Record
from core.replay import Applied, replay, tally
from core.sweep import sweep
from functions.local.output import show
from functions.local.spilled import Unreadable, spilled
from functions.local.store import with_store

app = typer.Typer(help="Make up for what was not written when it happened.", no_args_is_help=True)

SOME_UNREADABLE: Final = 3
MOST_SWEPT: Final = 500

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@app.command("replay")
def replay_log(
    file: Annotated[
        str, typer.Argument(help="The saved log; '-' reads standard input. Any form that CloudWatch saves will do.")
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Apply the records that the store did not take and that wait in the log; a second time changes nothing.

    Exit codes: 0 when everything is in the ledger, 1 when something failed (run it again), 3 when lines that hold a
    record could not be read.
    """
    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    found = [*spilled(data)]
    records = [each for each in found if isinstance(each, Record)]
    unreadable = [each for each in found if isinstance(each, Unreadable)]
    done = with_store(lambda store: _replay(store, records, dry_run))
    counts: dict[str, object] = {**tally([outcome for _, outcome in done]), "unreadable": len(unreadable)}
    if as_json:
        told = [_row(record, outcome) for record, outcome in done]
        print(orjson.dumps({**counts, "dry_run": dry_run, "records": told}, option=orjson.OPT_INDENT_2).decode())
    else:
        show([counts], [*counts], as_json=False)
    for each in unreadable:
        typer.echo(f"record {each.place} of the log cannot be read: {each.reason}", err=True)
    if unreadable:
        raise typer.Exit(SOME_UNREADABLE)


@app.command("sweep")
def sweep_ledger(as_json: Json = False) -> None:
    """Settle the requests that dead processes left open, as the server does every minute; running ones are let be."""
    swept, counted = with_store(_sweep)
    if as_json:
        told = [_row(record, Applied.SETTLED) for record in swept]
        print(orjson.dumps({"settled": len(swept), "counted": counted, "records": told}).decode())
    else:
        show([{"settled": len(swept), "counted": counted}], ["settled", "counted"], as_json=False)


async def _replay(store: Store, records: Sequence[Record], dry_run: bool) -> list[tuple[Record, Applied]]:
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    done: list[tuple[Record, Applied]] = []
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("Replaying", total=len(records))
        async for each in replay(store, records, _now_ms(), dry_run=dry_run):
            done.append(each)
            progress.advance(task)
    return done


async def _sweep(store: Store) -> tuple[list[Record], int]:
    swept: list[Record] = []
    counted = 0
    while True:
        now_ms = _now_ms()
        some = await sweep(store, now_ms, MOST_SWEPT)
        more = await store.catch_up(now_ms, MOST_SWEPT)
        swept += some
        counted += more
        if max(len(some), more) < MOST_SWEPT:
            return swept, counted


def _row(record: Record, outcome: Applied) -> dict[str, object]:
    return {
        "request_id": record.request_id,
        "org": record.org,
        "result": outcome.value,
        "outcome": record.outcome,
        "cost_micros": None if record.charge is None else record.charge.total,
    }


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
