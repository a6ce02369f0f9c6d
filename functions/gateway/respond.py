"""Delivers an exchange over ASGI: head, frames, heartbeats between them, and an eye on callers who leave."""

import asyncio
import math
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from core.errors import GatewayError, InternalError
from core.exchange import Exchange
from core.framing.sse import comment
from core.idempotency import IdempotentExchange
from core.ports import Clock, Journal
from core.presentation import Head
from core.surfaces.errors import error_answer
from core.surfaces.headers import answer_headers
from core.surfaces.json_text import to_json

HEARTBEAT_S = 15.0
COMMENT = comment("processing")
WHITE_SPACE = b" "
JSON = {"content-type": "application/json"}
EVENT_STREAM = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}


class BrokenOff(Exception):
    """A whole answer failed after its head was out: the connection must break, or it would pass for a success."""


@dataclass(frozen=True, slots=True)
class DeliveryOptions:
    """How exchanges are delivered.

    `header_prefix` is what our own headers begin with. `early_commit_s` is when the head of a whole answer goes out
    though the answer is not there yet, in seconds (None: never): some fronts cut connections that are long silent.
    """

    header_prefix: str
    early_commit_s: float | None = None


class ExchangeResponse(Response):
    """The response of one exchange.

    Args:
        exchange: Not yet started.
        clock: For heartbeats.
        journal: For faults.
        options: How it is delivered.
    """

    def __init__(
        self, exchange: Exchange | IdempotentExchange, clock: Clock, journal: Journal, options: DeliveryOptions
    ) -> None:
        super().__init__()
        self._exchange = exchange
        self._clock = clock
        self._journal = journal
        self._options = options

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve until the last byte is out or the caller has gone."""
        delivery = _Delivery(self._exchange, self._clock, self._journal, self._options, send)
        caller = _Caller(receive)
        try:
            await caller.stays_for(delivery.run())
        finally:
            # Not part of what a caller who leaves cancels: it is what must happen then.
            await self._exchange.leave()
            scope["state"]["error"] = delivery.failure


class _Caller:
    """Who waits for an answer, and may leave."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._serving: asyncio.Task[Any] | None = None
        self._has_left = False

    async def stays_for(self, work: Coroutine[Any, Any, None]) -> None:
        """Do the work; it is cancelled once the caller has left."""
        self._serving = serving = asyncio.current_task()
        if serving is None:
            raise AssertionError("answers are given by tasks")
        before = serving.cancelling()
        leaving = asyncio.ensure_future(self._gone())
        leaving.add_done_callback(self._left)
        try:
            await work
        except asyncio.CancelledError:
            if not self._has_left or serving.cancelling() > before + 1:
                raise
        finally:
            self._serving = None
            leaving.cancel()
            if self._has_left:
                serving.uncancel()

    async def _gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    def _left(self, leaving: "asyncio.Task[None]") -> None:
        if not leaving.cancelled() and self._serving is not None:
            leaving.exception()  # a connection that fails is as good as left
            self._has_left = True
            self._serving.cancel()


class _Delivery:
    def __init__(
        self,
        exchange: Exchange | IdempotentExchange,
        clock: Clock,
        journal: Journal,
        options: DeliveryOptions,
        send: Send,
    ) -> None:
        self._exchange = exchange
        self._clock = clock
        self._journal = journal
        self._prefix = options.header_prefix
        self._send = send
        self.failure: GatewayError | None = None
        self._started = False
        self._sent_at = clock.monotonic()
        self._early_at = math.inf if options.early_commit_s is None else self._sent_at + options.early_commit_s
        self._beating: asyncio.Task[None] | None = None

    async def run(self) -> None:
        beating = self._clock.call_at(self._due(), self._begin_to_beat)
        try:
            await self._deliver()
        finally:
            beating.cancel()
            if self._beating is not None:
                self._beating.cancel()

    async def _deliver(self) -> None:
        try:
            head = await self._exchange.start()
            if head.body is not None:
                await self._whole(head)
                return
            await self._open(head.headers)
            async for frames in self._exchange.frames():
                await self._write(frames)
        except GatewayError as error:
            await self._fail(error)
            return
        except Exception as fault:
            self._journal.fault(self._exchange.request_id, fault)
            failure = InternalError("The gateway failed. The fault was logged under the request id.")
            failure.headers = self._exchange.failure_headers
            await self._fail(failure)
            return
        await self._end()

    def _due(self) -> float:
        return min(self._sent_at + HEARTBEAT_S, math.inf if self._started else self._early_at)

    def _begin_to_beat(self) -> None:
        # Most answers are over before the first beat is due: they need no task for it.
        self._beating = asyncio.ensure_future(self._beat())

    async def _beat(self) -> None:
        """Something whenever nothing was sent for a while: comments in a stream, white space before a late answer."""
        while True:
            due = self._due()
            now = self._clock.monotonic()
            if now < due:
                await self._clock.sleep_until(due)
            elif self._exchange.is_stream:
                await self._open(self._early_headers())
                await self._write(COMMENT)
            elif now >= self._early_at:
                await self._open(self._early_headers(), JSON)
                await self._write(WHITE_SPACE)
            else:
                self._sent_at = now

    def _early_headers(self) -> Mapping[str, str]:
        """The headers of an answer that begins before it is known who gives it."""
        return {**answer_headers(self._prefix, self._exchange.request_id), **self._exchange.limit_headers}

    async def _open(self, headers: Mapping[str, str], kind: Mapping[str, str] = EVENT_STREAM) -> None:
        if not self._started:
            self._started = True
            await self._start(200, {**headers, **kind})

    async def _whole(self, head: Head) -> None:
        body = head.body or b""
        if self._started:
            await self._write(body)
            await self._end()
            return
        await self._start(head.status, {**head.headers, **JSON, "content-length": str(len(body))})
        await self._send({"type": "http.response.body", "body": body})

    async def _fail(self, error: GatewayError) -> None:
        self.failure = error
        if self._started and not self._exchange.is_stream:
            raise BrokenOff(error.code) from error
        if self._started:
            await self._write(self._exchange.error_frame(error))
            await self._end()
            return
        status, headers, envelope = error_answer(error, self._exchange.request_id, self._prefix)
        await self._whole(Head(status, headers, to_json(envelope)))

    async def _start(self, status: int, headers: Mapping[str, str]) -> None:
        pairs = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": pairs})

    async def _write(self, data: bytes) -> None:
        message: dict[str, Any] = {"type": "http.response.body", "body": data, "more_body": True}
        self._sent_at = self._clock.monotonic()
        await self._send(message)

    async def _end(self) -> None:
        await self._send({"type": "http.response.body", "body": b""})
