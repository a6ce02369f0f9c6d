"""Our own emulator of Lambda's Runtime API: streams through, checks the protocol, and fails on demand.

It answers as the real one does (AWS Lambda developer guide, "Runtime API"; statuses of the published emulator's
sources, read 2026-11-30). What the real one would refuse, and what it would silently swallow, is a violation here.
"""

import asyncio
from collections import deque
from contextlib import suppress
from typing import Any, Literal

from functions.local.emulator.call import Call, Pulse
from functions.local.emulator.contract import ERROR_TYPE, parse_error
from functions.local.emulator.invocations import Invocations, Unanswerable
from functions.local.emulator.receiving import ACCEPTED, receive
from functions.local.emulator.wire import BadWire, Request, answer, answer_in_chunks, read_body, read_request

VERSION = "/2018-06-01/runtime"
NextFault = int | Literal["cut", "nonsense", "without an id"]


class RuntimeApiEmulator:
    """A Runtime API on a free port of 127.0.0.1.

    Args:
        max_concurrency: How many invocations may be out at a time.
        snap_start: Whether the environment becomes a snapshot first.
        chunked_events: Whether events come in chunks, as the published emulator sends large ones.
        drop_connections: Whether a connection is dropped after it was used for `/next`, and how.

    `violations` is what the runtime did wrong, `address` what it is given as `AWS_LAMBDA_RUNTIME_API`. With
    `snap_start`, `at_restore` says that the snapshot may be taken, and all goes on once `restore` is set.
    """

    def __init__(
        self,
        *,
        max_concurrency: int = 1,
        snap_start: bool = False,
        chunked_events: bool = False,
        drop_connections: Literal["silently", "announced"] | None = None,
    ) -> None:
        self._max_concurrency = max_concurrency
        self._snap_start = snap_start
        self._chunked_events = chunked_events
        self._drop_connections = drop_connections
        self._pulse = Pulse()
        self.invocations = Invocations(self._pulse)
        self.invoke = self.invocations.invoke
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.address = ""
        self.violations: list[str] = []
        self.polls = 0
        self.polls_seen = 0
        self.next_faults: deque[NextFault] = deque()
        self.restore_fault: int | None = None
        self.at_restore = asyncio.Event()
        self.restore = asyncio.Event()
        self.restored = False
        self.init_error: tuple[str, dict[str, Any]] | None = None
        self.restore_error: dict[str, Any] | None = None
        self.connections = 0

    async def __aenter__(self) -> "RuntimeApiEmulator":
        """Listen."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()[:2]
        self.address = f"{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        """Hang up on everybody."""
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def waits_for_polls(self, number: int) -> None:
        """Until that many `/next` are open."""
        await self._pulse.until(lambda: self.polls >= number)

    def hangs_up(self) -> None:
        """Take no new connection from now on; those that are open stay."""
        assert self._server is not None
        self._server.close()

    async def closed(self) -> None:
        """Until the connection of every response has been closed, which is the runtime's duty."""
        await self.invocations.closed()

    async def started(self) -> None:
        """Until the runtime has asked for an invocation, or said that it cannot start."""
        await self._pulse.until(lambda: self.polls_seen > 0 or self.init_error is not None)

    async def polled(self, times: int) -> None:
        """Until `/next` has been asked that many times."""
        await self._pulse.until(lambda: self.polls_seen >= times)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await read_request(reader)) is not None:
                if not await self._route(request, reader, writer):
                    return
        except BadWire as bad:
            self.violations.append(str(bad))
            writer.write(answer(400, b'{"errorMessage":"Bad request","errorType":"InvalidRequest"}'))
        except (ConnectionError, EOFError):
            pass
        except Exception as error:
            self.violations.append(f"the emulator could not cope: {error!r}")
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            self._pulse.beat()

    async def _route(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection may go on."""
        match (request.method, request.path.removeprefix(VERSION).split("/")[1:]):
            case ("GET", ["invocation", "next"]):
                return await self._next(reader, writer)
            case ("GET", ["restore", "next"]):
                return await self._restore_next(writer)
            case ("POST", ["init", "error"]):
                return await self._init_error(request, reader, writer)
            case ("POST", ["restore", "error"]):
                return await self._restore_error(request, reader, writer)
            case ("POST", ["invocation", request_id, "error"]):
                return await self._error(request_id, request, reader, writer)
            case ("POST", ["invocation", request_id, "response"]) if request.chunked:
                await self._stream(request_id, request, reader, writer)
                return False
            case ("POST", ["invocation", request_id, "response"]):
                return await self._whole(request_id, request, reader, writer)
            case _:
                raise BadWire(f"no such endpoint: {request.method} {request.path}")

    async def _next(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        self.polls_seen += 1
        self._pulse.beat()
        if self.next_faults:
            fault = self.next_faults.popleft()
            if fault == "nonsense":
                writer.write(b"no HTTP at all\r\n\r\n")
            elif fault == "without an id":
                writer.write(answer(200, b"{}"))
            elif fault != "cut":
                writer.write(answer(fault, b'{"errorMessage":"Injected","errorType":"Injected"}'))
                return True
            return False
        out = self.invocations.out
        if self.polls + out >= self._max_concurrency:
            return self._forbid(writer, f"/next with {self.polls} open and {out} invocations out")
        if self._snap_start and not self.restored:
            return self._forbid(writer, "/next before the restore")
        self.polls += 1
        self._pulse.beat()
        call = await self._hand_out(reader)
        self.polls -= 1
        if call is None:
            return False
        call.began = True
        headers = _event_headers(call)
        if self._drop_connections == "announced":
            headers["Connection"] = "close"
        whole = answer_in_chunks(call.event, headers) if self._chunked_events else answer(200, call.event, headers)
        writer.write(whole)
        await writer.drain()
        return self._drop_connections is None

    async def _hand_out(self, reader: asyncio.StreamReader) -> Call | None:
        """The next invocation; None if the runtime hangs up while it waits."""
        call = asyncio.ensure_future(self.invocations.queue.get())
        hung_up = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({call, hung_up}, return_when=asyncio.FIRST_COMPLETED)
            if hung_up.done() and hung_up.result():
                raise BadWire("a request was sent while /next was open on the connection")
            return call.result() if call.done() else None
        finally:
            call.cancel()
            hung_up.cancel()
            await asyncio.gather(call, hung_up, return_exceptions=True)

    async def _restore_next(self, writer: asyncio.StreamWriter) -> bool:
        if not self._snap_start or self.restored or self.polls_seen:
            return self._forbid(writer, "/restore/next in the wrong state")
        self.at_restore.set()
        if self.restore_fault is not None:
            writer.write(answer(self.restore_fault, b"{}"))
            return True
        await self.restore.wait()
        self.restored = True
        writer.write(answer(200, b""))
        return True

    async def _init_error(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        document = await _error_document(request, reader)
        if self.polls_seen or self.restored or self.init_error:
            return self._forbid(writer, "/init/error after the start")
        self.init_error = (request.headers[ERROR_TYPE], document)
        self._pulse.beat()
        writer.write(ACCEPTED)
        return True

    async def _restore_error(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        document = await _error_document(request, reader)
        if not self.restored or self.polls_seen:
            return self._forbid(writer, "/restore/error in the wrong state")
        self.restore_error = document
        writer.write(ACCEPTED)
        return True

    async def _error(
        self, request_id: str, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        document = await _error_document(request, reader)
        call = self._find(request_id, request, writer)
        if call is None:
            return True
        call.error = document
        call.error_type = request.headers[ERROR_TYPE]
        writer.write(ACCEPTED)
        call.end("failed")
        return True

    async def _whole(
        self, request_id: str, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        body = await read_body(reader, request)
        call = self._find(request_id, request, writer)
        if call is None:
            return True
        call.buffered = body
        writer.write(ACCEPTED)
        call.end("answered")
        return True

    async def _stream(
        self, request_id: str, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        call = self._find(request_id, request, writer)
        if call is not None:
            await receive(call, request, reader, writer)

    def _find(self, request_id: str, request: Request, writer: asyncio.StreamWriter) -> Call | None:
        """The invocation that is answered; None if it cannot be, which was told then."""
        try:
            return self.invocations.find(request_id, request.headers.get("lambda-runtime-invocation-id"))
        except Unanswerable as refused:
            if refused.violation is not None:
                self.violations.append(refused.violation)
            writer.write(refused.reply)
            return None

    def _forbid(self, writer: asyncio.StreamWriter, what: str) -> bool:
        self.violations.append(what)
        writer.write(answer(403, b'{"errorMessage":"State transition","errorType":"InvalidStateTransition"}'))
        return True


def _event_headers(call: Call) -> dict[str, str]:
    headers = {
        "Lambda-Runtime-Aws-Request-Id": call.request_id,
        "Lambda-Runtime-Deadline-Ms": str(round(call.deadline * 1000)),
        "Lambda-Runtime-Invoked-Function-Arn": "arn:aws:lambda:eu-central-1:123456789012:function:gateway",
    }
    if call.invocation_id is not None:
        headers["Lambda-Runtime-Invocation-Id"] = call.invocation_id
    if call.trace_id is not None:
        headers["Lambda-Runtime-Trace-Id"] = call.trace_id
    return headers


async def _error_document(request: Request, reader: asyncio.StreamReader) -> dict[str, Any]:
    body = await read_body(reader, request)
    return parse_error(body, request.headers.get(ERROR_TYPE))
