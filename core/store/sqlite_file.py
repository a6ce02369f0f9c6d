"""Opens the database file, brings its schema up to date, and puts SQLite's failures into words.

It never holds a connection: who asks for one owns it.
"""

import os
import sqlite3
from pathlib import Path
from typing import Literal

from core.errors import StoreUnavailable

Durability = Literal["NORMAL", "FULL"]

# Each entry takes the schema one version further; entries are never edited once released.
# `record.n` grows with time, so the oldest records are found without an index of their own.
_MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE record (
            n INTEGER PRIMARY KEY,
            org TEXT NOT NULL,
            request_id TEXT NOT NULL,
            lease_until_ms INTEGER NOT NULL,
            settled INTEGER NOT NULL,
            expires_ms INTEGER NOT NULL,
            item TEXT NOT NULL,
            UNIQUE (org, request_id)
        )""",
        "CREATE INDEX record_open ON record (lease_until_ms) WHERE settled = 0",
        """CREATE TABLE api_key (
            digest TEXT PRIMARY KEY,
            org TEXT NOT NULL,
            created_ms INTEGER NOT NULL,
            id TEXT NOT NULL,
            item TEXT NOT NULL
        ) WITHOUT ROWID""",
        "CREATE INDEX api_key_of_org ON api_key (org, created_ms, id)",
        """CREATE TABLE organisation (
            id TEXT PRIMARY KEY,
            item TEXT NOT NULL
        ) WITHOUT ROWID""",
        """CREATE TABLE tool_turn (
            org TEXT NOT NULL,
            call_id TEXT NOT NULL,
            expires_ms INTEGER NOT NULL,
            item TEXT NOT NULL,
            PRIMARY KEY (org, call_id)
        )""",
        "CREATE INDEX tool_turn_expiry ON tool_turn (expires_ms)",
    ),
    (
        # Kept beside the items: one is added to, the other written often.
        "ALTER TABLE organisation ADD COLUMN credit_micros INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE api_key ADD COLUMN last_used_ms INTEGER",
        """CREATE TABLE payment (
            org TEXT NOT NULL,
            name TEXT NOT NULL,
            micros INTEGER NOT NULL,
            paid_ms INTEGER NOT NULL,
            PRIMARY KEY (org, name)
        ) WITHOUT ROWID""",
        # What organisations set up: policies, own keys, a catalog; `kind` says what an entry is.
        """CREATE TABLE setup (
            org TEXT NOT NULL,
            kind TEXT NOT NULL,
            name TEXT NOT NULL,
            item TEXT NOT NULL,
            PRIMARY KEY (org, kind, name)
        ) WITHOUT ROWID""",
        """CREATE TABLE opinion (
            org TEXT NOT NULL,
            model TEXT NOT NULL,
            task TEXT NOT NULL,
            count INTEGER NOT NULL,
            sum_thousandths INTEGER NOT NULL,
            PRIMARY KEY (org, model, task)
        ) WITHOUT ROWID""",
        """CREATE TABLE plan (
            id TEXT PRIMARY KEY,
            item TEXT NOT NULL
        ) WITHOUT ROWID""",
    ),
    (
        """CREATE TABLE opinion_score (
            org TEXT NOT NULL,
            request_id TEXT NOT NULL,
            model TEXT NOT NULL,
            task TEXT NOT NULL,
            thousandths INTEGER NOT NULL,
            expires_ms INTEGER NOT NULL,
            PRIMARY KEY (org, request_id)
        ) WITHOUT ROWID""",
        "CREATE INDEX opinion_score_expiry ON opinion_score (expires_ms)",
        """CREATE TABLE host_health (
            name TEXT PRIMARY KEY,
            cooling_until_ms INTEGER NOT NULL,
            cooldowns INTEGER NOT NULL,
            ttft_ms INTEGER,
            ttft_at_ms INTEGER NOT NULL
        ) WITHOUT ROWID""",
    ),
    (
        """CREATE TABLE total (
            org TEXT NOT NULL,
            quarter INTEGER NOT NULL,
            key_id TEXT NOT NULL,
            model TEXT NOT NULL,
            task TEXT NOT NULL,
            requests INTEGER NOT NULL,
            errors INTEGER NOT NULL,
            unpriced INTEGER NOT NULL,
            input_tokens INTEGER NOT NULL,
            cached_tokens INTEGER NOT NULL,
            cache_write_tokens INTEGER NOT NULL,
            input_audio_tokens INTEGER NOT NULL,
            input_image_tokens INTEGER NOT NULL,
            output_tokens INTEGER NOT NULL,
            reasoning_tokens INTEGER NOT NULL,
            output_audio_tokens INTEGER NOT NULL,
            cost_micros INTEGER NOT NULL,
            PRIMARY KEY (org, quarter, key_id, model, task)
        ) WITHOUT ROWID""",
        # Requests that were settled before there were totals; what cannot be read is in no list either.
        """INSERT INTO total SELECT org, created_ms / 900000, key_id, model, task, count(*),
            sum(outcome IN ('failed', 'interrupted')), sum(cost IS NULL), sum(coalesce(input, 0)),
            sum(coalesce(cached, 0)), sum(coalesce(written, 0) + coalesce(written_5m, 0) + coalesce(written_1h, 0)),
            sum(coalesce(input_audio, 0)), sum(coalesce(input_image, 0)), sum(coalesce(output, 0)),
            sum(coalesce(reasoning, 0)), sum(coalesce(output_audio, 0)), sum(coalesce(cost, 0))
            FROM (SELECT org,
                coalesce(json_extract(item, '$.model'), json_extract(item, '$.decision.pick'), '') AS model,
                coalesce(json_extract(item, '$.decision.task'), '') AS task,
                json_extract(item, '$.created_ms') AS created_ms, json_extract(item, '$.key_id') AS key_id,
                json_extract(item, '$.outcome') AS outcome, json_extract(item, '$.charge.total') AS cost,
                json_extract(item, '$.usage.input_tokens') AS input,
                json_extract(item, '$.usage.cached_tokens') AS cached,
                json_extract(item, '$.usage.cache_write_tokens') AS written,
                json_extract(item, '$.usage.cache_write_5m_tokens') AS written_5m,
                json_extract(item, '$.usage.cache_write_1h_tokens') AS written_1h,
                json_extract(item, '$.usage.input_audio_tokens') AS input_audio,
                json_extract(item, '$.usage.input_image_tokens') AS input_image,
                json_extract(item, '$.usage.output_tokens') AS output,
                json_extract(item, '$.usage.reasoning_tokens') AS reasoning,
                json_extract(item, '$.usage.output_audio_tokens') AS output_audio
                FROM record WHERE settled = 1 AND json_valid(item))
            GROUP BY 1, 2, 3, 4, 5""",
    ),
    (
        # What an organisation or a key has used of its limits; `subject` says which of them.
        """CREATE TABLE limited (
            org TEXT NOT NULL,
            subject TEXT NOT NULL,
            item TEXT NOT NULL,
            PRIMARY KEY (org, subject)
        ) WITHOUT ROWID""",
    ),
    (
        # Sealed answers, under the keys that their callers gave them.
        """CREATE TABLE answer (
            org TEXT NOT NULL,
            key_id TEXT NOT NULL,
            name TEXT NOT NULL,
            body TEXT NOT NULL,
            request_id TEXT NOT NULL,
            lease_until_ms INTEGER NOT NULL,
            expires_ms INTEGER NOT NULL,
            phase TEXT NOT NULL,
            answer TEXT,
            PRIMARY KEY (org, key_id, name)
        )""",
        "CREATE INDEX answer_expiry ON answer (expires_ms)",
    ),
)

# By SQLite's primary result code (https://www.sqlite.org/rescode.html, read 2026-11-30).
_WORDS = {
    sqlite3.SQLITE_BUSY: "another process keeps it locked",
    sqlite3.SQLITE_LOCKED: "another connection keeps it locked",
    sqlite3.SQLITE_FULL: "the disk is full; make room",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check that the path and its permissions are right",
    sqlite3.SQLITE_READONLY: "it may not be written to; check its permissions",
    sqlite3.SQLITE_PERM: "its permissions do not allow it",
    sqlite3.SQLITE_IOERR: "the disk failed to read or write; it may be full or broken",
    sqlite3.SQLITE_NOTADB: "the file is not a database; move it away or name another",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; restore it from a backup or move it away",
}


def open_database(path: Path, durability: Durability, busy_ms: int) -> sqlite3.Connection:
    """A connection of the calling thread's own, to a file that has the current schema.

    The file and its folder are made where they are missing, readable by their owner alone.

    Raises:
        StoreUnavailable: A newer version of Headrace wrote the file.
        sqlite3.Error, OSError: It cannot be opened.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # SQLite gives the files beside it (-wal, -shm) the same mode.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute(f"PRAGMA busy_timeout = {busy_ms:d}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {durability}")
        # Writes wait while the log is copied into the file: with 32 MB of it one request in a thousand meets that, with
        # SQLite's own 4 MB one in a hundred.
        connection.execute("PRAGMA wal_autocheckpoint = 8000")
        _migrate(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def unavailable(error: Exception, path: Path) -> StoreUnavailable:
    """What went wrong with the file, in words that an operator can act on."""
    if isinstance(error, StoreUnavailable):
        return error
    words = _WORDS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    detail = f"The database {path} cannot be used: {words or error} ({error})."
    fault = StoreUnavailable(detail=detail, retry_after_s=1.0)
    fault.__cause__ = error
    return fault


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    if _version(connection) == len(_MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    # Read again under the lock: another process may have done it in between.
    version = _version(connection)
    if version > len(_MIGRATIONS):
        raise StoreUnavailable(
            detail=f"The database {path} was written by a newer version of Headrace (schema {version}, "
            f"this one knows {len(_MIGRATIONS)}). Update Headrace, or name another file."
        )
    if version == 0 and connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        raise StoreUnavailable(detail=f"The database {path} belongs to another program. Name another file.")
    for statements in _MIGRATIONS[version:]:
        for statement in statements:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(_MIGRATIONS)}")
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
