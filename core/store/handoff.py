"""Carries results from threads to the tasks that wait for them.

A task that stops waiting never stops the work: what it asked for is finished, and the result is dropped.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Handoff(Generic[Result]):
    """The place where one task waits for one result. Made on the task's event loop."""

    __slots__ = ("_future", "loop")

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._future: asyncio.Future[Result] = self.loop.create_future()

    async def arrival(self) -> Result:
        """The result, once it is there."""
        return await self._future

    def settle(self, outcome: "Done[Result] | Failed") -> None:
        """Wake the task; only on its own loop."""
        if self._future.done():  # it was cancelled
            return
        if isinstance(outcome, Done):
            self._future.set_result(outcome.result)
        else:
            self._future.set_exception(outcome.error)


@dataclass(frozen=True, slots=True)
class Done(Generic[Result]):
    """Work that ended well."""

    result: Result


@dataclass(frozen=True, slots=True)
class Failed:
    """Work that ended in an error."""

    error: Exception


def deliver(outcomes: Iterable[tuple[Handoff[Result], Done[Result] | Failed]]) -> None:
    """Hand results over from any thread, waking each event loop once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[Handoff[Result], Done[Result] | Failed]]] = {}
    for handoff, outcome in outcomes:
        by_loop.setdefault(handoff.loop, []).append((handoff, outcome))
    for loop, batch in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, batch)
        except RuntimeError:  # the loop is closed, so nobody waits any more
            continue


def _settle(batch: list[tuple[Handoff[Result], Done[Result] | Failed]]) -> None:
    for handoff, outcome in batch:
        handoff.settle(outcome)
