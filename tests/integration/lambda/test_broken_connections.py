"""The Runtime API breaks, refuses or is slow: the app is told, the process lives, and nothing is asked too often."""

import asyncio
from collections.abc import AsyncIterator
from typing import Literal

import pytest
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from mangum.types import Receive, Scope, Send

from functions.local.emulator.runtime_api import NextFault, RuntimeApiEmulator
from tests.support.clock import ManualClock
from tests.support.lambda_events import rest_event
from tests.support.runtime_process import serving, start
from tests.support.small_gateway import SmallGateway, begin, end, for_requests, part

Break = Literal["cut", "gone", "too large"]


class Streaming:
    """Streams until somebody tells it that nobody listens."""

    def __init__(self) -> None:
        self.told: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await begin(send, ("content-type", "text/event-stream"))
        if scope["path"] == "/well":
            return await end(send, b"well")
        await part(send, b"data: 1\n\n")
        self.told.append((await receive())["type"])
        for more in (b"data: 2\n\n", b""):
            try:
                await part(send, more)
            except OSError as error:
                self.told.append(type(error).__name__)


@pytest.mark.parametrize("broken", ["cut", "gone", "too large"])
async def test_a_response_that_breaks_after_the_first_byte_stops_the_app_and_no_more(
    api: RuntimeApiEmulator, deadline: float, broken: Break, caplog: pytest.LogCaptureFixture
) -> None:
    app = Streaming()
    async with serving(api, SmallGateway(for_requests(app))):
        call = api.invoke(rest_event(), deadline=deadline)
        if broken == "cut":
            call.cut_after = 1
        else:
            call.refuse_after, call.refuse_with = 1, 410 if broken == "gone" else 413
        await call.done()
        again = await api.invoke(rest_event(path="/well"), deadline=deadline).done()
    assert app.told == ["http.disconnect", "ResponseLost", "ResponseLost"]
    assert again.body == b"well"
    assert call.error is None  # /error is not legal any more
    words = {"cut": "connection of a response was lost", "gone": "given this invocation up", "too large": "refused"}
    assert words[broken] in caplog.text


@pytest.mark.parametrize("status", [410, 400, 500])
async def test_a_refusal_at_the_first_byte_is_survived(api: RuntimeApiEmulator, deadline: float, status: int) -> None:
    app = Streaming()
    async with serving(api, SmallGateway(for_requests(app))):
        call = api.invoke(rest_event(), deadline=deadline)
        call.refuse_with = status
        await call.done()
        again = await api.invoke(rest_event(path="/well"), deadline=deadline).done()
    assert app.told == ["http.disconnect", "ResponseLost", "ResponseLost"]
    assert again.body == b"well"


async def test_starlettes_response_stops_when_nobody_listens(api: RuntimeApiEmulator, deadline: float) -> None:
    cut = asyncio.Event()
    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def answer() -> StreamingResponse:
        async def chunks() -> AsyncIterator[bytes]:
            while True:
                yield b"data: 1\n\n"
                await cut.wait()

        return StreamingResponse(chunks())

    async with serving(api, SmallGateway(app)):
        call = api.invoke(rest_event(), deadline=deadline)
        call.cut_after = 1
        await call.done()
        cut.set()
        await api.polled(2)


async def test_an_error_for_an_invocation_that_lambda_gave_up_is_survived(
    api: RuntimeApiEmulator, deadline: float, caplog: pytest.LogCaptureFixture
) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()

    @for_requests
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        started.set()
        await go_on.wait()
        raise ValueError

    async with serving(api, SmallGateway(app)):
        call = api.invoke(rest_event(), deadline=deadline)
        await started.wait()
        call.time_out()
        go_on.set()
        await api.polled(2)
    assert call.error is None
    assert "given this invocation up" in caplog.text


@pytest.mark.parametrize("how", ["silently", "announced"])
async def test_a_dropped_connection_is_replaced_without_a_wait(
    clock: ManualClock, deadline: float, how: Literal["silently", "announced"]
) -> None:
    """Lambda freezes environments for minutes; what was connected before may not be after."""
    app = Streaming()
    async with RuntimeApiEmulator(drop_connections=how) as api, serving(api, SmallGateway(for_requests(app)), clock):
        for _ in range(3):
            call = await api.invoke(rest_event(path="/well"), deadline=deadline).done()
            assert call.body == b"well"
    assert clock.monotonic() == 0


@pytest.mark.parametrize("late", [False, True])
async def test_a_response_that_finds_no_connection_ends_nothing_else(
    api: RuntimeApiEmulator, clock: ManualClock, deadline: float, late: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the answer nor the report of its failure gets through; also not the last words of the loop itself."""
    asked, told = asyncio.Event(), list[str]()

    @for_requests
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        api.hangs_up()
        asked.set()
        if late:
            await asyncio.Event().wait()
        await begin(send)
        try:
            await end(send, b"well")
        except OSError as error:
            told.append(type(error).__name__)
            raise

    async def afterwards() -> None:
        call.end("lost")  # Lambda's own judgement of an invocation without an answer

    async with serving(api, SmallGateway(app, afterwards=afterwards), clock):
        call = api.invoke(rest_event(), deadline=deadline)
        await asked.wait()
        if late:
            await clock.advance(58)
        await api.polled(2)
    assert told == ([] if late else ["ResponseLost"])
    assert ("a failure could not be reported" in caplog.text) is not late
    assert "connection of a response was lost" in caplog.text


@pytest.mark.parametrize("fault", [500, 403, "cut", "nonsense", "without an id"])
async def test_next_is_tried_again_after_ever_longer_waits(
    api: RuntimeApiEmulator, clock: ManualClock, deadline: float, fault: NextFault
) -> None:
    api.next_faults.extend([fault, fault, fault])
    app = Streaming()
    async with serving(api, SmallGateway(for_requests(app)), clock):
        for tries, pause in [(1, 0.1), (2, 0.2), (3, 0.4)]:
            await api.polled(tries)
            await waits(clock, pause)
        call = await api.invoke(rest_event(path="/well"), deadline=deadline).done()
        assert call.body == b"well"


async def test_a_runtime_api_that_stays_away_ends_the_process(
    api: RuntimeApiEmulator, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    api.next_faults.extend([500] * 5)
    gateway = SmallGateway(for_requests(Streaming()))
    running = start(api, lambda: gateway, clock)
    for pause in (0.1, 0.2, 0.4, 0.8):
        await waits(clock, pause)
    assert await running.exit_code == 1
    assert api.polls_seen == 5
    assert gateway.journal == ["connect", "close"]
    assert "the Runtime API is lost" in caplog.text


async def waits(clock: ManualClock, seconds: float) -> None:
    """Until somebody sleeps on the clock, for that long and no longer."""
    before = clock.monotonic()
    for _ in iter(clock.jump, True):
        await asyncio.sleep(0)
    assert clock.monotonic() - before == pytest.approx(seconds)
