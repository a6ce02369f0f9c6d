"""The server's side of HTTP/1.1 for the Runtime API: reads strictly and says what is wrong; knows nothing of Lambda."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field


class BadWire(Exception):
    """What the client sent breaks HTTP or Lambda's contract."""


@dataclass(frozen=True, slots=True)
class Request:
    """The head of a request; headers by lower-case name."""

    method: str
    path: str
    headers: Mapping[str, str]

    @property
    def chunked(self) -> bool:
        """Whether the body comes in chunks."""
        return self.headers.get("transfer-encoding") == "chunked"


@dataclass(slots=True)
class Trailers:
    """Filled in when a chunked body has ended."""

    fields: dict[str, str] = field(default_factory=dict)


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The head of the next request; None when the client has closed the connection.

    Raises:
        BadWire: It is no HTTP/1.1.
    """
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
    """The whole body of a request.

    Raises:
        BadWire: Its chunks are malformed.
        EOFError: The connection ended early.
    """
    if request.chunked:
        return b"".join([chunk async for chunk in read_chunks(reader, Trailers())])
    return await reader.readexactly(int(request.headers.get("content-length", "0")))


async def read_chunks(reader: asyncio.StreamReader, trailers: Trailers) -> AsyncIterator[bytes]:
    """The chunks as the client cut them, and at their end the trailers.

    Raises:
        BadWire: They are malformed.
        EOFError: The connection ended early.
    """
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
    """A whole JSON answer as it stands on the wire."""
    lines = [f"HTTP/1.1 {status} Whatever", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body


def answer_in_chunks(body: bytes, headers: Mapping[str, str]) -> bytes:
    """The same with status 200 and a body in chunks of 1,000 bytes."""
    lines = ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", *(f"{name}: {value}" for name, value in headers.items())]
    pieces = [body[at : at + 1000] for at in range(0, len(body), 1000)]
    chunks = b"".join(b"%X\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + chunks + b"0\r\n\r\n"
