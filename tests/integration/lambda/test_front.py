"""The emulated REST API: HTTP becomes an event and the response stream HTTP again, as it comes."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from mangum.types import ASGI, Receive, Scope, Send

from functions.gateway.clock import SystemClock
from functions.local.emulator.call import Call
from functions.local.emulator.fleet import Throttled
from functions.local.emulator.front import LARGEST_EVENT
from functions.local.emulator.runtime_api import RuntimeApiEmulator
from tests.support.lambda_front import fronted
from tests.support.runtime_process import serving
from tests.support.small_gateway import SmallGateway, for_requests


@asynccontextmanager
async def served(api: RuntimeApiEmulator, app: ASGI) -> AsyncIterator[httpx.AsyncClient]:
    """An app under the runtime loop, behind the front."""

    async def invoke(event: bytes) -> Call:
        return api.invoke(event, deadline=time.time() + 60)

    async with serving(api, SmallGateway(app), SystemClock()), fronted(invoke) as url:
        async with httpx.AsyncClient(base_url=url, timeout=30) as client:
            yield client


def echo() -> FastAPI:
    app = FastAPI()

    @app.post("/v1/{rest:path}")
    async def echoed(request: Request) -> Response:
        seen: dict[str, Any] = {
            "path": request.url.path,
            "query": request.query_params.multi_items(),
            "twice": request.headers["x-twice"],
            "proto": request.headers["x-forwarded-proto"],
            "client": request.client and request.client.host,
            "body": (await request.body()).hex(),
        }
        answer = JSONResponse(seen, 201, {"x-one": "1"})
        answer.set_cookie("a", "1")
        answer.set_cookie("b", "2")
        return answer

    return app


@pytest.mark.parametrize("body", [b"", '{"text": "für"}'.encode(), bytes(range(256))])
async def test_the_app_sees_the_request_that_was_sent(api: RuntimeApiEmulator, body: bytes) -> None:
    headers = [("x-twice", "a"), ("x-twice", "b")]
    async with served(api, echo()) as client:
        answer = await client.post("/v1/a%2Fb/%C3%BC?tag=a&tag=b&empty=&odd=%26", content=body, headers=headers)
    assert (answer.status_code, answer.headers["x-one"]) == (201, "1")
    assert [each.partition(";")[0] for each in answer.headers.get_list("set-cookie")] == ["a=1", "b=2"]
    assert answer.json() == {
        "path": "/v1/a/b/ü",
        "query": [["tag", "a"], ["tag", "b"], ["empty", ""], ["odd", "&"]],
        "twice": "a, b",
        "proto": "http",
        "client": "127.0.0.1",
        "body": body.hex(),
    }


async def test_an_event_is_what_a_rest_api_sends(api: RuntimeApiEmulator) -> None:
    events: list[Any] = []

    async def invoke(event: bytes) -> Call:
        events.append(json.loads(event))
        raise Throttled

    async with fronted(invoke) as url, httpx.AsyncClient(base_url=url) as client:
        await client.get("/v1/models", headers={"user-agent": "example"})
    (event,) = events
    assert (event["httpMethod"], event["path"], event["body"]) == ("GET", "/v1/models", None)
    assert (event["resource"], event["pathParameters"]) == ("/{proxy+}", {"proxy": "v1/models"})
    assert (event["queryStringParameters"], event["multiValueQueryStringParameters"]) == (None, None)
    context = event["requestContext"]
    assert (context["stage"], context["path"]) == ("live", "/live/v1/models")
    assert context["identity"] == {"sourceIp": "127.0.0.1", "userAgent": "example"}
    assert event["multiValueHeaders"]["user-agent"] == [event["headers"]["user-agent"]] == ["example"]


async def test_what_comes_first_arrives_before_the_rest_is_made(api: RuntimeApiEmulator) -> None:
    go_on, app = asyncio.Event(), FastAPI()

    @app.get("/stream")
    async def streamed() -> StreamingResponse:
        async def parts() -> AsyncIterator[bytes]:
            yield b"first"
            await go_on.wait()
            yield b"last"

        return StreamingResponse(parts())

    async with served(api, app) as client, client.stream("GET", "/stream") as answer:
        parts = answer.aiter_bytes()
        assert await anext(parts) == b"first"
        go_on.set()
        assert [part async for part in parts] == [b"last"]


@pytest.mark.parametrize("length", [None, "10"])
async def test_an_answer_that_breaks_off_does_not_pass_for_a_whole_one(
    api: RuntimeApiEmulator, length: str | None
) -> None:
    app = FastAPI()

    @app.get("/break")
    async def broken() -> StreamingResponse:
        async def parts() -> AsyncIterator[bytes]:
            yield b"first"
            raise ValueError("in the middle")

        return StreamingResponse(parts(), headers={} if length is None else {"content-length": length})

    async with served(api, app) as client, client.stream("GET", "/break") as answer:
        assert answer.status_code == 200
        with pytest.raises(httpx.RemoteProtocolError):
            await answer.aread()


async def test_a_function_that_fails_before_its_first_byte_gets_the_stacks_own_words(api: RuntimeApiEmulator) -> None:
    @for_requests
    async def fails(scope: Scope, receive: Receive, send: Send) -> None:
        raise ValueError("before the first byte")

    async with served(api, fails) as client:
        answer = await client.get("/any")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal_error")
    assert answer.json()["request_id"] == answer.headers["x-request-id"]


async def test_what_api_gateway_refuses_never_reaches_the_function() -> None:
    async def invoke(event: bytes) -> Call:
        raise AssertionError("it was called")

    async with fronted(invoke) as url, httpx.AsyncClient() as client:
        elsewhere = await client.get(url.removesuffix("/live") + "/v1/models")
        large = await client.post(f"{url}/v1/chat/completions", content=b"x" * LARGEST_EVENT)
    assert (elsewhere.status_code, elsewhere.json()["error"]["code"]) == (404, "endpoint_not_found")
    assert (large.status_code, large.json()["error"]["code"]) == (413, "request_too_large")
    assert large.headers["x-should-retry"] == "false"
