"""An HTTP/1.1 server on a free loopback port whose answers are scripts; it never improvises.

It records what it was asked, refuses what an OpenAI-format server refuses, and gives tests exact
control over time: scripts halt at named barriers, nothing sleeps.

    async with ScriptedUpstream([Head(), Send(b"a"), Wait("half"), Send(b"b")]) as upstream:
        ...                                       # a client of upstream.url reads b"a"
        await upstream.barrier("half").reached.wait()
        upstream.barrier("half").released.set()   # and now b"b"

`with` instead of `async with` runs it in a thread of its own, for blocking clients.
"""

import asyncio
import socket
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from types import TracebackType
from typing import Self

from tests.support.openai_checks import refusal
from tests.support.script import (
    PATIENCE_S,
    Barrier,
    Close,
    Head,
    Never,
    Raw,
    Received,
    Reset,
    Script,
    Send,
    Signal,
    Step,
    Trickle,
    Wait,
    reply,
)
from tests.support.upstream_wire import encode_head, end, framed, read_request


@contextmanager
def refusing() -> Iterator[str]:
    """An address where every connection is refused for as long as the context lasts."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


class _Connection(asyncio.StreamReaderProtocol):
    """Notices that the peer has left without reading from it."""

    gone: Signal

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.gone = Signal()
        super().connection_made(transport)

    def eof_received(self) -> bool | None:
        self.gone.set()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        super().connection_lost(exc)


class ScriptedUpstream:
    """The server.

    Args:
        scripts: One per request, in the order of their arrival; the last one repeats.
        api_key: When given, `Authorization: Bearer` must carry it.
        checks: Whether requests to `/chat/completions` are checked as OpenAI checks them.
    """

    def __init__(self, *scripts: Script, api_key: str | None = None, checks: bool = True) -> None:
        if not scripts:
            raise ValueError("an upstream needs a script")
        self._scripts = scripts
        self._api_key = api_key
        self._checks = checks
        self._barriers: defaultdict[str, Barrier] = defaultdict(Barrier)
        self._arrivals: defaultdict[int, Signal] = defaultdict(Signal)
        self._tasks: set[asyncio.Task[None]] = set()
        self._transports: list[asyncio.WriteTransport] = []
        self.received: list[Received] = []
        self.refused: list[str] = []
        self.connections = 0
        self.port = 0
        self.url = ""

    def barrier(self, name: str) -> Barrier:
        """The barrier of that name, the same for all requests."""
        return self._barriers[name]

    def arrival(self, number: int = 0) -> Signal:
        """Set when the request of that number, from 0, has been received."""
        return self._arrivals[number]

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: _Connection(asyncio.StreamReader(), self._serve), "127.0.0.1", 0
        )
        self.port = int(self._server.sockets[0].getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        ends = await asyncio.gather(*self._tasks, return_exceptions=True)
        for transport in self._transports:
            transport.abort()  # also those that still hold bytes for a peer who does not read
        await self._server.wait_closed()
        faults = [end for end in ends if isinstance(end, Exception)]
        if faults and error is None:
            raise faults[0]

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever)
        self._thread.start()
        return asyncio.run_coroutine_threadsafe(self.__aenter__(), self._loop).result(PATIENCE_S)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        leave = self.__aexit__(kind, error, trace)
        try:
            asyncio.run_coroutine_threadsafe(leave, self._loop).result(PATIENCE_S)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        connection = writer.transport.get_protocol()
        assert task is not None
        assert isinstance(connection, _Connection)
        self._tasks.add(task)
        self._transports.append(writer.transport)
        self.connections += 1
        try:
            reusable = True
            while reusable and (request := await read_request(reader, connection.gone)):
                self.received.append(request)
                self._arrivals[len(self.received) - 1].set()
                reusable = await self._answer(request, writer)
        except asyncio.CancelledError:
            pass  # the server leaves; asyncio 3.11 would log a cancelled handler as a fault
        finally:
            writer.close()

    def _script(self, request: Received) -> Sequence[Step]:
        if self._checks and (refused := refusal(request, self._api_key)):
            status, message = refused
            self.refused.append(message)
            error = {"message": message, "type": "invalid_request_error", "param": None}
            return reply({"error": error | {"code": None}}, status)
        number = len(self.received) - len(self.refused) - 1
        script = self._scripts[min(number, len(self._scripts) - 1)]
        return script(request) if callable(script) else script

    async def _answer(self, request: Received, writer: asyncio.StreamWriter) -> bool:
        """Plays the script until its end or until the peer leaves; whether to read on."""
        play = asyncio.create_task(self._play(self._script(request), writer))
        left = asyncio.create_task(request.disconnected.wait(None))
        try:
            await asyncio.wait({play, left}, return_when=asyncio.FIRST_COMPLETED)
            reusable = play.done() and play.result()
        except ConnectionError:
            return False
        else:
            if play.done():
                request.answered.set()
            return reusable
        finally:
            play.cancel()
            left.cancel()
            await asyncio.gather(play, left, return_exceptions=True)

    async def _play(self, script: Sequence[Step], writer: asyncio.StreamWriter) -> bool:
        head = Head()
        for step in script:
            match step:
                case Head():
                    head = step
                    writer.write(encode_head(head, script))
                case Send(data):
                    writer.write(framed(data, head))
                case Trickle(data):
                    for byte in data:
                        writer.write(framed(bytes([byte]), head))
                        await asyncio.sleep(0)  # lets a client on the same loop read this byte
                case Raw(data):
                    writer.write(data)
                case Wait() | Never():
                    await self._halt(step)
                case Close() | Reset():
                    end(writer, reset=isinstance(step, Reset))
                    return False
            await writer.drain()
        if head.framing == "chunked":
            writer.write(b"0\r\n\r\n")
        return head.framing != "close"

    async def _halt(self, step: Wait | Never) -> None:
        match step:
            case Wait(str(name)):
                self.barrier(name).reached.set()
                await self.barrier(name).released.wait(None)
            case Wait(asyncio.Event() as event):
                await event.wait()
            case _:
                await asyncio.Event().wait()
