"""The store in one SQLite file: the default of a single machine and of development.

An acknowledged write survives the death of the process, `kill -9` included. With the default durability (`NORMAL`) a
loss of power may cost the writes of the last moments before it, and the file stays whole; `FULL` syncs the disk at
every commit. Measured for the open and the settle of one request: 0.35 ms with `NORMAL`; with `FULL` 0.7 ms on a disk
that syncs at once, 7 ms on one that does not; with 32 requests at a time, which share commits, 0.15 ms and 0.2 to
0.5 ms each. Several processes may have the file open; it must not lie on a network drive.

Records are listed by request id, which is time-ordered. What has passed its retention is removed little by little, as
new records come.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from sqlite3 import Connection

from core.ports import ToolTurn
from core.record import Record
from core.store import schema
from core.store.sqlite_answers import SqliteAnswers
from core.store.sqlite_directory import SqliteDirectory
from core.store.sqlite_file import Durability
from core.store.sqlite_health import SqliteHealth
from core.store.sqlite_limits import SqliteLimits
from core.store.sqlite_opinions import SqliteOpinions
from core.store.sqlite_setup import SqliteSetup
from core.store.sqlite_thread import SqliteThread
from core.store.sqlite_totals import SqliteTotals, settle_and_count

DAY_MS = 86_400_000
RECALL_MS = DAY_MS

# With every so many new records, at most this many of the oldest are looked at and removed.
_TIDY_EVERY = 64
_TIDY_MOST = 256

# SQLite binds at least this many values in one statement, however it was built.
_BINDINGS = 500

_INSERT = """INSERT INTO record (org, request_id, lease_until_ms, settled, expires_ms, item)
    VALUES (?, ?, ?, ?, ?, ?)"""
_OPEN = f"{_INSERT} ON CONFLICT (org, request_id) DO NOTHING"
_RENEW = """UPDATE record SET lease_until_ms = max(lease_until_ms, ?)
    WHERE org = ? AND request_id = ? AND settled = 0"""
_MARK = "UPDATE record SET item = ? WHERE org = ? AND request_id = ? AND settled = 0"
_TIDY = """DELETE FROM record WHERE expires_ms <= ?
    AND n IN (SELECT n FROM record ORDER BY n LIMIT ?)"""
_RECORD = "SELECT item, lease_until_ms FROM record WHERE org = ? AND request_id = ?"
_ANY_RECORD = """SELECT item, lease_until_ms FROM record
    WHERE org IN (SELECT id FROM organisation) AND request_id = ?"""
_RECORDS = """SELECT item, lease_until_ms FROM record WHERE org = ?
    ORDER BY request_id DESC LIMIT ?"""
_RECORDS_BEFORE = """SELECT item, lease_until_ms FROM record WHERE org = ? AND request_id < ?
    ORDER BY request_id DESC LIMIT ?"""
_OVERDUE = """SELECT item, lease_until_ms FROM record WHERE settled = 0 AND lease_until_ms < ?
    ORDER BY lease_until_ms, request_id LIMIT ?"""
_REMEMBER = "INSERT OR REPLACE INTO tool_turn (org, call_id, expires_ms, item) VALUES (?, ?, ?, ?)"


class SqliteStore(
    SqliteDirectory, SqliteSetup, SqliteOpinions, SqliteHealth, SqliteTotals, SqliteLimits, SqliteAnswers
):
    """The `Store` port on a file; nothing is opened before it is needed.

    Args:
        path: The database file; it and its folder are made where they are missing.
        durability: SQLite's `synchronous`: what a loss of power may cost, see above.
        busy_ms: How long a write waits for another process's, in milliseconds.
        retention_days: How long records are kept.
    """

    def __init__(
        self,
        path: Path,
        *,
        durability: Durability = "NORMAL",
        busy_ms: int = 2_000,
        retention_days: int = 90,
    ) -> None:
        self._thread = SqliteThread(path, durability, busy_ms)
        self._retention_ms = retention_days * DAY_MS
        self._opened = 0

    async def open(self, record: Record) -> None:
        """Keep an open record; see `Ledger.open`.

        Raises:
            ValueError: The record is settled.
        """
        if record.is_settled:
            raise ValueError("a settled record cannot be opened")
        row = self._row(record)
        tidy = self._opened % _TIDY_EVERY == 0
        self._opened += 1

        def work(connection: Connection) -> None:
            connection.execute(_OPEN, row)
            if tidy:
                connection.execute(_TIDY, (record.created_ms, _TIDY_MOST))

        await self._thread.write(work)

    async def renew(self, org: str, request_id: str, lease_until_ms: int) -> None:
        """Extend the lease of an open record; an earlier moment than the present one is ignored."""
        await self._execute(_RENEW, (lease_until_ms, org, request_id))

    async def mark(self, record: Record) -> None:
        """Note the attempts so far on an open record; see `Ledger.mark`."""
        await self._execute(_MARK, (_text(schema.record_item(record)), record.org, record.request_id))

    async def settle(self, record: Record) -> bool:
        """Make a record final; see `Ledger.settle`.

        Raises:
            ValueError: The record is not settled.
        """
        if not record.is_settled:
            raise ValueError("a record that is not settled cannot be kept as final")
        row = self._row(record)
        return await self._thread.write(lambda connection: settle_and_count(connection, record, row))

    async def record(self, org: str, request_id: str) -> Record | None:
        """One record of that organisation, or None."""
        found = await self._select(_RECORD, (org, request_id))
        return _record(*found[0]) if found else None

    async def any_record(self, request_id: str) -> Record | None:
        """The record of that id, whichever organisation's it is, or None."""
        found = await self._select(_ANY_RECORD, (request_id,))
        return _record(*found[0]) if found else None

    async def records(self, org: str, limit: int, before: str | None = None) -> Sequence[Record]:
        """The organisation's newest records, newest first; see `Ledger.records`."""
        if before is None:
            rows = await self._select(_RECORDS, (org, max(0, limit)))
        else:
            rows = await self._select(_RECORDS_BEFORE, (org, before, max(0, limit)))
        return [_record(*row) for row in rows]

    async def overdue(self, now_ms: int, limit: int) -> Sequence[Record]:
        """Open records whose lease has passed, the earliest lease first."""
        return [_record(*row) for row in await self._select(_OVERDUE, (now_ms, max(0, limit)))]

    async def remember(self, org: str, call_ids: Sequence[str], turn: ToolTurn, now_ms: int) -> None:
        """Keep a turn under each of its calls' ids, for 24 hours."""
        item = _text(schema.tool_turn_item(turn))
        rows = [(org, call_id, now_ms + RECALL_MS, item) for call_id in call_ids]

        def work(connection: Connection) -> None:
            connection.execute("DELETE FROM tool_turn WHERE expires_ms <= ?", (now_ms,))
            connection.executemany(_REMEMBER, rows)

        await self._thread.write(work)

    async def recall(self, org: str, call_ids: Sequence[str], now_ms: int) -> Mapping[str, ToolTurn]:
        """The turns that are known and not expired, by call id."""
        found: dict[str, ToolTurn] = {}
        for start in range(0, len(call_ids), _BINDINGS):
            some = call_ids[start : start + _BINDINGS]
            places = ", ".join("?" * len(some))
            rows = await self._select(
                f"SELECT call_id, item FROM tool_turn WHERE org = ? AND expires_ms > ? AND call_id IN ({places})",
                (org, now_ms, *some),
            )
            found |= {call_id: schema.loads(item, schema.tool_turn_value) for call_id, item in rows}
        return found

    async def ping(self) -> None:
        """Return if the file can be read and has our schema."""
        await self._select("SELECT 1 FROM organisation LIMIT 1", ())

    async def close(self) -> None:
        """Finish writes under way and let go of the file; a second time does nothing."""
        await self._thread.close()

    def _row(self, record: Record) -> tuple[str, str, int, bool, int, str]:
        return (
            record.org,
            record.request_id,
            record.lease_until_ms,
            record.is_settled,
            record.created_ms + self._retention_ms,
            _text(schema.record_item(record)),
        )

    async def _select(self, statement: str, values: tuple[object, ...]) -> list[tuple[str, ...]]:
        return await self._thread.read(lambda connection: connection.execute(statement, values).fetchall())

    async def _execute(self, statement: str, values: tuple[object, ...]) -> int:
        return await self._thread.write(lambda connection: connection.execute(statement, values).rowcount)


def _text(item: schema.Item) -> str:
    return schema.dumps(item).decode()


def _record(item: str, lease_until_ms: object) -> Record:
    # The column is the truth about the lease: renewing it leaves the item alone.
    return schema.loads(item, lambda plain: schema.record_value(plain | {"lease_until_ms": lease_until_ms}))
