"""Answers under their callers' idempotency keys, in the SQLite file."""

from sqlite3 import Connection
from typing import Final

from core.kept import Claim, Held, Phase
from core.store.sqlite_thread import SqliteThread

# With every claim, at most this many that have expired are removed.
_TIDY_MOST: Final = 64

_TIDY = """DELETE FROM answer WHERE (org, key_id, name) IN
    (SELECT org, key_id, name FROM answer WHERE expires_ms <= ? ORDER BY expires_ms LIMIT ?)"""
_BEGIN = """INSERT INTO answer (org, key_id, name, body, request_id, lease_until_ms, expires_ms, phase)
    VALUES (?, ?, ?, ?, ?, ?, ?, 'running')
    ON CONFLICT (org, key_id, name) DO UPDATE SET body = excluded.body, request_id = excluded.request_id,
    lease_until_ms = excluded.lease_until_ms, expires_ms = excluded.expires_ms, phase = 'running', answer = NULL
    WHERE expires_ms <= ? OR phase = 'running' AND lease_until_ms <= ?"""
_HELD = "SELECT body, request_id, phase, answer FROM answer WHERE org = ? AND key_id = ? AND name = ?"
_MINE = "WHERE org = ? AND key_id = ? AND name = ? AND request_id = ? AND phase = 'running'"
_FINISH = f"UPDATE answer SET phase = ?, answer = ? {_MINE}"
_DROP = f"DELETE FROM answer {_MINE}"


class SqliteAnswers:
    """The `Answers` port on the file."""

    _thread: SqliteThread

    async def begin(self, claim: Claim, now_ms: int) -> Held | None:
        """Take the key, unless it is taken; see `Answers.begin`."""
        row = (*_address(claim), claim.body, claim.request_id, claim.lease_until_ms, claim.expires_ms, now_ms, now_ms)

        def work(connection: Connection) -> Held | None:
            connection.execute(_TIDY, (now_ms, _TIDY_MOST))
            if connection.execute(_BEGIN, row).rowcount == 1:
                return None
            body, request_id, phase, answer = connection.execute(_HELD, _address(claim)).fetchone()
            return Held(body, request_id, Phase(phase), answer)

        return await self._thread.write(work)

    async def finish(self, claim: Claim, answer: str | None) -> bool:
        """Keep the answer; see `Answers.finish`."""
        phase = Phase.TOO_LARGE if answer is None else Phase.KEPT
        row = (phase.value, answer, *_address(claim), claim.request_id)
        return await self._thread.write(lambda connection: connection.execute(_FINISH, row).rowcount == 1)

    async def fetch(self, claim: Claim, held: Held) -> str | None:
        """The sealed answer, or None where it is not there any more."""
        found = await self._thread.read(lambda connection: connection.execute(_HELD, _address(claim)).fetchone())
        return found[3] if found is not None and found[1] == held.request_id else None

    async def drop(self, claim: Claim) -> None:
        """Give the key up, if it is still the claim's and nothing is kept under it."""
        row = (*_address(claim), claim.request_id)
        await self._thread.write(lambda connection: connection.execute(_DROP, row))


def _address(claim: Claim) -> tuple[str, str, str]:
    return claim.org, claim.key_id, claim.name
