"""Our own emulator of Lambda's Runtime API: streams through, checks the protocol, and fails on demand.

It answers as the real one does (AWS Lambda developer guide, "Runtime API"; statuses of the published emulator's
sources, read 2026-11-30). What the real one would refuse, and what it would silently swallow, is a violation here.
"""

import asyncio
import base64
import json
import time
from collections import deque
from contextlib import suppress
from typing import Any, Literal

from tests.support.runtime_call import Call, Chunk, Pulse
from tests.support.runtime_wire import (
    BadWire,
    Request,
    Trailers,
    answer,
    answer_in_chunks,
    parse_error,
    parse_prelude,
    read_body,
    read_chunks,
    read_request,
)

VERSION = "/2018-06-01/runtime"
HTTP_RESPONSE = "application/vnd.awslambda.http-integration-response"
TRAILERS = {"lambda-runtime-function-error-type", "lambda-runtime-function-error-body"}
NextFault = int | Literal["cut", "nonsense", "without an id"]
ACCEPTED = answer(202, b'{"status":"OK"}\n')


class RuntimeApiEmulator:
    """A Runtime API on a free port of 127.0.0.1.

    Args:
        max_concurrency: How many invocations may be out at a time.
        snap_start: Whether the environment becomes a snapshot first.
        chunked_events: Whether events come in chunks, as the published emulator sends large ones.
        drop_connections: Whether a connection is dropped after it was used for `/next`, and how.
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
        self._queue: asyncio.Queue[Call] = asyncio.Queue()
        self._calls: list[Call] = []
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
        self._unclosed = 0

    async def __aenter__(self) -> "RuntimeApiEmulator":
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()[:2]
        self.address = f"{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def invoke(
        self,
        event: object,
        *,
        deadline: float,
        request_id: str | None = None,
        invocation_id: str | None = "made up",
        trace_id: str | None = None,
    ) -> Call:
        """Queue an invocation for the next `/next`.

        Args:
            event: Anything JSON can hold; bytes go out as they are.
            deadline: Unix seconds.
            request_id: A retry may repeat one; made up when left out.
            invocation_id: What must be echoed; None for a Lambda that does not know it yet.
            trace_id: X-Ray's header.
        """
        number = len(self._calls) + 1
        data = event if isinstance(event, bytes) else json.dumps(event).encode()
        if invocation_id == "made up":
            invocation_id = f"invocation-{number}"
        call = Call(request_id or f"request-{number}", data, deadline, invocation_id, trace_id, self._pulse)
        self._calls.append(call)
        self._queue.put_nowait(call)
        return call

    async def waits_for_polls(self, count: int) -> None:
        """Until that many `/next` are open."""
        await self._pulse.until(lambda: self.polls >= count)

    def hangs_up(self) -> None:
        """Take no new connection from now on; those that are open stay."""
        assert self._server is not None
        self._server.close()

    async def closed(self) -> None:
        """Until the connection of every response has been closed, which is the runtime's duty."""
        await self._pulse.until(lambda: self._unclosed == 0)

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
        out = sum(call.began and call.outcome is None for call in self._calls)
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
        call = asyncio.ensure_future(self._queue.get())
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
        self.init_error = (request.headers["lambda-runtime-function-error-type"], document)
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
        call.error_type = request.headers["lambda-runtime-function-error-type"]
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
        if call is None:
            return
        declared = {name.strip().lower() for name in request.headers.get("trailer", "").split(",")}
        if request.headers.get("lambda-runtime-function-response-mode") != "streaming":
            raise BadWire("a chunked response that is not declared as streaming")
        if request.headers.get("content-type") != HTTP_RESPONSE:
            raise BadWire(f"a response of type {request.headers.get('content-type')}")
        if declared != TRAILERS:
            raise BadWire(f"the trailers {declared} are declared")
        receiving = asyncio.ensure_future(self._receive(call, reader, writer))
        giving_up = asyncio.ensure_future(call.gave_up.wait())
        try:
            await asyncio.wait({receiving, giving_up}, return_when=asyncio.FIRST_COMPLETED)
            if receiving.done():
                receiving.result()
            else:
                writer.write(_refusal(410))
        except EOFError:
            call.end("lost")
        finally:
            receiving.cancel()
            giving_up.cancel()

    async def _receive(self, call: Call, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        trailers, held = Trailers(), b""
        if call.refuse_with is not None and call.refuse_after == 0:
            return self._refuse(call, writer)
        async for data in read_chunks(reader, trailers):
            if call.prelude is None:
                held += data
                if (parsed := parse_prelude(held)) is None:
                    continue
                call.prelude, data = parsed
            if data:
                call.chunks.append(Chunk(data, time.monotonic()))
                self._pulse.beat()
            if call.cut_after is not None and len(call.chunks) >= call.cut_after:
                call.end("lost")
                writer.transport.abort()
                return None
            if call.refuse_with is not None and len(call.chunks) >= call.refuse_after:
                return self._refuse(call, writer)
            if call.stall_after is not None and len(call.chunks) >= call.stall_after:
                await asyncio.Event().wait()
        if call.prelude is None:
            raise BadWire("a response without a prelude")
        _check_trailers(trailers.fields)
        call.trailers = trailers.fields
        await call.acknowledge.wait()
        writer.write(ACCEPTED)
        self._unclosed += 1
        call.end("broken off" if call.trailers else "answered")
        if await reader.read(1):
            raise BadWire("the connection of a response was used again")
        self._unclosed -= 1
        return None

    def _refuse(self, call: Call, writer: asyncio.StreamWriter) -> None:
        assert call.refuse_with is not None
        writer.write(_refusal(call.refuse_with))
        call.end("refused")

    def _find(self, request_id: str, request: Request, writer: asyncio.StreamWriter) -> Call | None:
        """The invocation that is answered; None, and the answer, if it cannot be answered."""
        echoed = request.headers.get("lambda-runtime-invocation-id")
        same_id = [call for call in self._calls if call.request_id == request_id and call.began]
        if not same_id:
            self.violations.append(f"an answer for {request_id}, which is not out")
            writer.write(answer(400, b'{"errorMessage":"Invalid request ID","errorType":"InvalidRequestID"}'))
            return None
        call = same_id[-1]
        if echoed != call.invocation_id:
            if not any(echoed == earlier.invocation_id for earlier in same_id):
                self.violations.append(f"{request_id} echoed {echoed} as its invocation id")
            writer.write(_refusal(410))
            return None
        if call.outcome == "timed out":
            writer.write(_refusal(410))
            return None
        if call.outcome is not None:
            self.violations.append(f"{request_id} is answered twice")
            writer.write(answer(400, b'{"errorMessage":"Invalid request ID","errorType":"InvalidRequestID"}'))
            return None
        return call

    def _forbid(self, writer: asyncio.StreamWriter, what: str) -> bool:
        self.violations.append(what)
        writer.write(answer(403, b'{"errorMessage":"State transition","errorType":"InvalidStateTransition"}'))
        return True


def _refusal(status: int) -> bytes:
    return answer(status, b'{"errorMessage":"Invoke timeout","errorType":"InvokeTimeout"}')


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
    return parse_error(body, request.headers.get("lambda-runtime-function-error-type"))


def _check_trailers(fields: dict[str, str]) -> None:
    if not fields:
        return
    if set(fields) != TRAILERS:
        raise BadWire(f"trailers {set(fields)}")
    body = base64.b64decode(fields["lambda-runtime-function-error-body"], validate=True)
    document = parse_error(body, fields["lambda-runtime-function-error-type"])
    if document["errorType"] != fields["lambda-runtime-function-error-type"]:
        raise BadWire("the trailers disagree on the type of the error")
