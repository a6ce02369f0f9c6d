"""Delivers an exchange over ASGI: head, frames, heartbeats between them, and an eye on callers who leave."""

import asyncio
import math
from collections.abc import Mapping
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
        serving = asyncio.ensure_future(delivery.run())
        leaving = asyncio.ensure_future(_gone(receive))
        try:
            await asyncio.wait({serving, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            serving.cancel()
            await asyncio.gather(serving, leaving, return_exceptions=True)
            # Not part of what a caller who leaves cancels: it is what must happen then.
            await self._exchange.leave()
        if not serving.cancelled() and (fault := serving.exception()) is not None:
            raise fault


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


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
        self._started = False
        self._sent_at = clock.monotonic()
        self._early_at = math.inf if options.early_commit_s is None else self._sent_at + options.early_commit_s

    async def run(self) -> None:
        beating = asyncio.ensure_future(self._beat())
        try:
            await self._deliver()
        finally:
            beating.cancel()

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
            await self._fail(InternalError("The gateway failed. The fault was logged under the request id."))
            return
        await self._end()

    async def _beat(self) -> None:
        """Something whenever nothing was sent for a while: comments in a stream, white space before a late answer."""
        while True:
            due = self._sent_at + HEARTBEAT_S
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
