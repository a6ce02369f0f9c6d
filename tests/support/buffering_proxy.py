"""A proxy as some stand in front of gateways: it passes an answer on once all of it is there."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass(slots=True)
class Proxy:
    """A running proxy; `begun` is set once the first token of an answer has come to it."""

    url: str = ""
    begun: asyncio.Event = field(default_factory=asyncio.Event)


@asynccontextmanager
async def buffering_proxy(url: str) -> AsyncIterator[Proxy]:
    """Stand in front of an address on a free port of 127.0.0.1."""
    proxy = Proxy()
    target = urlsplit(url)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        body = await reader.readexactly(int(length[1])) if length else b""
        back, forth = await asyncio.open_connection(target.hostname, target.port)
        forth.write(re.sub(rb"(?i)connection: keep-alive", b"connection: close", head) + body)
        answer = b""
        while data := await back.read(65_536):
            answer += data
            if b'"delta"' in answer:
                proxy.begun.set()
        writer.write(answer)
        await writer.drain()
        for each in (writer, forth):
            each.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    proxy.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield proxy
