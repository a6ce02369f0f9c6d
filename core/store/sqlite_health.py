"""What processes on one SQLite file tell each other of their hosts."""

from collections.abc import Mapping
from sqlite3 import Connection

from core.ports import HostNews
from core.store.host_news import TTFT_MS, still_new
from core.store.sqlite_thread import SqliteThread

_TELL = """INSERT INTO host_health (name, cooling_until_ms, cooldowns, ttft_ms, ttft_at_ms) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET
    cooldowns = CASE WHEN excluded.cooling_until_ms > cooling_until_ms THEN excluded.cooldowns ELSE cooldowns END,
    cooling_until_ms = max(excluded.cooling_until_ms, cooling_until_ms),
    ttft_ms = coalesce(excluded.ttft_ms, ttft_ms),
    ttft_at_ms = max(excluded.ttft_at_ms, ttft_at_ms)"""
_FORGET = "DELETE FROM host_health WHERE cooling_until_ms <= ? AND ttft_at_ms <= ?"
_TOLD = "SELECT name, cooling_until_ms, cooldowns, ttft_ms, ttft_at_ms FROM host_health"


class SqliteHealth:
    """The `SharedHealth` port on the file."""

    _thread: SqliteThread

    async def tell_health(self, news: Mapping[str, HostNews], now_ms: int) -> None:
        """Keep news; see `SharedHealth.tell_health`."""
        rows = [
            (name, one.cooling_until_ms, one.cooldowns, one.ttft_ms, 0 if one.ttft_ms is None else now_ms)
            for name, one in news.items()
        ]

        def work(connection: Connection) -> None:
            connection.execute(_FORGET, (now_ms, now_ms - TTFT_MS))
            connection.executemany(_TELL, rows)

        await self._thread.write(work)

    async def told_health(self, now_ms: int) -> Mapping[str, HostNews]:
        """What was told and still holds, by name."""

        def work(connection: Connection) -> dict[str, HostNews]:
            rows = connection.execute(_TOLD)
            told = ((name, still_new(until, count, ttft, at, now_ms)) for name, until, count, ttft, at in rows)
            return {name: news for name, news in told if news is not None}

        return await self._thread.read(work)
