"""A front shaped like a REST API of API Gateway with response streaming, as an ASGI app: HTTP in, events out, and the
function's response stream back as it comes."""

import logging
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from uuid import uuid4

import orjson

from functions.local.emulator.call import Call
from functions.local.emulator.fleet import Throttled
from functions.local.emulator.gateway_answers import (
    DEFAULT_5XX,
    INTEGRATION_TIMEOUT,
    MISSING_AUTHENTICATION_TOKEN,
    REQUEST_TOO_LARGE,
    THROTTLED,
    GatewayAnswer,
)
from functions.local.emulator.rest import HttpRequest, rest_event

log = logging.getLogger(__name__)

LARGEST_EVENT = 6 * 1024 * 1024
"""Bytes of an event that Lambda takes at most when it is waited for (Lambda developer guide, "Quotas")."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class RestFront:
    """The app.

    Args:
        invoke: Has an event handled; may raise `Throttled`, or an `OSError`.
        stage: The first part of every path.
    """

    def __init__(self, invoke: Callable[[bytes], Awaitable[Call]], stage: str) -> None:
        self._invoke = invoke
        self._stage = stage

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request. A caller who leaves changes nothing for the function: Lambda is not told either."""
        if scope["type"] != "http":
            raise RuntimeError("HTTP only")
        body = await _body(receive)
        request_id = str(uuid4())
        stage, path = _staged(scope["raw_path"].decode("latin-1"))
        if stage != self._stage:
            return await _answer(send, MISSING_AUTHENTICATION_TOKEN, request_id)
        event = orjson.dumps(rest_event(_request(scope, path, body), stage, request_id, time.time()))
        if len(event) > LARGEST_EVENT:
            return await _answer(send, REQUEST_TOO_LARGE, request_id)
        try:
            call = await self._invoke(event)
        except Throttled:
            return await _answer(send, THROTTLED, request_id)
        except OSError as error:
            log.error("the function's program cannot be run: %s", error)
            return await _answer(send, DEFAULT_5XX, request_id)
        return await _pass_on(call, send, request_id)


async def _pass_on(call: Call, send: Send, request_id: str) -> None:
    head = await call.head()
    if head is None:
        failed = INTEGRATION_TIMEOUT if call.outcome == "timed out" else DEFAULT_5XX
        return await _answer(send, failed, request_id)
    headers = [*_pairs(head), (b"x-amzn-requestid", request_id.encode())]
    await send({"type": "http.response.start", "status": head["statusCode"], "headers": headers})
    async for part in call.parts():
        await send({"type": "http.response.body", "body": part, "more_body": True})
    if call.outcome == "answered":
        await send({"type": "http.response.body", "body": b""})
    # Else the response stays unfinished, and the server breaks the connection off: it must not pass for a whole one.
    return None


async def _answer(send: Send, answer: GatewayAnswer, request_id: str) -> None:
    body = answer.body(request_id)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"x-amzn-requestid", request_id.encode()),
        *((name.lower().encode(), value.encode()) for name, value in answer.headers(request_id)),
    ]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while (message := await receive())["type"] == "http.request":
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            break
    return b"".join(parts)


def _staged(path: str) -> tuple[str, str]:
    """The stage, and the path within it."""
    stage, slash, rest = path.removeprefix("/").partition("/")
    return stage, slash + rest or "/"


def _request(scope: Message, path: str, body: bytes) -> HttpRequest:
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
    caller, _ = scope["client"] or ("127.0.0.1", 0)
    query = scope["query_string"].decode("latin-1")
    return HttpRequest(scope["method"], path, query, headers, body, caller, secure=scope["scheme"] == "https")


def _pairs(head: MutableMapping[str, Any]) -> Iterable[tuple[bytes, bytes]]:
    for name, value in head.get("headers", {}).items():
        yield name.encode("latin-1"), value.encode("latin-1")
    for name, values in head.get("multiValueHeaders", {}).items():
        for value in values:
            yield name.encode("latin-1"), value.encode("latin-1")
