"""`headrace usage` and `headrace ledger`: what was used, and what is made up for."""

import asyncio
import csv
import gzip
import io
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
from typer.testing import CliRunner, Result

from core.record import Record
from core.store.schema import dumps, record_item
from core.store.sqlite import SqliteStore
from functions.gateway.logs import SPILL_MARKER
from functions.local.main import app
from tests.contracts.values import NOW_MS, final, open_record

T = TypeVar("T")
FROM, TO = "2026-09-01", "2026-10-01"  # values.NOW_MS lies in between
ASKED = ("--org", "acme", "--from", FROM, "--to", TO)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "headrace.db"


def headrace(database: Path, *arguments: str, given: bytes | None = None) -> Result:
    return CliRunner().invoke(
        app, list(arguments), env={"HEADRACE_SQLITE_PATH": str(database), "COLUMNS": "160"}, input=given
    )


def with_store(database: Path, work: Callable[[SqliteStore], Awaitable[T]]) -> T:
    async def run() -> T:
        store = SqliteStore(database)
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(run())


def settle(database: Path, records: Sequence[Record]) -> None:
    async def work(store: SqliteStore) -> None:
        for record in records:
            await store.settle(record)

    with_store(database, work)


def line(record: Record) -> str:
    return json.dumps({"level": "ERROR", "marker": SPILL_MARKER, "record": dumps(record_item(record)).decode()})


def used(database: Path, *arguments: str) -> Any:
    done = headrace(database, "usage", *ASKED, "--json", *arguments)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_usage_is_a_table_with_bars(database: Path) -> None:
    records = [
        replace(final(open_record(number), total=1_000_000 * number), model=f"m{number % 2}") for number in (1, 2)
    ]
    settle(database, records)
    shown = headrace(database, "usage", *ASKED, "--group-by", "model").stdout
    head, one, two, *rest = [text.rstrip() for text in shown.splitlines() if text.strip()]
    assert head.split() == ["model", "requests", "errors", "tokens", "in", "tokens", "out", "cost"]
    assert one.split()[:6] == ["m0", "1", "0", "10", "7", "$2.000000"]
    assert two.split()[:6] == ["m1", "1", "0", "10", "7", "$1.000000"]
    assert one.count("█") == 2 * two.count("█") == 24
    assert rest[-1].split()[:6] == ["total", "2", "0", "20", "14", "$3.000000"]


def test_usage_fits_a_terminal_of_80_columns_and_loses_its_bar_before_a_word(database: Path) -> None:
    settle(database, [replace(final(open_record(1), total=1_000_000), model="vendor/a-model-of-usual-name")])
    environment = {"HEADRACE_SQLITE_PATH": str(database), "FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "dumb"}
    for grouped, columns, has_bar in (("day", 80, True), ("day,model", 80, False), ("day,model", 120, True)):
        asked = ["usage", *ASKED, "--group-by", grouped]
        shown = CliRunner().invoke(app, asked, env={**environment, "COLUMNS": str(columns)}).stdout
        assert max(map(len, shown.splitlines())) <= columns
        assert ("█" in shown) is has_bar
        assert ("vendor/a-model-of-usual-name" in shown) is ("model" in grouped)


def test_usage_says_when_there_is_nothing_and_when_a_price_is_unknown(database: Path) -> None:
    headrace(database, "orgs", "create", "default")
    assert "Nothing was used" in headrace(database, "usage").stdout
    settle(database, [replace(final(open_record(1)), charge=None)])
    shown = headrace(database, "usage", *ASKED).stdout
    assert "$0.000000*" in shown
    assert "no known price" in shown


def test_usage_of_many_groups_comes_as_one(database: Path) -> None:
    settle(database, [replace(final(open_record(number)), model=f"m{number:04}") for number in range(1_203)])
    report = used(database, "--group-by", "model")
    assert [row["model"] for row in report["data"]] == [f"m{number:04}" for number in range(1_203)]
    assert (report["has_more"], report["next_cursor"]) == (False, None)


def test_usage_comes_as_csv_of_the_organisation_and_zone_asked_for(database: Path) -> None:
    settle(database, [final(open_record(1)), final(open_record(2, org="other"))])
    asked = (*ASKED, "--csv", "--group-by", "hour", "--tz", "Asia/Kolkata")
    rows = [*csv.DictReader(io.StringIO(headrace(database, "usage", *asked).stdout))]
    assert [(row["requests"], row["hour"][-6:]) for row in rows] == [("1", "+05:30")]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--tz", "Mars"), "--tz"),
        (("--group-by", "org"), "--group-by"),
        (("--from", "soon"), "--from"),
        (("--json", "--csv"), "not both"),
    ],
)
def test_usage_names_what_is_wrong(database: Path, arguments: tuple[str, ...], word: str) -> None:
    done = headrace(database, "usage", *arguments)
    assert done.exit_code == 1
    assert word in str(done.exception)


def test_a_saved_log_is_replayed_once(database: Path, tmp_path: Path) -> None:
    headrace(database, "orgs", "create", "acme")
    log = tmp_path / "log.gz"
    records = [open_record(1), final(open_record(1)), final(open_record(2), total=30)]
    log.write_bytes(gzip.compress("\n".join(map(line, records)).encode()))
    dry = headrace(database, "ledger", "replay", str(log), "--dry-run", "--json")
    told = json.loads(dry.stdout)
    assert (dry.exit_code, told["dry_run"], told["opened"], told["settled"]) == (0, True, 1, 2)
    assert used(database)["data"] == []
    for expected in ({"opened": 1, "settled": 2, "known": 0}, {"opened": 0, "settled": 0, "known": 3}):
        done = headrace(database, "ledger", "replay", str(log), "--json")
        told = json.loads(done.stdout)
        assert done.exit_code == 0
        assert {name: told[name] for name in expected} == expected
        assert told["unreadable"] == 0
        (row,) = used(database)["data"]
        assert (row["requests"], row["cost_micros"]) == (2, 42)
    assert told["records"][0] == {
        **{"request_id": records[0].request_id, "org": "acme", "result": "known"},
        **{"outcome": "open", "cost_micros": None},
    }


def test_a_log_can_come_through_a_pipe_and_what_is_unreadable_has_its_own_exit_code(database: Path) -> None:
    given = "\n".join([line(final(open_record(1))), f'{{"marker": "{SPILL_MARKER}"}}']).encode()
    done = headrace(database, "ledger", "replay", "-", given=given)
    assert done.exit_code == 3
    assert "record 2 of the log cannot be read" in done.stderr
    head, row = done.stdout.splitlines()
    assert head.split() == ["settled", "opened", "known", "unreadable"]
    assert row.split() == ["1", "0", "0", "1"]
    assert len(used(database)["data"]) == 1


def test_a_log_that_is_not_there_and_a_store_that_is_away_are_told(database: Path, tmp_path: Path) -> None:
    gone = headrace(database, "ledger", "replay", str(tmp_path / "no.log"))
    assert (gone.exit_code, "no.log" in str(gone.exception)) == (1, True)
    log = tmp_path / "a.log"
    log.write_text(line(final(open_record(1))))
    away = headrace(log / "headrace.db", "ledger", "replay", str(log))
    assert (away.exit_code, type(away.exception).__name__) == (1, "StoreUnavailable")


def test_what_dead_processes_left_open_is_settled(database: Path) -> None:
    late = open_record(1, lease_until_ms=NOW_MS)
    running = open_record(2, lease_until_ms=2**45)

    async def open_both(store: SqliteStore) -> None:
        await store.open(late)
        await store.open(running)

    with_store(database, open_both)
    done = headrace(database, "ledger", "sweep", "--json")
    told = json.loads(done.stdout)
    assert (told["settled"], told["counted"]) == (1, 0)
    assert told["records"][0]["request_id"] == late.request_id
    assert headrace(database, "ledger", "sweep").stdout.split() == ["settled", "counted", "0", "0"]
    found = with_store(database, lambda store: store.record("acme", running.request_id))
    assert found == running
