"""News of hosts go to other processes and come from them, beside the requests and never in their way."""

import asyncio
from collections.abc import Mapping

from core.errors import StoreUnavailable, UpstreamRateLimited
from core.ports import HostNews
from core.routing.board import HealthBoard
from core.sharing import EXCHANGE_S, REFRESH_S, Sharing
from core.waiting import Background
from tests.support.clock import ManualClock
from tests.support.targets import make_target

HOST = make_target("one")
FAILED = UpstreamRateLimited("busy", retry_after_s=60)


class Meeting:
    """Where processes meet: news in memory, with a list of what was done."""

    def __init__(self) -> None:
        self.kept: dict[str, HostNews] = {}
        self.done: list[str] = []
        self.is_away = False
        self.is_stuck = False

    async def tell_health(self, news: Mapping[str, HostNews], now_ms: int) -> None:
        await self._do("tell")
        self.kept |= news

    async def told_health(self, now_ms: int) -> Mapping[str, HostNews]:
        await self._do("ask")
        return dict(self.kept)

    async def _do(self, name: str) -> None:
        self.done.append(name)
        await asyncio.sleep(0)
        if self.is_stuck:
            await asyncio.Event().wait()
        if self.is_away:
            raise StoreUnavailable


class Process:
    def __init__(self, meeting: Meeting, clock: ManualClock) -> None:
        self.board = HealthBoard()
        self.background = Background()
        self.clock = clock
        self.sharing = Sharing(self.board, meeting, clock, self.background)

    def fail(self) -> None:
        self.board.note(HOST, FAILED, 5, None, self.clock.now())

    async def respond(self) -> None:
        self.sharing.after_response()
        await self.background.idle()

    def cooling(self) -> list[str]:
        return self.board.view(self.clock.now()).cooling()


async def test_one_process_learns_what_another_met() -> None:
    meeting, clock = Meeting(), ManualClock()
    one, other = Process(meeting, clock), Process(meeting, clock)
    one.fail()
    await one.respond()
    assert other.cooling() == []
    await other.respond()
    assert one.cooling() == other.cooling() == [HOST.name]
    await clock.advance(60)
    assert one.cooling() == other.cooling() == []


async def test_nothing_is_asked_again_before_it_is_time_and_news_do_not_wait() -> None:
    meeting, clock = Meeting(), ManualClock()
    one = Process(meeting, clock)
    for _ in range(3):
        await one.respond()
    assert meeting.done == ["ask"]
    one.fail()
    await one.respond()
    await one.respond()
    assert meeting.done == ["ask", "tell"]
    await clock.advance(REFRESH_S)
    await one.respond()
    assert meeting.done == ["ask", "tell", "ask"]


async def test_what_was_just_learnt_is_not_told_again() -> None:
    meeting, clock = Meeting(), ManualClock()
    meeting.kept[HOST.name] = HostNews(ttft_ms=100)
    one = Process(meeting, clock)
    one.board.note(HOST, None, 300, 110, clock.now())
    await one.respond()
    assert meeting.done == ["ask"]


async def test_one_exchange_at_a_time() -> None:
    meeting, clock = Meeting(), ManualClock()
    one = Process(meeting, clock)
    one.fail()
    for _ in range(3):
        one.sharing.after_response()
    await one.background.idle()
    assert meeting.done == ["ask", "tell"]


async def test_a_store_that_is_away_is_left_alone_for_a_while_and_nothing_is_lost() -> None:
    meeting, clock = Meeting(), ManualClock()
    one = Process(meeting, clock)
    one.fail()
    meeting.is_away = True
    for _ in range(3):
        await one.respond()
    assert meeting.done == ["ask"]
    meeting.is_away = False
    await clock.advance(REFRESH_S)
    await one.respond()
    assert [*meeting.kept] == [HOST.name]


async def test_a_store_that_never_answers_is_given_up_on() -> None:
    meeting, clock = Meeting(), ManualClock()
    one = Process(meeting, clock)
    meeting.is_stuck = True
    one.sharing.after_response()
    await clock.sleeper_within(EXCHANGE_S)
    await clock.advance(EXCHANGE_S)
    await one.background.idle()
    meeting.is_stuck = False
    await one.respond()
    assert meeting.done == ["ask"]
    await clock.advance(REFRESH_S)
    await one.respond()
    assert meeting.done == ["ask", "ask"]


async def test_a_server_learns_without_requests() -> None:
    meeting, clock = Meeting(), ManualClock()
    one = Process(meeting, clock)
    keeping_up = asyncio.ensure_future(one.sharing.keep_up())
    await clock.sleeper_within(REFRESH_S)
    assert one.cooling() == []
    meeting.kept[HOST.name] = HostNews(round(clock.now() * 1000) + 90_000, 1)
    await clock.advance(REFRESH_S)
    await clock.sleeper_within(REFRESH_S)
    assert one.cooling() == [HOST.name]
    assert meeting.done == ["ask", "ask"]
    keeping_up.cancel()
    await asyncio.wait([keeping_up])


async def test_a_server_does_not_exchange_twice_at_once() -> None:
    meeting, clock = Meeting(), ManualClock()
    one = Process(meeting, clock)
    one.sharing.after_response()
    keeping_up = asyncio.ensure_future(one.sharing.keep_up())
    await clock.sleeper_within(REFRESH_S)
    await one.background.idle()
    assert meeting.done == ["ask"]
    keeping_up.cancel()
    await asyncio.wait([keeping_up])
