"""How the stores grow: with keys and records, ten to a million in the SQLite file, fewer in an emulated DynamoDB.

A million records are not written one by one: one that the store wrote is copied within the file, under other ids and
moments. DynamoDB is ministack's on this machine: its times are the emulator's, so the calls are counted as well.
"""

import sqlite3
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias

from bench.growth.measuring import Sample, Series, best_s
from bench.in_process import NOW
from core.accounts.keys import digest
from core.chat import Usage
from core.money import Charge
from core.ports import Store
from core.record import Record, settled
from core.store.dynamodb import DynamoStore
from core.store.sqlite import SqliteStore
from core.sweep import sweep
from core.tenant import Key, Organisation
from core.totals import QUARTER_MS, By
from tests.support.ministack import Ministack, running_ministack

Run: TypeAlias = Callable[[Coroutine[Any, Any, Any]], Any]

NOW_MS: Final = round(NOW * 1000)
ORG: Final = "org-0"
USAGE: Final = "usage of a month"
KEYS_OF_ONE: Final = 10
"""Keys that each organisation has; records are all of one."""

MONTH_MS: Final = 30 * 86_400_000
QUARTERS: Final = range((NOW_MS - MONTH_MS) // QUARTER_MS, NOW_MS // QUARTER_MS + 1)

_COPY_KEYS: Final = f"""WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
    INSERT INTO api_key (digest, org, created_ms, id, item) SELECT printf('%064x', i),
    'org-' || (i / {KEYS_OF_ONE}), ? + i, 'key-' || i, item FROM n, (SELECT item FROM api_key LIMIT 1)"""
_COPY_RECORDS: Final = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
    INSERT INTO record (org, request_id, lease_until_ms, settled, expires_ms, item)
    SELECT org, printf('req-%032x', i), lease_until_ms, settled, expires_ms, item FROM n, (SELECT * FROM record LIMIT 1)
"""
_COPY_TOTALS: Final = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
    INSERT OR REPLACE INTO total SELECT org, quarter - 1 - (i / 20) % 2880, 'key-' || (i % 20), {rest} FROM n,
    (SELECT * FROM total LIMIT 1)"""


def sqlite(sizes: Sequence[int], run: Run) -> list[Series]:
    """The SQLite file."""
    found: dict[str, list[Sample]] = {}
    for size in sizes:
        with TemporaryDirectory() as folder, _opened(SqliteStore(Path(folder) / "headrace.db"), run) as store:
            run(_begin(store))
            _copy(Path(folder) / "headrace.db", size)
            for what, work in steps(store, run, size).items():
                found.setdefault(what, []).append(Sample(size, best_s(work, time.perf_counter)))
            files = sum(path.stat().st_size for path in Path(folder).iterdir())
            found.setdefault("the file", []).append(Sample(size, 0.0, files))
    return [Series("SQLite", what, "keys and records", samples) for what, samples in found.items()]


def dynamodb(sizes: Sequence[int], run: Run) -> list[Series]:
    """An emulated DynamoDB, and the calls to it. Every key and record is written one by one, so there are fewer."""
    found: dict[str, list[Sample]] = {}
    with TemporaryDirectory() as folder, running_ministack(Path(folder)) as server:
        for size in sizes:
            calls, store = _counted(server)
            with _opened(store, run):
                run(_begin(store))
                run(_fill(store, size))
                todo = steps(store, run, size)
                del todo[USAGE]  # nobody reads the table's stream here, so nothing is counted
                for what, work in todo.items():
                    seconds = best_s(work, time.perf_counter)
                    calls.clear()
                    work()
                    name = f"{what} ({len(calls)} call{'s' if len(calls) > 1 else ''})"
                    found.setdefault(name, []).append(Sample(size, seconds))
    return [Series("DynamoDB, emulated", what, "keys and records", samples) for what, samples in found.items()]


def _counted(server: Ministack) -> tuple[list[str], Store]:
    """A store in new tables, and the calls that it will have made."""
    client, calls = server.client(), list[str]()
    client.meta.events.register("before-call.dynamodb", lambda model, **_: calls.append(model.name))
    return calls, DynamoStore(*server.tables(client), client=lambda: client)


def steps(store: Store, run: Run, size: int) -> dict[str, Callable[[], object]]:
    """What is done with a store, whichever it is."""
    numbers = iter(range(1_000_000, 2_000_000))
    known = digest("key 0")

    async def request() -> None:
        record = open_record(next(numbers))
        await store.open(record)
        await store.settle(final(record))

    async def swept() -> None:
        for _ in range(10):
            await store.open(open_record(next(numbers), lease_until_ms=NOW_MS - 1))
        if len(await sweep(store, NOW_MS, 200)) != 10:
            raise RuntimeError("not all that was overdue was swept")

    return {
        "look a key up": lambda: run(store.key(known)),
        f"list {KEYS_OF_ONE} keys": lambda: run(store.keys(ORG)),
        "open and settle": lambda: run(request()),
        "one record": lambda: run(store.record(ORG, f"req-{5:032x}")),
        "newest 20 records": lambda: run(store.records(ORG, 20)),
        "20 records, further back": lambda: run(store.records(ORG, 20, f"req-{size // 2 + 20:032x}")),
        USAGE: lambda: run(store.totals(ORG, QUARTERS, frozenset({By.TIME, By.KEY}))),
        "sweep 10 lost ones": lambda: run(swept()),
    }


def open_record(number: int, *, lease_until_ms: int = NOW_MS + 60_000) -> Record:
    """An open record; ids rise with numbers."""
    return Record(
        org=ORG,
        request_id=f"req-{number:032x}",
        key_id="key-0",
        created_ms=NOW_MS,
        lease_until_ms=lease_until_ms,
        requested_model="auto",
        surface="plain",
        stream=True,
        decision={"object": "routing", "task": "chat"},
    )


def final(record: Record) -> Record:
    """What it becomes."""
    usage, charge = Usage(10, output_tokens=7), Charge(total=12, input=5, output=7)
    return settled(record, outcome="served", attempts=(), usage=usage, charge=charge, settled_ms=NOW_MS + 250)


@contextmanager
def _opened(store: Store, run: Run) -> Iterator[Store]:
    try:
        yield store
    finally:
        run(store.close())


async def _begin(store: Store) -> None:
    """What copies are made of."""
    await store.save_organisation(Organisation(ORG, "bench", NOW_MS))
    await store.save_key(Key(digest("key 0"), "key-0", ORG, "a key", "abcd", NOW_MS))
    await store.settle(final(open_record(0)))


async def _fill(store: Store, size: int) -> None:
    for number in range(1, size + 1):
        org = f"org-{number // KEYS_OF_ONE}"
        await store.save_key(Key(digest(f"key {number}"), f"key-{number}", org, "a key", "abcd", NOW_MS + number))
        await store.settle(final(open_record(number)))


def _copy(path: Path, size: int) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        names = [row[1] for row in connection.execute("PRAGMA table_info(total)")]
        rest = ", ".join(name for name in names if name not in ("org", "quarter", "key_id"))
        connection.execute(_COPY_KEYS, (size, NOW_MS))
        connection.execute(_COPY_RECORDS, (size,))
        connection.execute(_COPY_TOTALS.format(rest=rest), (size,))
