"""A clock that moves only when a test moves it; nothing ever really waits."""

import asyncio
import heapq
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any, TypeVar

T = TypeVar("T")

START = 1_790_000_000.0
ROUNDS = 50


class ManualTimer:
    """A callback that comes when `future` is done."""

    def __init__(self, future: "asyncio.Future[None]", callback: Callable[[], object]) -> None:
        self._future = future
        self._callback = callback
        self._is_cancelled = False
        future.add_done_callback(self._due)

    def cancel(self) -> None:
        self._is_cancelled = True
        self._future.cancel()

    def _due(self, future: "asyncio.Future[None]") -> None:
        if not self._is_cancelled:
            self._callback()


class ManualClock:
    """Time for tests. `monotonic()` starts at 0, `now()` at a fixed moment."""

    def __init__(self) -> None:
        self._elapsed = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._ticket = count()
        self._fell_asleep = asyncio.Event()

    def now(self) -> float:
        return START + self._elapsed

    def monotonic(self) -> float:
        return self._elapsed

    async def sleep_until(self, moment: float) -> None:
        if moment <= self._elapsed:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (moment, next(self._ticket), future))
        self._fell_asleep.set()
        await future

    def call_at(self, moment: float, callback: Callable[[], object]) -> "ManualTimer":
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        timer = ManualTimer(future, callback)
        if moment <= self._elapsed:
            future.set_result(None)
        else:
            heapq.heappush(self._sleepers, (moment, next(self._ticket), future))
            self._fell_asleep.set()
        return timer

    def jump(self) -> bool:
        """Go to the next moment that somebody waits for; False if nobody does."""
        if self._next() is None:
            return False
        moment, _, future = heapq.heappop(self._sleepers)
        self._elapsed = max(self._elapsed, moment)
        future.set_result(None)
        return True

    def _next(self) -> float | None:
        """The next moment that somebody still waits for."""
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        return self._sleepers[0][0] if self._sleepers else None

    def due_in(self) -> float | None:
        """How long until the next moment that somebody waits for, or None."""
        moment = self._next()
        return None if moment is None else moment - self._elapsed

    async def sleeper_within(self, seconds: float) -> None:
        """Return once somebody waits for a moment that is no further away than that."""
        while (due := self.due_in()) is None or due > seconds:
            self._fell_asleep.clear()
            await self._fell_asleep.wait()

    async def advance(self, seconds: float) -> None:
        """Go on by `seconds`, waking all who wait on the way, in order."""
        target = self._elapsed + seconds
        await settle()
        while (moment := self._next()) is not None and moment <= target:
            self.jump()
            await settle()
        self._elapsed = target


async def settle() -> None:
    """Let everything run that can run without time passing."""
    for _ in range(ROUNDS):
        await asyncio.sleep(0)


async def drive(clock: ManualClock, work: Coroutine[Any, Any, T]) -> T:
    """Run `work` to its end, moving the clock whenever all are waiting for it."""
    task = asyncio.ensure_future(work)
    while True:
        await settle()
        if task.done():
            return task.result()
        if not clock.jump():
            task.cancel()
            raise AssertionError("the work waits for something that is not time")
