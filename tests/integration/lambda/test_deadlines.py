"""An app that is still at work shortly before the function's timeout is stopped, and its response ended."""

import asyncio
import json

import pytest
from mangum.types import Receive, Scope, Send

from functions.local.emulator.runtime_api import RuntimeApiEmulator
from tests.support.clock import ManualClock, settle
from tests.support.lambda_events import rest_event
from tests.support.runtime_process import serving
from tests.support.small_gateway import SmallGateway, begin, end, for_requests, part

FOREVER = asyncio.Event


class Stubborn:
    """An app that goes on when it is cancelled, until it is let go."""

    def __init__(self) -> None:
        self.at_work = asyncio.Event()
        self.let_go = asyncio.Event()
        self.saw: list[type[BaseException]] = []
        self.left = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/well":
            await begin(send)
            return await end(send, b"well")
        await begin(send, ("content-type", "text/event-stream"))
        await part(send, b"data: 1\n\n")
        self.at_work.set()
        while not self.let_go.is_set():
            try:
                await self.let_go.wait()
            except asyncio.CancelledError as error:
                self.saw.append(type(error))
        try:
            await part(send, b"data: late\n\n")
        except OSError as error:
            self.saw.append(type(error))
        self.left.set()


async def test_a_stream_is_ended_two_seconds_before(
    api: RuntimeApiEmulator, clock: ManualClock, deadline: float
) -> None:
    at_work, stopped = asyncio.Event(), asyncio.Event()

    @for_requests
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await begin(send, ("content-type", "text/event-stream"))
        await part(send, b"data: 1\n\n")
        at_work.set()
        try:
            await FOREVER().wait()
        finally:
            stopped.set()

    async with serving(api, SmallGateway(app), clock):
        call = api.invoke(rest_event(), deadline=deadline)
        await at_work.wait()
        await clock.advance(57.9)
        assert not stopped.is_set()
        await clock.advance(0.2)
        await call.done()
        assert stopped.is_set()
        await api.polled(2)
    assert call.outcome == "broken off"
    assert call.trailers["lambda-runtime-function-error-type"] == "Runtime.DeadlineExceeded"
    error = json.loads(call.body.split(b"\n\n")[1].removeprefix(b"data: "))["error"]
    assert (error["type"], error["code"]) == ("timeout_error", "deadline_exceeded")
    assert call.body.endswith(b"data: [DONE]\n\n")


async def test_an_app_may_use_its_last_second_for_an_ending_of_its_own(
    api: RuntimeApiEmulator, clock: ManualClock, deadline: float
) -> None:
    at_work = asyncio.Event()

    @for_requests
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await begin(send, ("content-type", "text/event-stream"))
        await part(send, b"data: 1\n\n")
        at_work.set()
        try:
            await FOREVER().wait()
        finally:
            await end(send, b"data: my own words\n\n")

    async with serving(api, SmallGateway(app), clock):
        call = api.invoke(rest_event(), deadline=deadline)
        await at_work.wait()
        await clock.advance(58)
        await call.done()
    assert (call.outcome, call.body) == ("answered", b"data: 1\n\ndata: my own words\n\n")


async def test_an_app_without_a_word_by_then_gives_504(
    api: RuntimeApiEmulator, clock: ManualClock, deadline: float
) -> None:
    at_work = asyncio.Event()

    @for_requests
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        at_work.set()
        await FOREVER().wait()

    async with serving(api, SmallGateway(app), clock):
        call = api.invoke(rest_event(), deadline=deadline)
        await at_work.wait()
        await clock.advance(58)
        await call.done()
    assert call.outcome == "answered"
    assert call.prelude is not None
    assert call.prelude["statusCode"] == 504
    told = json.loads(call.body)
    assert (told["error"]["type"], told["error"]["code"]) == ("timeout_error", "deadline_exceeded")
    assert told["request_id"].startswith("req-")
    assert call.headers["x-request-id"] == call.headers["x-inferbase-request-id"] == told["request_id"]


async def test_an_app_that_ignores_its_end_is_left_behind(
    api: RuntimeApiEmulator, clock: ManualClock, deadline: float, caplog: pytest.LogCaptureFixture
) -> None:
    """Its late words reach nobody: not this caller, and not the next one, even under the same request id."""
    app = Stubborn()
    async with serving(api, SmallGateway(for_requests(app)), clock):
        call = api.invoke(rest_event(), deadline=deadline, request_id="retried")
        await app.at_work.wait()
        await clock.advance(59)
        assert (await call.done()).outcome == "broken off"
        await api.polled(2)
        again = api.invoke(rest_event(path="/well"), deadline=deadline + 60, request_id="retried")
        app.let_go.set()
        await app.left.wait()
        await again.done()
    assert app.saw[0] is asyncio.CancelledError
    assert issubclass(app.saw[-1], OSError)
    assert b"late" not in call.body
    assert (again.outcome, again.body) == ("answered", b"well")
    assert "the app did not stop" in caplog.text


async def test_a_timeout_of_the_function_ends_the_work_and_not_the_process(
    api: RuntimeApiEmulator, clock: ManualClock, deadline: float, caplog: pytest.LogCaptureFixture
) -> None:
    """Lambda gave the invocation up while it streamed: 410, the app is told, the next one is asked for."""
    told = asyncio.Event()

    @for_requests
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await begin(send)
        await part(send, b"1")
        assert await receive() == {"type": "http.disconnect"}
        told.set()
        with pytest.raises(OSError, match="the response"):
            await part(send, b"2")

    gateway = SmallGateway(app)
    async with serving(api, gateway, clock):
        call = api.invoke(rest_event(), deadline=deadline)
        await call.has_chunks(1)
        call.time_out()
        await told.wait()
        await api.polled(2)
    assert (call.outcome, call.body) == ("timed out", b"1")
    assert gateway.journal == ["connect", "after_response", "close"]
    assert "Lambda had given this invocation up" in caplog.text


async def test_an_answer_after_the_timeout_is_dropped(
    api: RuntimeApiEmulator, clock: ManualClock, deadline: float
) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()

    @for_requests
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        started.set()
        await go_on.wait()
        await begin(send)
        await end(send, b"late")

    async with serving(api, SmallGateway(app), clock):
        call = api.invoke(rest_event(), deadline=deadline)
        await started.wait()
        call.time_out()
        go_on.set()
        await api.polled(2)
    assert call.chunks == []


async def test_background_work_is_stopped_too(
    api: RuntimeApiEmulator, clock: ManualClock, deadline: float, caplog: pytest.LogCaptureFixture
) -> None:
    at_work = asyncio.Event()

    @for_requests
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await begin(send)
        await end(send, b"whole")
        at_work.set()
        await FOREVER().wait()

    async with serving(api, SmallGateway(app), clock):
        call = api.invoke(rest_event(), deadline=deadline)
        await at_work.wait()
        assert (call.outcome, call.body) == ("answered", b"whole")
        await clock.advance(58)
        await api.polled(2)
    assert "the app ran into the deadline" in caplog.text


async def test_work_after_the_response_has_five_seconds(
    api: RuntimeApiEmulator, clock: ManualClock, deadline: float, caplog: pytest.LogCaptureFixture
) -> None:
    stopped, begun = asyncio.Event(), asyncio.Event()

    @for_requests
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await begin(send)
        await end(send)

    async def afterwards() -> None:
        begun.set()
        try:
            await FOREVER().wait()
        finally:
            stopped.set()

    async with serving(api, SmallGateway(app, afterwards=afterwards), clock):
        api.invoke(rest_event(), deadline=deadline)
        await begun.wait()
        await clock.advance(4.9)
        assert not stopped.is_set()
        assert api.polls_seen == 1
        await clock.advance(0.2)
        await api.polled(2)
        assert stopped.is_set()
    assert "took too long" in caplog.text


@pytest.mark.parametrize("stuck", ["never acknowledged", "never read"])
async def test_a_runtime_api_that_is_stuck_is_given_up_before_the_deadline(
    api: RuntimeApiEmulator, clock: ManualClock, deadline: float, stuck: str
) -> None:
    given_up = asyncio.Event()

    @for_requests
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await begin(send, ("content-type", "text/event-stream"))
        await part(send, b"data: 1\n\n")
        if stuck == "never read":
            await part(send, b"x" * 50_000_000)
        await end(send)

    async def afterwards() -> None:
        call.end("lost")  # Lambda sees that the connection is gone
        given_up.set()

    async with serving(api, SmallGateway(app, afterwards=afterwards), clock):
        call = api.invoke(rest_event(), deadline=deadline)
        if stuck == "never read":
            call.stall_after = 1
        else:
            call.acknowledge.clear()
        await call.has_chunks(1)
        await settle()
        await clock.advance(57.9)
        assert not given_up.is_set()
        await clock.advance(1.6)
        await given_up.wait()
        await api.polled(2)
