"""The emulator sees what a runtime does wrong: what Lambda would refuse, and what it would swallow without a word."""

import asyncio
import base64
import json

import pytest

from functions.local.emulator.contract import DELIMITER, ERROR_BODY, ERROR_TYPE, HTTP_RESPONSE
from functions.local.emulator.runtime_api import VERSION, RuntimeApiEmulator

NEXT = f"GET {VERSION}/invocation/next HTTP/1.1\r\nHost: x\r\n\r\n".encode()
FAILURE = json.dumps({"errorMessage": "m", "errorType": "Function.Failed", "stackTrace": []}).encode()
PRELUDE = b'{"statusCode":200}' + DELIMITER


def post(path: str, body: bytes, *headers: str) -> bytes:
    lines = [f"POST {VERSION}{path} HTTP/1.1", "Host: x", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def streamed(
    *chunks: bytes,
    request_id: str = "request-1",
    echo: str = "invocation-1",
    kind: str = HTTP_RESPONSE,
    mode: str = "streaming",
    declared: str = f"{ERROR_TYPE}, {ERROR_BODY}",
    end: bytes = b"0\r\n\r\n",
) -> bytes:
    lines = [
        f"POST {VERSION}/invocation/{request_id}/response HTTP/1.1",
        *("Host: x", "Transfer-Encoding: chunked", f"Content-Type: {kind}", f"Trailer: {declared}"),
        *(f"Lambda-Runtime-Function-Response-Mode: {mode}", f"Lambda-Runtime-Invocation-Id: {echo}", "", ""),
    ]
    return "\r\n".join(lines).encode() + b"".join(b"%x\r\n%s\r\n" % (len(each), each) for each in chunks) + end


def trailers(kind: str, body: bytes) -> bytes:
    encoded = base64.b64encode(body).decode()
    return f"0\r\n{ERROR_TYPE}: {kind}\r\n{ERROR_BODY}: {encoded}\r\n\r\n".encode()


async def said(api: RuntimeApiEmulator, data: bytes) -> bytes:
    """What the emulator answers on a connection of its own, up to where it hangs up or we do."""
    host, _, port = api.address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(data)
    writer.write_eof()
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


async def handed_out(api: RuntimeApiEmulator) -> None:
    """An invocation, on its way."""
    api.invoke({}, deadline=0)
    host, _, port = api.address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(NEXT)
    await reader.readuntil(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize(
    ("sent", "violation"),
    [
        (b"GET / HTTP/1.0\r\nHost: x\r\n\r\n", "not a request line"),
        (b"GET / HTTP/1.1\nHost: x\r\n\r\n", "half a line end"),
        (b"GET / HTTP/1.1\r\n\r\n", "without Host"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nno header\r\n\r\n", "not a header"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "occurs twice"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "both"),
        (b"GET / HTTP/1.1\r\nHost: x", "inside a request's head"),
        (b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n", "no such endpoint"),
        (post("/init/error", FAILURE, f"{ERROR_TYPE}: nonsense"), "would not keep the error type"),
        (post("/init/error", b"{}", f"{ERROR_TYPE}: Runtime.Failed"), "documented shape"),
        (post("/restore/error", FAILURE, f"{ERROR_TYPE}: Function.Failed"), "in the wrong state"),
        (streamed(PRELUDE), "which is not out"),
        (NEXT + NEXT, "while /next was open"),
    ],
)
async def test_what_a_runtime_may_not_send_is_a_violation(api: RuntimeApiEmulator, sent: bytes, violation: str) -> None:
    answer = await said(api, sent)
    assert answer == b"" or int(answer.split(b" ")[1]) >= 400
    assert len(api.violations) == 1
    assert violation in api.violations[0]


@pytest.mark.parametrize(
    ("sent", "violation"),
    [
        (streamed(PRELUDE, mode="buffered"), "not declared as streaming"),
        (streamed(PRELUDE, kind="text/plain"), "a response of type"),
        (streamed(PRELUDE, declared="x"), "are declared"),
        (streamed(b"x" * 16_384), "no delimiter"),
        (streamed(b'{"statusCode":"200"}' + DELIMITER), "no status"),
        (streamed(b'{"statusCode":200,"odd":1}' + DELIMITER), "the prelude's odd"),
        (streamed(b'{"statusCode":200,"headers":{"a":1}}' + DELIMITER), "no string"),
        (streamed(b'{"statusCode":200,"multiValueHeaders":{"a":"1"}}' + DELIMITER), "no list"),
        (streamed(b'{"statusCode":200,"multiValueHeaders":{},"cookies":[]}' + DELIMITER), "two payload formats"),
        (streamed(b'{"statusCode":200}'), "without a prelude"),
        (streamed(PRELUDE, end=b"zz\r\n"), "not a chunk size"),
        (streamed(PRELUDE, end=b"1\r\nab\r\n"), "longer than its size"),
        (streamed(PRELUDE, end=b"0\r\nx: y\r\n\r\n"), "trailers"),
        (streamed(PRELUDE, end=trailers("Function.Other", FAILURE)), "disagree"),
        (streamed(PRELUDE, echo="another"), "echoed another"),
        (streamed(PRELUDE) + b"x", "was used again"),
    ],
)
async def test_what_is_no_response_stream_is_a_violation(api: RuntimeApiEmulator, sent: bytes, violation: str) -> None:
    await handed_out(api)
    await said(api, sent)
    assert len(api.violations) == 1
    assert violation in api.violations[0]


async def test_an_invocation_is_answered_once(api: RuntimeApiEmulator) -> None:
    await handed_out(api)
    first, second = await said(api, streamed(PRELUDE)), await said(api, streamed(PRELUDE))
    assert (first.split(b" ")[1], second.split(b" ")[1]) == (b"202", b"400")
    assert api.violations == ["request-1 is answered twice"]


async def test_one_that_was_forgotten_is_not_out_any_more(api: RuntimeApiEmulator) -> None:
    call = api.invoke({}, deadline=0)
    api.invocations.forget(call)
    await said(api, streamed(PRELUDE))
    assert api.violations == ["an answer for request-1, which is not out"]
