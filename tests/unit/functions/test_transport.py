"""The transport of servers: it bounds no calls, and keeps nothing of one call for the next."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx

from functions.local.transport import ServerTransport

AT_ONCE = 150
ANSWER = b"HTTP/1.1 200 OK\r\nset-cookie: who=first\r\ncontent-length: 2\r\n\r\nok"


class Crowd:
    """Answers nobody before so many have asked."""

    def __init__(self, size: int) -> None:
        self.heads: list[bytes] = []
        self._size = size
        self._complete = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                self.heads.append(await reader.readuntil(b"\r\n\r\n"))
                if len(self.heads) >= self._size:
                    self._complete.set()
                await self._complete.wait()
                writer.write(ANSWER)
        except (EOFError, ConnectionError):
            writer.close()


@asynccontextmanager
async def served(crowd: Crowd) -> AsyncIterator[Callable[[], Awaitable[bytes]]]:
    """A call to the crowd's server, over one transport."""
    server = await asyncio.start_server(crowd.serve, "127.0.0.1", 0, backlog=AT_ONCE)
    host, port = server.sockets[0].getsockname()
    async with ServerTransport() as transport:

        async def call() -> bytes:
            answer = await transport.handle_async_request(httpx.Request("GET", f"http://{host}:{port}/"))
            return await answer.aread()

        yield call
    server.close()
    await server.wait_closed()


async def test_any_number_of_calls_can_be_under_way() -> None:
    async with served(Crowd(AT_ONCE)) as call:
        assert await asyncio.gather(*(call() for _ in range(AT_ONCE))) == [b"ok"] * AT_ONCE


async def test_cookies_of_a_host_are_not_sent_back() -> None:
    crowd = Crowd(1)
    async with served(crowd) as call:
        assert [await call(), await call()] == [b"ok", b"ok"]
    assert not any(b"cookie" in head.lower() for head in crowd.heads)
