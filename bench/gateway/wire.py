"""Just enough of HTTP/1.1 for measuring: a server's side and a client's side that cost little themselves."""

import asyncio
import re
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final, cast

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_HEAD_END: Final = b"\r\n\r\n"
_LAST_CHUNK: Final = b"0\r\n\r\n"
_REQUEST: Final = (
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer KEY\r\n"
    b"content-type: application/json\r\naccept: */*\r\nuser-agent: bench\r\ncontent-length: %d\r\n\r\n"
)


class Wrong(Exception):
    """An answer is not what it should be: nothing measured with it counts."""


class Requests(asyncio.Protocol):
    """The server's side of a connection: whole requests, one after another."""

    transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport = cast(asyncio.Transport, transport)
        self._data = bytearray()
        self._needed = 0

    def data_received(self, data: bytes) -> None:
        """Take bytes, and answer once they are a request."""
        self._data += data
        if len(self._data) < self._needed:
            return
        end = self._data.find(_HEAD_END)
        if end < 0:
            return
        head = bytes(self._data[:end])
        found = _LENGTH.search(head)
        self._needed = end + len(_HEAD_END) + (int(found[1]) if found else 0)
        if len(self._data) >= self._needed:
            body = bytes(self._data[end + len(_HEAD_END) : self._needed])
            self._data.clear()
            self._needed = 0
            self.requested(head, body)

    def requested(self, head: bytes, body: bytes) -> None:
        """Answer a request."""
        raise NotImplementedError


@dataclass(slots=True)
class Timing:
    """When things of one answer came, in seconds: the first token and the end since the request, and each read."""

    first_token: float = 0.0
    total: float = 0.0
    reads: list[float] = field(default_factory=list)


class Connection(asyncio.Protocol):
    """The client's side of a connection that is used again and again."""

    def __init__(self, key: str) -> None:
        self._head = _REQUEST.replace(b"KEY", key.encode())
        self._transport: asyncio.Transport | None = None
        self._done: asyncio.Future[None] | None = None
        self._parts: list[bytes] = []
        self._size = 0
        self._needed: int | None = None
        self._token = b""
        self._began = 0.0
        self._timing = Timing()

    @classmethod
    async def open(cls, port: int, key: str) -> "Connection":
        """A connection to a port of this machine, for a caller with this key."""
        _, connection = await asyncio.get_running_loop().create_connection(lambda: cls(key), "127.0.0.1", port)
        return connection

    async def exchange(self, body: bytes, token: bytes, tokens: int) -> Timing:
        """Send a request and take its answer.

        Args:
            body: The request's.
            token: What its first token holds.
            tokens: How often the whole answer has it.

        Raises:
            Wrong: The answer is another.
        """
        assert self._transport is not None
        self._parts, self._size, self._needed, self._token = [], 0, None, token
        self._timing = timing = Timing()
        self._done = asyncio.get_running_loop().create_future()
        self._began = perf_counter()
        self._transport.write(self._head % len(body) + body)
        await self._done
        answer = b"".join(self._parts)
        if not answer.startswith(b"HTTP/1.1 200 ") or answer.count(token) != tokens:
            raise Wrong(answer[:2000].decode("utf-8", "replace"))
        return timing

    def close(self) -> None:
        """Give it up."""
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Take a part of the answer."""
        now = perf_counter() - self._began
        timing = self._timing
        timing.reads.append(now)
        if not timing.first_token and self._token in data:
            timing.first_token = now
        self._parts.append(data)
        self._size += len(data)
        if self._needed is None:
            self._measure()
        if self._needed is not None and (self._size >= self._needed if self._needed else self._is_last(data)):
            timing.total = now
            if self._done is not None and not self._done.done():
                self._done.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        """An answer that is under way will not come any more."""
        if self._done is not None and not self._done.done():
            self._done.set_exception(Wrong(f"the connection was closed: {error}"))

    def _measure(self) -> None:
        """How long the answer will be; 0 for one in chunks, None while its head is not there."""
        if len(self._parts) > 1:
            self._parts = [b"".join(self._parts)]
        end = self._parts[0].find(_HEAD_END)
        if end >= 0:
            found = _LENGTH.search(self._parts[0], 0, end + 2)
            self._needed = end + len(_HEAD_END) + int(found[1]) if found else 0

    def _is_last(self, data: bytes) -> bool:
        if len(data) < len(_LAST_CHUNK):
            data = b"".join(self._parts[-len(_LAST_CHUNK) :])
        return data.endswith(_LAST_CHUNK)
