"""Settled records and their totals in the SQLite file: a record is settled and counted in one transaction, or neither.

So the sum of the totals is the sum of the settled records at every moment, and there is nothing to catch up with.
"""

from collections.abc import Sequence
from sqlite3 import Connection
from typing import Final

from core.record import LOST, Record
from core.store import schema
from core.store.sqlite_thread import SqliteThread
from core.totals import COUNTS, OPENING_MS, Bucket, By, Counts, Total, counted, in_order

_SETTLE: Final = """INSERT INTO record (org, request_id, lease_until_ms, settled, expires_ms, item)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (org, request_id) DO UPDATE
    SET lease_until_ms = excluded.lease_until_ms, settled = 1, item = excluded.item
    WHERE settled = 0"""
_FOUND: Final = "SELECT item FROM record WHERE org = ? AND request_id = ?"
_REPLACE: Final = "UPDATE record SET lease_until_ms = ?, item = ? WHERE org = ? AND request_id = ?"
_COUNT: Final = f"""INSERT INTO total (org, quarter, key_id, model, task, {", ".join(COUNTS)})
    VALUES ({", ".join("?" * (5 + len(COUNTS)))}) ON CONFLICT (org, quarter, key_id, model, task) DO UPDATE
    SET {", ".join(f"{name} = {name} + excluded.{name}" for name in COUNTS)}"""
_OLDEST_OPEN: Final = """SELECT min(json_extract(item, '$.created_ms')) FROM record
    WHERE settled = 0 AND org = ? AND json_valid(item)"""
_COLUMNS: Final = (
    (By.TIME, "quarter", "0"),
    (By.KEY, "key_id", "''"),
    (By.MODEL, "model", "''"),
    (By.TASK, "task", "''"),
)

Row = tuple[str, str, int, bool, int, str]
"""A record's row: organisation, request id, end of its lease, whether it is settled, when it expires, its item."""


class SqliteTotals:
    """The totals, for a store that has the thread."""

    _thread: SqliteThread

    async def totals(self, org: str, quarters: range, by: frozenset[By]) -> Sequence[Total]:
        """The organisation's totals within those quarters of an hour; see `Totals.totals`."""
        columns = ", ".join(column if kind in by else instead for kind, column, instead in _COLUMNS)
        grouping = ", ".join(column for kind, column, _ in _COLUMNS if kind in by) or "org"
        sums = ", ".join(f"sum({name})" for name in COUNTS)
        statement = f"SELECT {columns}, {sums} FROM total WHERE org = ? AND quarter >= ? AND quarter < ?"
        values = (org, quarters.start, quarters.stop)

        def work(connection: Connection) -> list[Total]:
            # Here, and not on the event loop: a month of a busy organisation is tens of thousands of rows.
            rows = connection.execute(f"{statement} GROUP BY {grouping}", values)
            return [Total(Bucket(*row[:4]), Counts(*row[4:])) for row in rows if any(row[4:])]

        return await self._thread.read(work)

    async def complete_until(self, org: str, now_ms: int) -> int | None:
        """Before then every request of the organisation is counted; see `Totals.complete_until`."""
        rows = await self._thread.read(lambda connection: connection.execute(_OLDEST_OPEN, (org,)).fetchall())
        oldest: int | None = rows[0][0]
        known = now_ms - OPENING_MS
        return known if oldest is None else min(known, oldest)

    async def catch_up(self, now_ms: int, limit: int) -> int:
        """Nothing but to see that the file is there: what is settled is counted."""
        await self._thread.read(lambda connection: None)
        return 0


def settle_and_count(connection: Connection, record: Record, row: Row) -> bool:
    """Make a record final and count it; whether it was not final before, or only given up for lost."""
    if connection.execute(_SETTLE, row).rowcount == 1:
        _count(connection, record.org, counted(record))
        return True
    ((item,),) = connection.execute(_FOUND, (record.org, record.request_id)).fetchall()
    found = schema.loads(item, schema.record_value)
    if found.outcome != LOST or record.outcome == LOST:
        return False
    connection.execute(_REPLACE, (record.lease_until_ms, row[-1], record.org, record.request_id))
    before = counted(found)
    _count(connection, record.org, Total(before.bucket, -before.counts))
    _count(connection, record.org, counted(record))
    return True


def _count(connection: Connection, org: str, total: Total) -> None:
    bucket = total.bucket
    where = org, bucket.quarter, bucket.key_id, bucket.model, bucket.task
    connection.execute(_COUNT, (*where, *in_order(total.counts)))
