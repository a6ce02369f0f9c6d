"""What only the file can suffer: death of its process, other processes, full disks, damage."""

import asyncio
import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from threading import Event

import pytest

from core.errors import StoreUnavailable
from core.store.sqlite import SqliteStore
from core.store.sqlite_file import Durability
from core.store.sqlite_thread import MOST_AT_ONCE, SqliteThread
from tests.contracts import sqlite_writer
from tests.contracts.backends import SqliteBackend
from tests.contracts.values import NOW_MS, TOOL_TURN, final, open_record, request_id

Work = Callable[[sqlite3.Connection], int]

ROOT = Path(__file__).parents[2]
DAY_MS = 86_400_000


def writer(path: Path, first: int, count: int) -> "subprocess.Popen[str]":
    assert sqlite_writer.__file__
    return subprocess.Popen(
        [sys.executable, sqlite_writer.__file__, str(path), str(first), str(count)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


async def test_a_killed_process_keeps_what_it_acknowledged(sqlite: SqliteBackend) -> None:
    with writer(sqlite.path, 0, 1_000_000) as process:
        assert process.stdout
        lines = [process.stdout.readline() for _ in range(40)]
        process.kill()
        lines += process.stdout.readlines()
    acknowledged = [int(line.split()[0]) for line in lines if line.endswith("True\n")]
    assert acknowledged == list(range(len(acknowledged)))
    store = sqlite.store()
    for number in acknowledged:
        assert await store.record("acme", request_id(number)) == final(open_record(number))
        assert await store.settle(final(open_record(number))) is False
    await store.close()


def test_processes_that_start_together_settle_each_record_once(sqlite: SqliteBackend) -> None:
    processes = [writer(sqlite.path, 0, 60) for _ in range(3)]
    said = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    won = sorted(int(line.split()[0]) for text in said for line in text.splitlines() if "True" in line)
    assert won == list(range(60))


async def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "headrace.db"
    store = SqliteStore(path)
    await store.open(open_record(1))
    modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    await store.close()
    assert modes == dict.fromkeys(["headrace.db", "headrace.db-shm", "headrace.db-wal"], 0o600)


async def test_nothing_is_opened_before_it_is_needed(sqlite: SqliteBackend) -> None:
    store = sqlite.store()
    assert not sqlite.path.exists()
    await store.close()
    assert not sqlite.path.exists()


async def test_a_store_recovers_when_its_file_can_be_opened_again(sqlite: SqliteBackend) -> None:
    sqlite.path.mkdir()
    store = sqlite.store()
    with pytest.raises(StoreUnavailable) as caught:
        await store.open(open_record(1))
    assert str(sqlite.path) in caught.value.detail
    sqlite.path.rmdir()
    await store.open(open_record(1))
    assert await store.record("acme", request_id(1)) == open_record(1)
    await store.close()


async def test_a_lock_that_stays_is_named_and_reading_goes_on(sqlite: SqliteBackend) -> None:
    store = SqliteStore(sqlite.path, busy_ms=20)
    await store.open(open_record(1))
    other = sqlite3.connect(sqlite.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable) as caught:
        await store.settle(final(open_record(1)))
    assert "another process keeps it locked" in caught.value.detail
    assert caught.value.retry_after_s is not None
    assert await store.record("acme", request_id(1)) == open_record(1)
    other.execute("COMMIT")
    other.close()
    assert await store.settle(final(open_record(1))) is True
    await store.close()


async def failure_of(work: Awaitable[None]) -> StoreUnavailable | None:
    try:
        await work
    except StoreUnavailable as failure:
        return failure
    return None


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_what_the_disk_cannot_hold_is_refused_and_the_rest_kept(
    sqlite: SqliteBackend,
) -> None:
    store = sqlite.store()
    number = 0
    failure = None
    with largest_file(400_000):
        while failure is None:
            failure = await failure_of(store.open(open_record(number)))
            number += 1
    kept = [open_record(before) for before in range(number - 1)]
    assert "disk" in failure.detail
    assert kept
    assert await store.records("acme", 10_000) == kept[::-1]
    await store.open(open_record(10_000))
    await store.close()


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"this is no database" * 500, "not a database"), (b"SQLite format 3\0" * 500, "database")],
)
async def test_a_file_of_another_kind_is_named_and_left_alone(
    sqlite: SqliteBackend, content: bytes, words: str
) -> None:
    sqlite.path.write_bytes(content)
    store = sqlite.store()
    with pytest.raises(StoreUnavailable) as caught:
        await store.ping()
    await store.close()
    assert words in caught.value.detail
    assert sqlite.path.read_bytes() == content


async def test_the_database_of_another_program_is_left_alone(sqlite: SqliteBackend) -> None:
    connection = sqlite3.connect(sqlite.path)
    connection.execute("CREATE TABLE recipe (name TEXT)")
    connection.close()
    store = sqlite.store()
    with pytest.raises(StoreUnavailable) as caught:
        await store.ping()
    await store.close()
    assert "another program" in caught.value.detail
    connection = sqlite3.connect(sqlite.path)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("recipe",)]
    connection.close()


async def test_a_newer_schema_is_left_alone(sqlite: SqliteBackend) -> None:
    connection = sqlite3.connect(sqlite.path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    store = sqlite.store()
    with pytest.raises(StoreUnavailable) as caught:
        await store.ping()
    await store.close()
    assert "newer version" in caught.value.detail
    assert "schema 99" in caught.value.detail


@pytest.mark.parametrize("item", ["{}", "[]", "no json", '{"charge": 1}', "3"])
async def test_a_damaged_entry_is_named(sqlite: SqliteBackend, item: str) -> None:
    store = sqlite.store()
    await store.open(open_record(1))
    connection = sqlite3.connect(sqlite.path)
    with connection:
        connection.execute("UPDATE record SET item = ?", (item,))
    connection.close()
    with pytest.raises(StoreUnavailable) as caught:
        await store.record("acme", request_id(1))
    await store.close()
    assert "cannot be read" in caught.value.detail


async def test_old_records_go_as_new_ones_come(sqlite: SqliteBackend) -> None:
    store = sqlite.store(retention_days=1)
    for number in range(3):
        await store.open(open_record(number))
    await store.settle(final(open_record(0)))
    later = NOW_MS + 1 + DAY_MS
    for number in range(3, 200):
        await store.open(open_record(number, created_ms=later))
    found = [record.request_id for record in await store.records("acme", 1_000)]
    (total,) = await store.totals("acme", range(2**40), frozenset())
    await store.close()
    assert found == [request_id(number) for number in range(199, 1, -1)]
    assert (total.counts.requests, total.counts.cost_micros) == (1, 12), "what was used is known for ever"


async def test_forgotten_tool_turns_leave_the_file(sqlite: SqliteBackend) -> None:
    store = sqlite.store()
    await store.remember("acme", ["call_1"], TOOL_TURN, NOW_MS)
    await store.remember("other", ["call_2"], TOOL_TURN, NOW_MS + DAY_MS)
    await store.close()
    connection = sqlite3.connect(sqlite.path)
    assert connection.execute("SELECT call_id FROM tool_turn").fetchall() == [("call_2",)]
    connection.close()


async def test_every_commit_can_be_synced(sqlite: SqliteBackend) -> None:
    modes: list[tuple[Durability, int]] = [("NORMAL", 1), ("FULL", 2)]
    for durability, number in modes:
        thread = SqliteThread(sqlite.path, durability, 100)
        found = await thread.read(lambda one: one.execute("PRAGMA synchronous").fetchone())
        await thread.close()
        assert found == (number,)
    store = SqliteStore(sqlite.path, durability="FULL")
    await store.open(open_record(1))
    await store.close()


@asynccontextmanager
async def kept_busy(thread: SqliteThread) -> AsyncIterator[None]:
    """While the thread is busy, what is asked for waits; then it is done together."""
    begun, release = Event(), Event()

    def work(_: sqlite3.Connection) -> None:
        begun.set()
        release.wait()

    first = asyncio.ensure_future(thread.read(work))
    await asyncio.to_thread(begun.wait)
    yield
    await asyncio.sleep(0)  # until what was started is in the queue
    release.set()
    await first


def insert(name: str, connection: sqlite3.Connection) -> int:
    row = (name, "{}")
    return connection.execute("INSERT INTO organisation (id, item) VALUES (?, ?)", row).rowcount


def names(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute("SELECT id FROM organisation ORDER BY id")]


async def test_waiting_writes_share_a_transaction(sqlite: SqliteBackend) -> None:
    thread = SqliteThread(sqlite.path, "NORMAL", 100)
    seen: list[bool] = []

    def work(connection: sqlite3.Connection) -> None:
        seen.append(connection.in_transaction)
        connection.execute("CREATE TABLE IF NOT EXISTS once (n INTEGER)")
        connection.execute("INSERT INTO once VALUES (1)")

    async with kept_busy(thread):
        writes = asyncio.gather(*(thread.write(work) for _ in range(5)))
        counting = asyncio.ensure_future(thread.read(lambda one: one.execute("SELECT count(*) FROM once").fetchone()))
    await writes
    assert await counting == (5,)
    assert seen == [True] * 5
    await thread.close()


async def test_one_that_fails_does_not_spoil_its_neighbours(sqlite: SqliteBackend) -> None:
    thread = SqliteThread(sqlite.path, "NORMAL", 100)

    def spoilt(connection: sqlite3.Connection) -> int:
        insert("half", connection)
        return insert("half", connection)

    def unfit(connection: sqlite3.Connection) -> int:
        return connection.execute("SELECT ?", (2**70,)).rowcount

    works: list[Work] = [partial(insert, "a"), spoilt, partial(insert, "b"), unfit]
    async with kept_busy(thread):
        results = asyncio.gather(*map(thread.write, works), return_exceptions=True)
    first, second, third, fourth = await results
    assert [first, third] == [1, 1]
    assert isinstance(second, StoreUnavailable)
    assert isinstance(fourth, OverflowError)
    assert await thread.read(names) == ["a", "b"]
    await thread.close()


async def test_a_failed_commit_fails_all_who_shared_it(sqlite: SqliteBackend) -> None:
    thread = SqliteThread(sqlite.path, "NORMAL", 100)

    def breaks_the_commit(connection: sqlite3.Connection) -> int:
        connection.execute("ROLLBACK")
        return 0

    works: list[Work] = [partial(insert, "a"), breaks_the_commit]
    async with kept_busy(thread):
        results = asyncio.gather(*map(thread.write, works), return_exceptions=True)
    assert [type(result) for result in await results] == [StoreUnavailable] * 2
    assert await thread.read(names) == []
    await thread.close()


async def test_more_than_one_transaction_holds_are_all_done(sqlite: SqliteBackend) -> None:
    thread = SqliteThread(sqlite.path, "NORMAL", 100)
    many = [f"{number:05d}" for number in range(2 * MOST_AT_ONCE + 10)]
    async with kept_busy(thread):
        writes = asyncio.gather(*(thread.write(partial(insert, name)) for name in many))
    await writes
    assert await thread.read(names) == many
    await thread.close()
