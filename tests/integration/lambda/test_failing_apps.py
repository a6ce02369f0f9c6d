"""What Lambda and the caller see of an app that fails: before the first byte, after it, and after the last."""

import asyncio
import base64
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from fastapi import BackgroundTasks, FastAPI
from fastapi.responses import StreamingResponse
from mangum.types import Receive, Scope, Send

from functions.local.emulator.call import Call
from functions.local.emulator.runtime_api import RuntimeApiEmulator
from tests.support.lambda_events import rest_event, url_event
from tests.support.runtime_process import serving
from tests.support.small_gateway import SmallGateway, begin, end, for_requests, part

SECRET = "a prompt that nobody may read in a log"
EVENT_STREAM = ("content-type", "text/event-stream; charset=utf-8")


class OddError2(Exception):
    pass


def told_to_lambda(call: Call) -> dict[str, object]:
    document: dict[str, object] = json.loads(base64.b64decode(call.trailers["lambda-runtime-function-error-body"]))
    return document


async def answers_after(api: RuntimeApiEmulator, deadline: float) -> None:
    """The environment is none the worse."""
    assert (await api.invoke(rest_event(path="/well"), deadline=deadline).done()).body == b"well"


def failing(app: Callable[[Scope, Receive, Send], Awaitable[None]]) -> SmallGateway:
    @for_requests
    async def either(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/well":
            await begin(send)
            await end(send, b"well")
        else:
            await app(scope, receive, send)

    return SmallGateway(either)


@pytest.mark.parametrize("with_head", [False, True])
async def test_before_the_first_byte_it_is_an_error_of_the_function(
    api: RuntimeApiEmulator, deadline: float, with_head: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if with_head:
            await begin(send, EVENT_STREAM)
        raise OddError2(SECRET)

    async with serving(api, failing(app)):
        call = await api.invoke(rest_event(), deadline=deadline).done()
        await answers_after(api, deadline)
    assert (call.outcome, call.error_type, call.prelude) == ("failed", "Function.OddError", None)
    assert call.error is not None
    assert call.error["errorType"] == "Function.OddError"
    assert any("test_failing_apps.py" in frame and "app" in frame for frame in call.error["stackTrace"])
    assert SECRET not in json.dumps(call.error)
    assert "the app failed" in caplog.text


async def test_after_the_first_byte_lambda_sees_trailers_and_the_caller_an_error_frame(
    api: RuntimeApiEmulator, deadline: float
) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await begin(send, EVENT_STREAM, ("x-request-id", "req-7"))
        await part(send, b'data: {"choices":[]}\n\n')
        raise ValueError(SECRET)

    async with serving(api, failing(app)):
        call = await api.invoke(rest_event(), deadline=deadline).done()
        await answers_after(api, deadline)
    assert call.outcome == "broken off"
    assert call.trailers["lambda-runtime-function-error-type"] == "Function.ValueError"
    assert told_to_lambda(call)["errorType"] == "Function.ValueError"
    assert SECRET not in str(told_to_lambda(call))
    first, error, done, nothing = call.body.split(b"\n\n")
    assert first == b'data: {"choices":[]}'
    told = json.loads(error.removeprefix(b"data: "))
    assert told["error"].pop("message")
    assert told == {
        "object": "error",
        "id": "req-7",
        "choices": [],
        "error": {"type": "internal_error", "param": None, "code": "internal_error"},
    }
    assert (done, nothing) == (b"data: [DONE]", b"")


@pytest.mark.parametrize(
    "headers",
    [
        [("content-type", "application/json")],
        [],
        [EVENT_STREAM, ("content-encoding", "gzip")],
    ],
)
async def test_only_a_readable_event_stream_gets_an_error_frame(
    api: RuntimeApiEmulator, deadline: float, headers: list[tuple[str, str]]
) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await begin(send, *headers)
        await part(send, b"{")
        raise ValueError(SECRET)

    async with serving(api, failing(app)):
        call = await api.invoke(rest_event(), deadline=deadline).done()
    assert (call.body, call.outcome) == (b"{", "broken off")


async def test_an_error_that_the_app_told_itself_is_not_told_twice(api: RuntimeApiEmulator, deadline: float) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await begin(send, EVENT_STREAM)
        await part(send, b'data: {"error":{}}\n\ndata: [DONE]\n\n')
        raise ValueError

    async with serving(api, failing(app)):
        call = await api.invoke(rest_event(), deadline=deadline).done()
    assert call.body == b'data: {"error":{}}\n\ndata: [DONE]\n\n'
    assert call.outcome == "broken off"


async def test_an_answer_without_an_end_is_broken_off(api: RuntimeApiEmulator, deadline: float) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await begin(send, EVENT_STREAM)
        await part(send, b"data: 1\n\n")

    async with serving(api, failing(app)):
        call = await api.invoke(rest_event(), deadline=deadline).done()
        await answers_after(api, deadline)
    assert call.outcome == "broken off"
    assert call.trailers["lambda-runtime-function-error-type"] == "Runtime.ResponseIncomplete"
    assert call.body.endswith(b"data: [DONE]\n\n")


async def test_no_answer_at_all_is_an_error(api: RuntimeApiEmulator, deadline: float) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()

    async with serving(api, failing(app)):
        call = await api.invoke(rest_event(), deadline=deadline).done()
        await answers_after(api, deadline)
    assert (call.outcome, call.error_type) == ("failed", "Runtime.ResponseIncomplete")


async def test_an_app_that_cancels_itself_has_failed(api: RuntimeApiEmulator, deadline: float) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise asyncio.CancelledError

    async with serving(api, failing(app)):
        call = await api.invoke(rest_event(), deadline=deadline).done()
        await answers_after(api, deadline)
    assert (call.outcome, call.error_type) == ("failed", "Function.CancelledError")


@pytest.mark.parametrize("wrong", ["start twice", "body first", "body after the end", "nonsense"])
async def test_messages_out_of_turn_are_an_error_in_the_app(
    api: RuntimeApiEmulator, deadline: float, wrong: str
) -> None:
    refused = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if wrong == "body first":
                await end(send, b"x")
            await begin(send)
            if wrong == "start twice":
                await begin(send)
            if wrong == "nonsense":
                await send({"type": "websocket.accept"})
            await end(send, b"x")
            await end(send, b"y")
        except RuntimeError:
            refused.set()
            raise

    async with serving(api, failing(app)):
        call = await api.invoke(rest_event(), deadline=deadline).done()
        await refused.wait()
        await answers_after(api, deadline)
    expected = ("answered", b"x") if wrong == "body after the end" else ("failed", b"")
    assert (call.outcome, call.body) == expected


async def test_fastapis_own_500_is_the_answer(api: RuntimeApiEmulator, deadline: float) -> None:
    """It answers, and raises all the same: the answer stands."""
    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def answer() -> None:
        raise OddError2(SECRET)

    async with serving(api, SmallGateway(app)):
        call = await api.invoke(rest_event(), deadline=deadline).done()
    assert call.outcome == "answered"
    assert call.prelude is not None
    assert call.prelude["statusCode"] == 500


async def test_failing_background_work_harms_nobody(
    api: RuntimeApiEmulator, deadline: float, caplog: pytest.LogCaptureFixture
) -> None:
    app = FastAPI()

    async def fails() -> None:
        raise OddError2(SECRET)

    @app.post("/v1/chat/completions")
    async def answer(background: BackgroundTasks) -> StreamingResponse:
        async def chunks() -> AsyncIterator[bytes]:
            yield b"data: 1\n\n"

        background.add_task(fails)
        return StreamingResponse(chunks(), background=background, media_type="text/event-stream")

    async def afterwards() -> None:
        raise OddError2(SECRET)

    async with serving(api, SmallGateway(app, afterwards=afterwards)):
        for _ in range(2):
            call = await api.invoke(rest_event(), deadline=deadline).done()
            assert (call.outcome, call.body) == ("answered", b"data: 1\n\n")
    assert "the work after the response failed" in caplog.text


async def test_headers_too_large_for_lambda_give_a_clean_500(
    api: RuntimeApiEmulator, deadline: float, caplog: pytest.LogCaptureFixture
) -> None:
    stopped = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await begin(send, ("x-request-id", "req-9"), ("x-large", "x" * 16_384))
        except OSError:
            assert await receive() == {"type": "http.request", "body": b"{}", "more_body": False}
            assert await receive() == {"type": "http.disconnect"}
            stopped.set()
            raise

    async with serving(api, failing(app)):
        call = await api.invoke(url_event(), deadline=deadline).done()
        await stopped.wait()
        await answers_after(api, deadline)
    assert call.outcome == "answered"
    assert call.prelude is not None
    assert call.prelude["statusCode"] == 500
    named = {"x-request-id": "req-9", "x-inferbase-request-id": "req-9"}
    assert call.headers == {"content-type": "application/json", "x-should-retry": "false", **named}
    told = json.loads(call.body)
    assert told["error"].pop("message")
    assert told == {
        "error": {"type": "internal_error", "param": None, "code": "internal_error"},
        "request_id": "req-9",
    }
    assert "the app's response cannot be sent" in caplog.text


@pytest.mark.parametrize(
    "event",
    [
        {"Records": [{"eventSource": "aws:sqs"}]},
        {"source": "aws.events", "detail-type": "Scheduled Event"},
        {"requestContext": {"elb": {}}, "httpMethod": "GET", "path": "/", "headers": {}},
        {"requestContext": {}, "version": "2.0"},
        {**rest_event(), "body": "a", "isBase64Encoded": True},
        [],
        b"not JSON",
    ],
)
async def test_an_event_that_is_no_http_request_is_refused_in_words(
    api: RuntimeApiEmulator, deadline: float, event: object, caplog: pytest.LogCaptureFixture
) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("the app was asked")

    gateway = failing(app)
    async with serving(api, gateway):
        call = await api.invoke(event, deadline=deadline).done()
        await answers_after(api, deadline)
    assert (call.outcome, call.error_type) == ("failed", "Runtime.UnsupportedEvent")
    assert call.error is not None
    assert "event" in call.error["errorMessage"]
    assert gateway.journal.count("after_response") == 2
    assert caplog.records[0].levelno == logging.ERROR
