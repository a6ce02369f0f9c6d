"""The Lambda function that runs every few minutes: settles records that a dead process left open, counts what the
stream did not bring, and notes up to when the totals are complete."""

import asyncio
import time
from collections.abc import Callable
from typing import Final, Protocol

from aws_lambda_powertools import Logger

from core.ports import Store
from core.sweep import MOST_AT_ONCE, sweep

RESERVE_S: Final = 15.0
"""Seconds before the function's timeout in which no further round is begun."""


class Context(Protocol):
    """What Lambda tells of an invocation."""

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until the timeout."""
        ...


class SweeperHandler:
    """A Lambda handler for a schedule.

    Args:
        open_store: Makes the store; called with the first event.
        now: Unix time in seconds.
        most: How many records one round looks at.
    """

    def __init__(
        self, open_store: Callable[[], Store], now: Callable[[], float] = time.time, most: int = MOST_AT_ONCE
    ) -> None:
        self._open_store = open_store
        self._now = now
        self._most = most
        self._store: Store | None = None

    def __call__(self, event: object, context: Context) -> dict[str, int]:
        """Sweep until nothing is left or the time is up; tells how many records were settled and counted.

        Raises:
            StoreUnavailable: The store cannot be reached; the next event goes on from there.
        """
        if self._store is None:
            self._store = self._open_store()
        settled, counted = asyncio.run(self._sweep(self._store, context))
        Logger(service="headrace-sweeper").info("Swept", settled=settled, counted=counted)
        return {"settled": settled, "counted": counted}

    async def _sweep(self, store: Store, context: Context) -> tuple[int, int]:
        settled = counted = 0
        while True:
            now_ms = round(self._now() * 1000)
            swept = await sweep(store, now_ms, self._most)
            caught = await store.catch_up(now_ms, self._most)
            settled, counted = settled + len(swept), counted + caught
            is_late = context.get_remaining_time_in_millis() < RESERVE_S * 1000
            if is_late or max(len(swept), caught) < self._most:
                return settled, counted


def _open_store() -> Store:
    from core.store.dynamodb import DynamoStore
    from functions.settings import environment, read_settings

    settings = read_settings(environment())
    return DynamoStore(settings.config_table or "", settings.ledger_table or "", retention_days=settings.record_days)


handler = SweeperHandler(_open_store)
