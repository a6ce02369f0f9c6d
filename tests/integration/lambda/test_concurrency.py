"""Where Lambda sends several invocations at a time, as many `/next` are open, all on one event loop."""

import asyncio
import json
from collections.abc import AsyncIterator

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from mangum.types import Receive, Scope, Send

from functions.local.emulator.runtime_api import RuntimeApiEmulator
from tests.support.clock import ManualClock
from tests.support.lambda_events import rest_event
from tests.support.runtime_process import serving, start
from tests.support.small_gateway import SmallGateway, begin, end, for_requests, part

MANY = 16


async def test_as_many_next_are_open_as_lambda_allows(deadline: float) -> None:
    """The emulator refuses one more."""
    gateway = SmallGateway(for_requests(nobody))
    async with RuntimeApiEmulator(max_concurrency=MANY) as api, serving(api, gateway, max_concurrency=MANY):
        await api.waits_for_polls(MANY)
    assert api.polls_seen == MANY


async def nobody(scope: Scope, receive: Receive, send: Send) -> None:
    raise AssertionError("nobody calls")


async def test_invocations_run_side_by_side_and_are_not_mixed_up(deadline: float) -> None:
    together = asyncio.Barrier(MANY)
    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def answer(request: Request) -> StreamingResponse:
        number = (await request.json())["n"]

        async def chunks() -> AsyncIterator[bytes]:
            for turn in range(3):
                await together.wait()  # nobody goes on before all are here
                yield b"%d-%d;" % (number, turn)

        return StreamingResponse(chunks())

    gateway = SmallGateway(app)
    async with RuntimeApiEmulator(max_concurrency=MANY) as api, serving(api, gateway, max_concurrency=MANY):
        calls = [api.invoke(rest_event(json.dumps({"n": n}).encode()), deadline=deadline) for n in range(2 * MANY)]
        for call in calls:
            await call.done()
    assert [call.body for call in calls] == [b"%d-0;%d-1;%d-2;" % (n, n, n) for n in range(2 * MANY)]
    assert gateway.journal.count("after_response") == 2 * MANY


async def test_the_trace_header_is_nobodys_when_it_would_be_everybodys(deadline: float) -> None:
    """There is one process environment, so with several invocations at a time it would be the wrong one."""
    app = FastAPI()
    async with RuntimeApiEmulator(max_concurrency=2) as api:
        async with serving(api, SmallGateway(app), max_concurrency=2) as running:
            await api.invoke(rest_event(), deadline=deadline, trace_id="Root=1-a-b").done()
        assert running.traces == []


async def test_told_to_stop_it_answers_what_runs_and_asks_for_no_more(deadline: float, clock: ManualClock) -> None:
    go_on = asyncio.Event()

    @for_requests
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await begin(send)
        await part(send, b"1")
        await go_on.wait()
        await end(send, b"2")

    gateway = SmallGateway(app)
    async with RuntimeApiEmulator(max_concurrency=3) as api:
        running = start(api, lambda: gateway, clock, max_concurrency=3)
        calls = [api.invoke(rest_event(), deadline=deadline) for _ in range(2)]
        for call in calls:
            await call.has_chunks(1)
        await api.waits_for_polls(1)
        running.stop.set()
        go_on.set()
        assert await running.exit_code == 0
        assert [call.body for call in calls] == [b"12", b"12"]
        assert (api.violations, api.polls) == ([], 0)
    assert gateway.journal == ["connect", "after_response", "after_response", "close"]


async def test_one_lost_next_ends_the_environment_but_cuts_no_answer(deadline: float, clock: ManualClock) -> None:
    go_on = asyncio.Event()

    @for_requests
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await begin(send)
        await part(send, b"1")
        await go_on.wait()
        await end(send, b"2")

    async with RuntimeApiEmulator(max_concurrency=2) as api:
        running = start(api, lambda: SmallGateway(app), clock, max_concurrency=2)
        calls = [api.invoke(rest_event(), deadline=deadline) for _ in range(2)]
        for call in calls:
            await call.has_chunks(1)
        api.next_faults.extend([500] * 10)
        go_on.set()
        for call in calls:
            assert (await call.done()).body == b"12"
        while not running.exit_code.done():
            clock.jump()
            await asyncio.sleep(0)
        assert await running.exit_code == 1
