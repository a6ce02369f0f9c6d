"""Stands between a client and a server, and loses answers: the server did what it was asked, and nobody hears it."""

import asyncio
from types import TracebackType


class CuttingProxy:
    """A TCP proxy on 127.0.0.1; while `cut_next` is above zero, a connection is closed in place of the answer."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.cut_next = 0
        self.endpoint = ""

    async def __aenter__(self) -> "CuttingProxy":
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.endpoint = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._port)
        asking = asyncio.ensure_future(self._pass_on(reader, server_writer))
        try:
            while data := await server_reader.read(65_536):
                if self.cut_next > 0:
                    self.cut_next -= 1
                    return
                writer.write(data)
                await writer.drain()
        finally:
            asking.cancel()
            for one in (writer, server_writer):
                one.close()
            await asyncio.gather(asking, writer.wait_closed(), server_writer.wait_closed(), return_exceptions=True)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
