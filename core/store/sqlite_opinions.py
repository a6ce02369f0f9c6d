"""What callers said of answers, in the SQLite file: each score until its decision is gone, and the sums for good."""

from collections.abc import Mapping
from sqlite3 import Connection

from core.store.sqlite_thread import SqliteThread
from core.workspace import Opinion

# With every score, at most this many of the oldest are looked at and removed.
_TIDY_MOST = 64

_EARLIER = "SELECT model, task, thousandths FROM opinion_score WHERE org = ? AND request_id = ?"
_KEEP = """INSERT INTO opinion_score (org, request_id, model, task, thousandths, expires_ms)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (org, request_id) DO UPDATE
    SET thousandths = excluded.thousandths, expires_ms = excluded.expires_ms"""
_ADD = """INSERT INTO opinion (org, model, task, count, sum_thousandths) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (org, model, task) DO UPDATE
    SET count = count + excluded.count, sum_thousandths = sum_thousandths + excluded.sum_thousandths"""
_TIDY = """DELETE FROM opinion_score WHERE (org, request_id) IN
    (SELECT org, request_id FROM opinion_score WHERE expires_ms <= ? ORDER BY expires_ms LIMIT ?)"""
_OPINIONS = "SELECT model, task, count, sum_thousandths FROM opinion WHERE org = ?"


class SqliteOpinions:
    """The `Opinions` port on the file."""

    _thread: SqliteThread
    _retention_ms: int

    async def rate(self, org: str, request_id: str, model: str, task: str, thousandths: int, now_ms: int) -> None:
        """Keep the score of an answer; see `Opinions.rate`."""

        def work(connection: Connection) -> None:
            connection.execute(_TIDY, (now_ms, _TIDY_MOST))
            found = connection.execute(_EARLIER, (org, request_id)).fetchone()
            kept_model, kept_task, earlier = found or (model, task, 0)
            row = (org, request_id, model, task, thousandths, now_ms + self._retention_ms)
            connection.execute(_KEEP, row)
            count = 1 if found is None else 0
            connection.execute(_ADD, (org, kept_model, kept_task, count, thousandths - earlier))

        await self._thread.write(work)

    async def opinions(self, org: str) -> Mapping[tuple[str, str], Opinion]:
        """What the organisation's callers said, by model and task."""
        return await self._thread.read(lambda connection: opinions_in(connection, org))


def opinions_in(connection: Connection, org: str) -> dict[tuple[str, str], Opinion]:
    """An organisation's opinions, by model and task."""
    rows = connection.execute(_OPINIONS, (org,))
    return {(model, task): Opinion(count, total) for model, task, count, total in rows}
