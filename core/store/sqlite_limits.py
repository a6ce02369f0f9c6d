"""Limits in the SQLite file: what is read and what is written of them is one transaction."""

from collections.abc import Mapping, Sequence
from sqlite3 import Connection
from typing import Final

from core.reservation import (
    Admission,
    Amount,
    Counters,
    Held,
    Reservation,
    Standing,
    admitted,
    applied,
    settling,
)
from core.store import schema
from core.store.sqlite_thread import SqliteThread

_FOUND: Final = "SELECT item FROM limited WHERE org = ? AND subject = ?"
_WRITE: Final = "INSERT OR REPLACE INTO limited (org, subject, item) VALUES (?, ?, ?)"


class SqliteLimits:
    """The limits, for a store that has the thread."""

    _thread: SqliteThread

    async def reserve(self, reservation: Reservation, bounds: Mapping[str, Counters]) -> Admission:
        """Take what fits; see `Limiter.reserve`."""

        def work(connection: Connection) -> Admission:
            found = {subject: _read(connection, reservation.org, subject) for subject in reservation.amounts}
            after = admitted(found, reservation, bounds)
            if after is None:
                return Admission(False, found)
            for subject, standing in after.items():
                _write(connection, reservation.org, subject, standing)
            return Admission(True, after)

        return await self._thread.write(work)

    async def settle_reservation(
        self,
        reservation: Reservation,
        used: Amount,
        now_ms: int,
        *,
        lapsed: Mapping[str, Sequence[str]] | None = None,
        keep_until_ms: int = 0,
    ) -> bool:
        """Count what was used in place of what is held; see `Limiter.settle_reservation`."""

        def work(connection: Connection) -> bool:
            any_held = False
            for subject in reservation.amounts:
                standing = _read(connection, reservation.org, subject)
                held = standing.held.get(reservation.request_id)
                if held is None:
                    continue
                any_held = True
                names = (lapsed or {}).get(subject, ())
                change = settling(held, used, now_ms, lapsed=names, keep_until_ms=keep_until_ms)
                _write(connection, reservation.org, subject, applied(standing, reservation.request_id, change))
            return any_held

        return await self._thread.write(work)

    async def standings(self, org: str, subjects: Sequence[str]) -> Mapping[str, Standing]:
        """Where these subjects stand; see `Limiter.standings`."""
        return await self._thread.read(
            lambda connection: {subject: _read(connection, org, subject) for subject in subjects}
        )


def _read(connection: Connection, org: str, subject: str) -> Standing:
    found = connection.execute(_FOUND, (org, subject)).fetchone()
    return Standing() if found is None else schema.loads(found[0], _standing)


def _write(connection: Connection, org: str, subject: str, standing: Standing) -> None:
    held = {
        name: {"amounts": dict(each.amounts), "expires_ms": each.expires_ms} for name, each in standing.held.items()
    }
    item = schema.dumps({"counters": dict(standing.counters), "held": held})
    connection.execute(_WRITE, (org, subject, item.decode()))


def _standing(item: schema.Item) -> Standing:
    held = {name: Held(each["amounts"], each["expires_ms"]) for name, each in item["held"].items()}
    return Standing(item["counters"], held)
