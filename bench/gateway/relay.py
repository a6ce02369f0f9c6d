"""The least that can stand between a caller and an upstream: bytes are passed on as they come, unread."""

import asyncio
from typing import cast

import uvloop

from bench.gateway.child import listener, options


class _End(asyncio.Protocol):
    def __init__(self, other: "_End | None" = None) -> None:
        self.transport: asyncio.Transport | None = None
        self._other = other
        self._held: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        if self._other is None:
            self._other = other = _End(self)
            opening = asyncio.get_running_loop().create_connection(lambda: other, "127.0.0.1", options()["upstream"])
            self._opening = asyncio.ensure_future(opening)
        for data in self._held:
            self.transport.write(data)

    def data_received(self, data: bytes) -> None:
        assert self._other is not None
        self._other.pass_on(data)

    def pass_on(self, data: bytes) -> None:
        if self.transport is None:
            self._held.append(data)
        else:
            self.transport.write(data)

    def connection_lost(self, error: Exception | None) -> None:
        if self._other is not None and self._other.transport is not None:
            self._other.transport.close()


async def main() -> None:
    """Serve until the process is ended."""
    server = await asyncio.get_running_loop().create_server(_End, sock=listener())
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
