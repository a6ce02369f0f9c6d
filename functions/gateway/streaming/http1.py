"""The little of HTTP/1.1 that a client of the Runtime API needs, over asyncio streams; knows nothing of Lambda."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

END_OF_CHUNKS = b"0\r\n\r\n"

# A head beyond this is no Runtime API; bodies are not bounded by it.
HEAD_LIMIT = 256 * 1024


class ConnectionBroken(ConnectionError):
    """The other side closed the connection, or what it sent is no HTTP."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer: status, headers by lower-case name, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def reusable(self) -> bool:
        """Whether the connection may carry another request."""
        return self.headers.get("connection", "").lower() != "close"


def head(method: str, path: str, headers: Iterable[tuple[str, str]]) -> bytes:
    """A request's first bytes, up to and with the blank line."""
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def chunk(data: bytes) -> bytes:
    """One chunk of a chunked body as it stands on the wire. Empty data would end the body, so it is refused."""
    if not data:
        raise ValueError("an empty chunk ends the body")
    return b"".join((b"%x\r\n" % len(data), data, b"\r\n"))


async def read_reply(reader: asyncio.StreamReader) -> Reply:
    """Read one whole answer.

    Raises:
        ConnectionBroken: The connection ended early, or the answer is malformed.
    """
    try:
        status, headers = await _read_head(reader)
        while 100 <= status < 200:
            status, headers = await _read_head(reader)
        return Reply(status, headers, await _read_body(reader, headers))
    except (EOFError, asyncio.LimitOverrunError, ValueError) as error:
        raise ConnectionBroken(f"no whole HTTP answer came: {type(error).__name__}") from error


async def _read_head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[:-2]
    version, _, rest = first.partition(" ")
    if not version.startswith("HTTP/1."):
        raise ValueError("not HTTP/1")
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    if version == "HTTP/1.0":
        headers.setdefault("connection", "close")
    return int(rest[:3]), headers


async def _read_body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return await _read_chunks(reader)
    length = headers.get("content-length")
    if length is None:
        return await reader.read() if headers.get("connection", "").lower() == "close" else b""
    return await reader.readexactly(int(length))


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    parts: list[bytes] = []
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        parts.append(await reader.readexactly(size))
        if await reader.readexactly(2) != b"\r\n":
            raise ValueError("a chunk runs over its size")
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass  # trailers of an answer mean nothing here
    return b"".join(parts)
