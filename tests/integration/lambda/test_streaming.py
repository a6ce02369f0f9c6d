"""A response leaves while it is being made, and what is put off until after it is done after it."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fastapi import BackgroundTasks, FastAPI, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from mangum.types import Receive, Scope, Send

from functions.gateway.deadline import DEADLINE
from functions.local.emulator.call import Call
from functions.local.emulator.runtime_api import RuntimeApiEmulator
from tests.support.clock import ManualClock
from tests.support.lambda_events import rest_event, url_event
from tests.support.runtime_process import serving
from tests.support.small_gateway import SmallGateway, begin, end, for_requests, part


async def test_the_first_chunk_is_out_before_the_last_is_in(api: RuntimeApiEmulator, deadline: float) -> None:
    seen = asyncio.Event()
    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def answer() -> StreamingResponse:
        async def chunks() -> AsyncIterator[bytes]:
            yield b"data: one\n\n"
            await seen.wait()  # nothing more is made before Lambda has the first
            yield b"data: two\n\n"

        return StreamingResponse(chunks(), media_type="text/event-stream")

    async with serving(api, SmallGateway(app)):
        call = api.invoke(rest_event(), deadline=deadline)
        await call.has_chunks(1)
        assert call.outcome is None
        seen.set()
        assert (await call.done()).outcome == "answered"
    assert [chunk.data for chunk in call.chunks] == [b"data: one\n\n", b"data: two\n\n"]
    assert call.chunks[0].at < call.chunks[1].at
    assert call.trailers == {}
    assert call.prelude is not None
    assert call.prelude["statusCode"] == 200
    assert call.headers["content-type"] == "text/event-stream; charset=utf-8"


async def test_each_part_of_the_app_is_a_chunk(api: RuntimeApiEmulator, deadline: float) -> None:
    parts = [b"%d" % number for number in range(500)]

    @for_requests
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await begin(send)
        for each in parts:
            await part(send, each)
        await part(send, b"")  # no chunk: an empty one would end the body
        await end(send, b"last")

    async with serving(api, SmallGateway(app)):
        call = await api.invoke(url_event(), deadline=deadline).done()
    assert [chunk.data for chunk in call.chunks] == [*parts, b"last"]


async def test_background_work_comes_after_the_last_byte_and_before_the_next_request(
    api: RuntimeApiEmulator, deadline: float
) -> None:
    journal: list[str] = []
    call: Call | None = None
    app = FastAPI()

    async def work() -> None:
        assert call is not None
        journal.append(f"background, response {call.outcome}, polled {api.polls_seen}")

    @app.post("/v1/chat/completions")
    async def answer(background: BackgroundTasks) -> Response:
        background.add_task(work)

        async def chunks() -> AsyncIterator[bytes]:
            yield b"one"
            yield b"two"

        return StreamingResponse(chunks(), background=background)

    async def afterwards() -> None:
        assert call is not None
        journal.append(f"after_response, response {call.outcome}, polled {api.polls_seen}")

    gateway = SmallGateway(app, afterwards=afterwards)
    async with serving(api, gateway):
        call = api.invoke(rest_event(), deadline=deadline)
        await call.done()
        await api.polled(2)
        journal.append("next")
    assert journal == [
        "background, response answered, polled 1",
        "after_response, response answered, polled 1",
        "next",
    ]
    assert gateway.journal == ["connect", "after_response", "close"]


async def test_an_environment_serves_one_request_after_the_other(api: RuntimeApiEmulator, deadline: float) -> None:
    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def answer(request: Request) -> JSONResponse:
        return JSONResponse({"asked": (await request.json())["n"]})

    async with serving(api, SmallGateway(app)):
        calls = [api.invoke(rest_event(b'{"n": %d}' % n), deadline=deadline) for n in range(20)]
        for call in calls:
            await call.done()
    assert [json.loads(call.body)["asked"] for call in calls] == list(range(20))
    assert api.connections == 21  # one for /next, and one for each response


@pytest.mark.parametrize("event", [rest_event, url_event])
async def test_the_app_sees_the_request(
    api: RuntimeApiEmulator, deadline: float, event: Callable[[bytes], Any], clock: ManualClock
) -> None:
    seen: dict[str, object] = {}

    @for_requests
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.update(scope)
        seen["request"] = await receive()
        await begin(send)
        await end(send)

    body = '{"text": "\u20ac"}'.encode()
    async with serving(api, SmallGateway(app), clock):
        call = await api.invoke(event(body), deadline=deadline, trace_id="Root=1-a-b").done()
    assert seen["request"] == {"type": "http.request", "body": body, "more_body": False}
    assert (seen["method"], seen["path"]) == ("POST", "/v1/chat/completions")
    assert seen["query_string"] == b"tag=a&tag=b"
    assert seen["client"] == ("203.0.113.9", 0)
    assert seen["asgi"] == {"version": "3.0", "spec_version": "2.4"}
    assert seen[DEADLINE] == deadline
    context = seen["aws.context"]
    assert getattr(context, "aws_request_id", None) == call.request_id
    assert (call.body, call.outcome) == (b"", "answered")


async def test_receive_says_nothing_until_the_response_is_over(api: RuntimeApiEmulator, deadline: float) -> None:
    told = asyncio.Event()

    @for_requests
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        watching = asyncio.ensure_future(receive())
        await begin(send)
        await part(send, b"one")
        for _ in range(50):
            await asyncio.sleep(0)
        assert not watching.done()
        await end(send, b"two")
        assert await watching == {"type": "http.disconnect"}
        told.set()

    async with serving(api, SmallGateway(app)):
        call = await api.invoke(rest_event(), deadline=deadline).done()
        await told.wait()
    assert call.body == b"onetwo"


async def test_two_tasks_of_an_app_may_send(api: RuntimeApiEmulator, deadline: float) -> None:
    """An answer and a heartbeat, while the connection is still being opened."""

    @for_requests
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await begin(send)
        await asyncio.gather(*(part(send, b"%d;" % number) for number in range(10)))
        await end(send)

    async with serving(api, SmallGateway(app)):
        call = await api.invoke(rest_event(), deadline=deadline).done()
    assert sorted(call.body.split(b";")) == [b"", *(b"%d" % number for number in range(10))]


async def test_a_head_request_gets_no_body(api: RuntimeApiEmulator, deadline: float) -> None:
    @for_requests
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await begin(send, ("content-length", "4"))
        await end(send, b"text")

    async with serving(api, SmallGateway(app)):
        call = await api.invoke(rest_event(None, method="HEAD"), deadline=deadline).done()
    assert (call.body, call.headers) == (b"", {"content-length": "4"})


async def test_repeated_headers_go_back_in_the_format_of_the_event(api: RuntimeApiEmulator, deadline: float) -> None:
    @for_requests
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await begin(send, ("set-cookie", "a=1"), ("set-cookie", "b=2"), ("vary", "x"), ("vary", "y"), ("etag", "z"))
        await end(send)

    async with serving(api, SmallGateway(app)):
        v1 = await api.invoke(rest_event(), deadline=deadline).done()
        v2 = await api.invoke(url_event(), deadline=deadline).done()
    assert v1.prelude == {
        "statusCode": 200,
        "headers": {"etag": "z"},
        "multiValueHeaders": {"set-cookie": ["a=1", "b=2"], "vary": ["x", "y"]},
    }
    assert v2.prelude == {"statusCode": 200, "headers": {"vary": "x,y", "etag": "z"}, "cookies": ["a=1", "b=2"]}


async def test_the_invocation_id_is_echoed_only_where_lambda_sends_one(
    api: RuntimeApiEmulator, deadline: float
) -> None:
    """The emulator refuses an answer that does not echo exactly what was sent."""
    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def answer() -> dict[str, str]:
        return {"a": "b"}

    async with serving(api, SmallGateway(app)):
        known = await api.invoke(rest_event(), deadline=deadline, invocation_id="4f1c").done()
        unknown = await api.invoke(rest_event(), deadline=deadline, invocation_id=None).done()
    assert (known.outcome, unknown.outcome) == ("answered", "answered")


async def test_the_trace_header_is_kept_for_aws_libraries(api: RuntimeApiEmulator, deadline: float) -> None:
    app = FastAPI()
    async with serving(api, SmallGateway(app)) as running:
        await api.invoke(rest_event(), deadline=deadline, trace_id="Root=1-a-b").done()
        await api.invoke(rest_event(), deadline=deadline).done()
    assert running.traces == ["Root=1-a-b", None]


async def test_large_events_and_large_chunks_go_through(clock: ManualClock, deadline: float) -> None:
    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def answer(request: Request) -> Response:
        return Response(await request.body())

    body = b"x" * 4_000_000
    async with RuntimeApiEmulator(chunked_events=True) as api, serving(api, SmallGateway(app), clock):
        call = await api.invoke(url_event(body), deadline=deadline).done()
    assert call.body == body


async def test_lifespan_runs_once_and_its_state_reaches_each_request(api: RuntimeApiEmulator, deadline: float) -> None:
    journal: list[str] = []

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, str]]:
        journal.append("up")
        yield {"shared": "thing"}
        journal.append("down")

    app = FastAPI(lifespan=lifespan)

    @app.post("/v1/chat/completions")
    async def answer(request: Request) -> dict[str, str]:
        journal.append("request")
        return {"state": request.state.shared}

    async with serving(api, SmallGateway(app)):
        for _ in range(2):
            call = await api.invoke(rest_event(), deadline=deadline).done()
            assert json.loads(call.body) == {"state": "thing"}
    assert journal == ["up", "request", "request", "down"]
