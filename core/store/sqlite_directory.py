"""Organisations and keys in the SQLite file."""

from collections.abc import Sequence
from contextlib import suppress
from sqlite3 import Connection, OperationalError

from core.store import schema
from core.store.credits import LARGEST_CREDITS, too_large
from core.store.sqlite_thread import SqliteThread
from core.tenant import Key, Organisation

_KEY = "SELECT item, last_used_ms FROM api_key"
_SAVE_KEY = """INSERT INTO api_key (digest, org, created_ms, id, item, last_used_ms) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (digest) DO UPDATE SET org = excluded.org, created_ms = excluded.created_ms, id = excluded.id,
    item = excluded.item, last_used_ms = coalesce(excluded.last_used_ms, last_used_ms)"""
_TOUCH = """UPDATE api_key SET last_used_ms = ?
    WHERE digest = ? AND (last_used_ms IS NULL OR last_used_ms < ?)"""
_ORGANISATION = "SELECT item, credit_micros FROM organisation"
_SAVE_ORGANISATION = """INSERT INTO organisation (id, item, credit_micros) VALUES (?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET item = excluded.item"""
_PAID = "SELECT micros FROM payment WHERE org = ? AND name = ?"
_PAY = "INSERT INTO payment (org, name, micros, paid_ms) VALUES (?, ?, ?, ?)"
_ADD = "UPDATE organisation SET credit_micros = credit_micros + ? WHERE id = ?"

# Whatever else is kept of organisations, each of its tables has the column `org`.
_OF_ORGANISATIONS = """SELECT m.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c
    WHERE m.type = 'table' AND c.name = 'org' ORDER BY m.name"""


class SqliteDirectory:
    """Organisations and keys, for a store that has the thread."""

    _thread: SqliteThread

    async def key(self, digest: str) -> Key | None:
        """The key with that SHA-256, live or not, or None."""
        found = await self._rows(f"{_KEY} WHERE digest = ?", (digest,))
        return _key(*found[0]) if found else None

    async def keys(self, org: str) -> Sequence[Key]:
        """The organisation's keys, oldest first."""
        return [_key(*row) for row in await self._rows(f"{_KEY} WHERE org = ? ORDER BY created_ms, id", (org,))]

    async def save_key(self, key: Key, before: Key | None = None) -> bool:
        """Write a key in the place of the one with its digest; see `Directory.save_key`."""
        # Beside a key that is there, its last use may have been noted since it was read.
        used_ms = key.last_used_ms if before is None else None
        row = (key.digest, key.org, key.created_ms, key.id, _text(schema.key_item(key)), used_ms)

        def work(connection: Connection) -> bool:
            if before is not None:
                there = connection.execute(f"{_KEY} WHERE digest = ?", (key.digest,)).fetchone()
                if there is None or not _key(*there).is_as(before):
                    return False
            connection.execute(_SAVE_KEY, row)
            return True

        return await self._thread.write(work)

    async def delete_key(self, key: Key) -> None:
        """Forget a key; nothing happens where it is not there."""
        await self._thread.write(
            lambda connection: connection.execute("DELETE FROM api_key WHERE digest = ?", (key.digest,))
        )

    async def touch_key(self, digest: str, now_ms: int) -> None:
        """Note that a key was used; an earlier time than the one known, or an unknown key, changes nothing."""
        await self._thread.write(lambda connection: connection.execute(_TOUCH, (now_ms, digest, now_ms)))

    async def organisation(self, org: str) -> Organisation | None:
        """The organisation, or None."""
        found = await self._rows(f"{_ORGANISATION} WHERE id = ?", (org,))
        return organisation_of(*found[0]) if found else None

    async def organisations(self) -> Sequence[Organisation]:
        """All organisations, by id."""
        return [organisation_of(*row) for row in await self._rows(f"{_ORGANISATION} ORDER BY id", ())]

    async def save_organisation(self, organisation: Organisation) -> None:
        """Write an organisation; one with the same id is replaced, but for its credits: only payments change those."""
        row = (organisation.id, _text(schema.organisation_item(organisation)), organisation.credit_micros)
        await self._thread.write(lambda connection: connection.execute(_SAVE_ORGANISATION, row))

    async def pay_in(self, org: str, payment: str, micros: int, now_ms: int) -> int | None:
        """Add a payment, once, to what an organisation paid in; see `Directory.pay_in`."""

        def work(connection: Connection) -> tuple[bool, int | None]:
            """Whether the credits can be kept, and what there is of that name."""
            known = connection.execute("SELECT credit_micros FROM organisation WHERE id = ?", (org,)).fetchone()
            if known is None:
                return True, 0
            paid = connection.execute(_PAID, (org, payment)).fetchone()
            if paid is not None:
                return True, int(paid[0])
            if abs(known[0] + micros) > LARGEST_CREDITS:
                return False, None
            connection.execute(_PAY, (org, payment, micros, now_ms))
            connection.execute(_ADD, (micros, org))
            return True, None

        fits, before = await self._thread.write(work)
        if not fits:
            raise too_large()
        return before

    async def delete_organisation(self, org: str) -> None:
        """Forget an organisation and everything that is kept of it."""

        def work(connection: Connection) -> None:
            # SQLite would only mark the pages as free; this overwrites them.
            connection.execute("PRAGMA secure_delete = ON")
            for (table,) in connection.execute(_OF_ORGANISATIONS).fetchall():
                connection.execute(f'DELETE FROM "{table}" WHERE org = ?', (org,))
            connection.execute("DELETE FROM organisation WHERE id = ?", (org,))
            connection.execute("PRAGMA secure_delete = OFF")

        await self._thread.write(work)
        await self._thread.read(_empty_log)

    async def _rows(self, statement: str, values: tuple[object, ...]) -> list[tuple[str, int]]:
        return await self._thread.read(lambda connection: connection.execute(statement, values).fetchall())


def _empty_log(connection: Connection) -> None:
    """Take what the write-ahead log still holds of earlier writes into the file; later is soon enough."""
    with suppress(OperationalError):  # not while a transaction is being written
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def organisation_of(item: str, credit_micros: int) -> Organisation:
    """The organisation in a row of its table."""
    # The column is the truth about the credits: a payment leaves the item alone.
    return schema.loads(item, lambda plain: schema.organisation_value(plain | {"credit_micros": credit_micros}))


def _key(item: str, last_used_ms: int | None) -> Key:
    return schema.loads(item, lambda plain: schema.key_value(plain | {"last_used_ms": last_used_ms}))


def _text(item: schema.Item) -> str:
    return schema.dumps(item).decode()
