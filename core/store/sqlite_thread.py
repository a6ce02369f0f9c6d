"""One thread that owns one SQLite connection and does all work on it; the event loop never waits for the disk.

Work that is asked for while a transaction is being written waits together and shares the next one, so that many
requests cost few commits. Work is done in the order in which it was asked for.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeAlias, TypeVar

from core.errors import StoreUnavailable
from core.store.handoff import Done, Failed, Handoff, deliver
from core.store.sqlite_file import Durability, open_database, unavailable

Result = TypeVar("Result")
Work: TypeAlias = Callable[[sqlite3.Connection], Result]
"""Statements, without transaction control. It may be run again from the start after a failure of its neighbours."""

MOST_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class _Job:
    work: Work[Any]
    writes: bool
    handoff: Handoff[Any]


_Outcomes: TypeAlias = list[tuple[Handoff[Any], Done[Any] | Failed]]


class SqliteThread:
    """The connection's thread. It starts, and opens the file, with the first work; after a failure it opens it again.

    Args:
        path: The database file.
        durability: SQLite's `synchronous`.
        busy_ms: How long to wait for another process's transaction, in milliseconds.
    """

    def __init__(self, path: Path, durability: Durability, busy_ms: int) -> None:
        self._path = path
        self._durability: Durability = durability
        self._busy_ms = busy_ms
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._connection: sqlite3.Connection | None = None
        self._thread: Thread | None = None
        self._closed = False
        self._lock = Lock()

    async def read(self, work: Work[Result]) -> Result:
        """Do what only reads."""
        return await self._do(work, writes=False)

    async def write(self, work: Work[Result]) -> Result:
        """Do what writes; returns once it is committed."""
        return await self._do(work, writes=True)

    async def close(self) -> None:
        """Finish what was asked for, then let go of the file. What is asked for later fails."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._jobs.put(None)
            thread = self._thread
        if thread is not None:
            await asyncio.to_thread(thread.join)

    async def _do(self, work: Work[Result], writes: bool) -> Result:
        handoff: Handoff[Result] = Handoff()
        with self._lock:
            if self._closed:
                raise StoreUnavailable(detail=f"The database {self._path} was closed.")
            if self._thread is None:
                self._thread = Thread(target=self._run, name="sqlite", daemon=True)
                self._thread.start()
            self._jobs.put(_Job(work, writes, handoff))
        return await handoff.arrival()

    def _run(self) -> None:
        going_on = True
        while going_on:
            batch, going_on = self._gather()
            deliver(self._perform(batch))
        self._disconnect()

    def _gather(self) -> tuple[list[_Job], bool]:
        batch: list[_Job] = []
        job = self._jobs.get()
        try:
            while job is not None:
                batch.append(job)
                if len(batch) == MOST_AT_ONCE:
                    return batch, True
                job = self._jobs.get_nowait()
        except Empty:
            return batch, True
        return batch, False

    def _perform(self, batch: list[_Job]) -> _Outcomes:
        writes = any(job.writes for job in batch)
        try:
            connection = self._connected()
            if writes:
                connection.execute("BEGIN IMMEDIATE")
        except Exception as error:
            return self._failed(batch, error)
        try:
            results = [job.work(connection) for job in batch]
        except Exception as error:
            self._disconnect()  # which rolls back
            if len(batch) == 1:
                return self._failed(batch, error)
            return [outcome for job in batch for outcome in self._perform([job])]
        try:
            if writes:
                connection.execute("COMMIT")
        except Exception as error:
            return self._failed(batch, error)
        return [(job.handoff, Done(result)) for job, result in zip(batch, results, strict=True)]

    def _failed(self, batch: list[_Job], error: Exception) -> _Outcomes:
        self._disconnect()
        if isinstance(error, sqlite3.Error | OSError | StoreUnavailable):
            return [(job.handoff, Failed(unavailable(error, self._path))) for job in batch]
        return [(job.handoff, Failed(error)) for job in batch]

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = open_database(self._path, self._durability, self._busy_ms)
        return self._connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
