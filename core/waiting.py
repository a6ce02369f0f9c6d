"""Waiting with a bound on the gateway's own clock, and work that goes on after the caller was answered."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from core.errors import StoreUnavailable
from core.ports import Clock

T = TypeVar("T")

STORE_S: Final = 10.0
"""How long a request waits for what it cannot go on without, in seconds: longer than the stores' own repeats take, and
shorter than a caller waits for a sign of life."""


async def finish_by(clock: Clock, moment: float, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work` if it is there by `moment` (on `clock.monotonic()`).

    Raises:
        TimeoutError: It was not; the work is cancelled.
    """
    task = asyncio.current_task()
    if task is None:
        raise AssertionError("waiting is for tasks")
    before, is_late = task.cancelling(), False

    def give_up() -> None:
        nonlocal is_late
        is_late = True
        task.cancel()

    timer = clock.call_at(moment, give_up)
    try:
        return await work
    except asyncio.CancelledError:
        # Of somebody else's wish that the task ends, a bound of ours knows nothing.
        if is_late and task.cancelling() == before + 1:
            raise TimeoutError from None
        raise
    finally:
        timer.cancel()
        if is_late:
            task.uncancel()


async def from_store(clock: Clock, work: Coroutine[Any, Any, T]) -> T:
    """What the store answers; one that hangs is as good as away.

    Raises:
        StoreUnavailable: It cannot be reached, or gave no answer within `STORE_S`; the work is cancelled then.
    """
    try:
        return await finish_by(clock, clock.monotonic() + STORE_S, work)
    except TimeoutError:
        raise StoreUnavailable(detail=f"The store gave no answer within {STORE_S:g} s.") from None


class Background:
    """Tasks that nobody waits for at once; they are kept from being lost and can be waited for before going idle."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Run `work` as a task that outlives its starter."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def idle(self) -> None:
        """Return once nothing is under way. Who gives up waiting does not end the work."""
        while self._tasks:
            await asyncio.wait(self._tasks)
