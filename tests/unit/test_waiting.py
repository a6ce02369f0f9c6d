"""Bounded waits, and work that outlives its starter."""

import asyncio

import pytest

from core.waiting import Background, finish_by
from tests.support.clock import ManualClock, drive, settle


async def test_work_that_is_done_in_time_gives_its_result() -> None:
    clock = ManualClock()

    async def work() -> str:
        await clock.sleep_until(2)
        return "done"

    assert await drive(clock, finish_by(clock, 3, work())) == "done"


async def test_work_that_is_late_is_cancelled() -> None:
    clock = ManualClock()
    cancelled = asyncio.Event()

    async def work() -> None:
        try:
            await clock.sleep_until(10)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    with pytest.raises(TimeoutError):
        await drive(clock, finish_by(clock, 3, work()))
    await settle()
    assert cancelled.is_set()


async def test_who_is_cancelled_meanwhile_is_not_told_of_a_time_out() -> None:
    clock = ManualClock()
    waiting = asyncio.ensure_future(finish_by(clock, 3, clock.sleep_until(10)))
    await settle()
    clock.jump()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert waiting.cancelled()


async def test_a_bound_that_has_passed_leaves_no_trace_on_the_task_that_waited() -> None:
    clock = ManualClock()

    async def stubborn() -> str:
        try:
            await clock.sleep_until(10)
        except asyncio.CancelledError:
            return "went on"
        return "slept"

    async def both() -> str:
        with pytest.raises(TimeoutError):
            await finish_by(clock, 3, clock.sleep_until(10))
        said = await finish_by(clock, 5, stubborn())
        await clock.sleep_until(20)
        return said

    assert await drive(clock, both()) == "went on"


async def test_failures_of_the_work_are_its_own() -> None:
    clock = ManualClock()

    async def work() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await drive(clock, finish_by(clock, 3, work()))


async def test_background_work_goes_on_and_can_be_waited_for() -> None:
    background = Background()
    release = asyncio.Event()
    done: list[str] = []

    async def work() -> None:
        await release.wait()
        done.append("first")
        background.start(more())

    async def more() -> None:
        done.append("second")

    background.start(work())
    waiting = asyncio.ensure_future(background.idle())
    await settle()
    assert not waiting.done()
    release.set()
    await waiting
    assert done == ["first", "second"]
