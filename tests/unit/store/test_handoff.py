"""Results come from threads to tasks, also when nobody waits any more."""

import asyncio
from threading import Thread

import pytest

from core.store.handoff import Done, Failed, Handoff, deliver


async def in_a_thread(*outcomes: tuple[Handoff[int], Done[int] | Failed]) -> None:
    thread = Thread(target=deliver, args=(outcomes,))
    thread.start()
    await asyncio.to_thread(thread.join)


async def test_a_result_and_an_error_arrive() -> None:
    good: Handoff[int] = Handoff()
    bad: Handoff[int] = Handoff()
    await in_a_thread((good, Done(7)), (bad, Failed(LookupError("gone"))))
    assert await good.arrival() == 7
    with pytest.raises(LookupError, match="gone"):
        await bad.arrival()


async def test_one_who_gave_up_does_not_keep_the_others_waiting() -> None:
    left: Handoff[int] = Handoff()
    stayed: Handoff[int] = Handoff()
    waiting = asyncio.ensure_future(left.arrival())
    await asyncio.sleep(0)
    waiting.cancel()
    await in_a_thread((left, Done(1)), (stayed, Done(2)))
    assert await stayed.arrival() == 2
    assert waiting.cancelled()


async def test_each_result_goes_to_its_own_loop() -> None:
    here: Handoff[int] = Handoff()

    async def elsewhere() -> int:
        there: Handoff[int] = Handoff()
        deliver([(here, Done(1)), (there, Done(2))])
        return await there.arrival()

    assert await asyncio.to_thread(asyncio.run, elsewhere()) == 2
    assert await here.arrival() == 1


async def test_a_loop_that_is_closed_is_passed_over() -> None:
    async def made() -> Handoff[int]:
        return Handoff()

    gone: Handoff[int] = await asyncio.to_thread(asyncio.run, made())
    here: Handoff[int] = Handoff()
    deliver([(gone, Done(1)), (here, Done(2))])
    assert await here.arrival() == 2
