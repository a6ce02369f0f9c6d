"""The server's side of HTTP/1.1 for the Runtime API emulator: reads strictly, and says what is wrong.

It shares nothing with the client under test, so that the same mistake on both sides cannot hide.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

PRELUDE_LIMIT = 16 * 1024
DELIMITER = bytes(8)
ERROR_TYPE = re.compile(r"(Runtime|Function)\.[A-Z][A-Za-z]+")


class BadWire(Exception):
    """What the client sent breaks HTTP or Lambda's contract."""


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]

    @property
    def chunked(self) -> bool:
        return self.headers.get("transfer-encoding") == "chunked"


@dataclass(slots=True)
class Trailers:
    """Filled in when a chunked body has ended."""

    fields: dict[str, str] = field(default_factory=dict)


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The head of the next request; None when the client has closed the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as ended:
        if ended.partial:
            raise BadWire("the connection ended inside a request's head") from None
        return None
    lines = head.decode("latin-1")[:-4].split("\r\n")
    if any("\n" in line or "\r" in line for line in lines):
        raise BadWire("a line of the head ends with half a line end")
    parts = lines[0].split(" ")
    if len(parts) != 3 or parts[2] != "HTTP/1.1":
        raise BadWire(f"not a request line: {lines[0]!r}")
    headers = _headers(lines[1:])
    if "host" not in headers:
        raise BadWire("HTTP/1.1 without Host")
    if "transfer-encoding" in headers and "content-length" in headers:
        raise BadWire("both Transfer-Encoding and Content-Length")
    return Request(parts[0], parts[1], headers)


def _headers(lines: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not re.fullmatch(r"[A-Za-z0-9-]+", name):
            raise BadWire(f"not a header: {line!r}")
        if name.lower() in headers:
            raise BadWire(f"{name} occurs twice")
        headers[name.lower()] = value.strip(" ")
    return headers


async def read_body(reader: asyncio.StreamReader, request: Request) -> bytes:
    if request.chunked:
        return b"".join([chunk async for chunk in read_chunks(reader, Trailers())])
    return await reader.readexactly(int(request.headers.get("content-length", "0")))


async def read_chunks(reader: asyncio.StreamReader, trailers: Trailers) -> AsyncIterator[bytes]:
    """The chunks as the client cut them. A connection that ends early raises EOFError."""
    while True:
        size = await reader.readuntil(b"\r\n")
        if not re.fullmatch(rb"[0-9A-Fa-f]+\r\n", size):
            raise BadWire(f"not a chunk size: {size!r}")
        if int(size, 16) == 0:
            break
        yield await reader.readexactly(int(size, 16))
        if await reader.readexactly(2) != b"\r\n":
            raise BadWire("a chunk is longer than its size")
    lines: list[str] = []
    while (line := await reader.readuntil(b"\r\n")) != b"\r\n":
        lines.append(line.decode("latin-1")[:-2])
    trailers.fields.update(_headers(lines))


def answer(status: int, body: bytes, headers: Mapping[str, str] | None = None) -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body


def answer_in_chunks(body: bytes, headers: Mapping[str, str]) -> bytes:
    lines = ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", *(f"{name}: {value}" for name, value in headers.items())]
    pieces = [body[at : at + 1000] for at in range(0, len(body), 1000)]
    chunks = b"".join(b"%X\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + chunks + b"0\r\n\r\n"


def parse_prelude(received: bytes) -> tuple[dict[str, Any], bytes] | None:
    """The prelude and what came after its delimiter; None while it is not whole."""
    told, delimiter, rest = received.partition(DELIMITER)
    if not delimiter:
        if len(received) >= PRELUDE_LIMIT:
            raise BadWire("no delimiter in the first 16 KiB")
        return None
    if len(told) + len(DELIMITER) >= PRELUDE_LIMIT:
        raise BadWire(f"the prelude takes {len(told)} bytes")
    prelude = json.loads(told)
    _check_prelude(prelude)
    return prelude, rest


def _check_prelude(prelude: Any) -> None:
    allowed = {"statusCode": int, "headers": dict, "multiValueHeaders": dict, "cookies": list}
    if not isinstance(prelude, dict) or not isinstance(prelude.get("statusCode"), int):
        raise BadWire("the prelude has no status")
    for name, value in prelude.items():
        if name not in allowed or not isinstance(value, allowed[name]):
            raise BadWire(f"the prelude's {name} is {value!r}")
    singles = [*prelude.get("headers", {}).values(), *prelude.get("cookies", [])]
    lists = prelude.get("multiValueHeaders", {}).values()
    if not all(isinstance(each, list) for each in lists):
        raise BadWire("a multi-value header is no list")
    if not all(isinstance(each, str) for each in [*singles, *(value for each in lists for value in each)]):
        raise BadWire("a header's value is no string")
    if "multiValueHeaders" in prelude and "cookies" in prelude:
        raise BadWire("the prelude mixes two payload formats")


def parse_error(body: bytes, kind: str | None) -> dict[str, Any]:
    """The JSON document of a reported error, checked."""
    if kind is None or not ERROR_TYPE.fullmatch(kind):
        raise BadWire(f"Lambda would not keep the error type {kind!r}")
    document = json.loads(body)
    if not isinstance(document, dict) or set(document) != {"errorMessage", "errorType", "stackTrace"}:
        raise BadWire("the error is not of the documented shape")
    if not all(isinstance(document[name], str) for name in ("errorMessage", "errorType")):
        raise BadWire("the error's members are no strings")
    if not all(isinstance(frame, str) for frame in document["stackTrace"]):
        raise BadWire("the stack trace is no list of strings")
    return document
