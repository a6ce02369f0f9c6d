"""One request through an ASGI app: what it receives, and its messages as a response stream."""

import asyncio
import logging
from enum import Enum, auto

from mangum.types import Message

from core.errors import GatewayError
from core.surfaces.headers import answer_headers
from functions.gateway.streaming import last_words
from functions.gateway.streaming.events import HttpRequest
from functions.gateway.streaming.failures import Failure
from functions.gateway.streaming.prelude import PreludeRefused, prelude
from functions.gateway.streaming.response_stream import ResponseLost, ResponseStream

log = logging.getLogger(__name__)

# Enough to see how an event stream ends.
_TAIL = 24


class _State(Enum):
    WAITING = auto()  # nothing from the app yet
    HELD = auto()  # its head, which leaves with the first of the body: until then /error is still possible
    STREAMING = auto()
    COMPLETE = auto()  # its last byte was handed over


class Cycle:
    """The `receive` and `send` of one request.

    Args:
        request: What the app is asked.
        stream: Where its answer goes, not yet started.
        request_id: Names the request to the caller until the app's own headers do.
        header_prefix: What the names of our own headers begin with.
    """

    def __init__(self, request: HttpRequest, stream: ResponseStream, request_id: str, header_prefix: str) -> None:
        self._request = request
        self._stream = stream
        self._request_id = request_id
        self._header_prefix = header_prefix
        self._body: bytes | None = request.body
        self._without_body = request.scope["method"] == "HEAD"
        self._state = _State.WAITING
        self._prelude = b""
        self._event_stream = False
        self._tail = b""
        # An app may send from two tasks: its answer, and what keeps the connection alive in between.
        self._sending = asyncio.Lock()

    @property
    def complete(self) -> bool:
        """Whether the whole answer was handed over."""
        return self._state is _State.COMPLETE and self.started

    @property
    def started(self) -> bool:
        """Whether a byte may have left."""
        return self._stream.started

    async def receive(self) -> Message:
        """The request first; then nothing until the response is over, since Lambda never says that a caller left."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._stream.over.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Take the app's next message.

        Raises:
            ResponseLost: Nobody takes the response any more; an `OSError`, as ASGI 2.4 has it.
            RuntimeError: The message is not one that may come now.
        """
        async with self._sending:
            kind = message["type"]
            if kind == "http.response.start" and self._state is _State.WAITING:
                await self._hold(message)
            elif kind == "http.response.body" and self._state in (_State.HELD, _State.STREAMING):
                await self._pass_on(bytes(message.get("body", b"")), last=not message.get("more_body", False))
            else:
                raise RuntimeError(f"the app sent {kind!r} while its response was {self._state.name.lower()}")

    async def answer(self, error: GatewayError) -> None:
        """Answer in the app's place; nothing of its own has left."""
        async with self._sending:
            await self._answer(error)

    async def break_off(self, failure: Failure, error: GatewayError) -> None:
        """End an answer that has begun, so that Lambda and the caller both see that it is not whole."""
        async with self._sending:
            words = last_words.frames(error, self._request_id, self._tail) if self._event_stream else b""
            await self._stream.break_off(failure, words)

    async def _hold(self, message: Message) -> None:
        headers = [(bytes(name).lower(), bytes(value)) for name, value in message.get("headers", ())]
        first = {name: value.decode("latin-1") for name, value in reversed(headers)}
        self._request_id = first.get(b"x-request-id", self._request_id)
        self._event_stream = (
            first.get(b"content-type", "").partition(";")[0].strip() == "text/event-stream"
            and b"content-encoding" not in first
        )
        try:
            self._prelude = prelude(message["status"], headers, self._request.payload)
        except PreludeRefused as refused:
            log.error("the app's response cannot be sent", extra={"fields": {"reason": str(refused)}})
            await self._answer(last_words.internal())
            raise ResponseLost("the response was refused") from refused
        self._state = _State.HELD

    async def _pass_on(self, data: bytes, last: bool) -> None:
        if self._without_body:
            data = b""
        self._tail = data[-_TAIL:] if len(data) >= _TAIL else (self._tail + data)[-_TAIL:]
        held = self._state is _State.HELD
        self._state = _State.COMPLETE if last else _State.STREAMING
        if held:
            await self._stream.start(self._prelude, data, last=last)
        elif last:
            await self._stream.finish(data)
        else:
            await self._stream.write(data)

    async def _answer(self, error: GatewayError) -> None:
        self._state = _State.COMPLETE
        body = b"" if self._without_body else last_words.envelope(error, self._request_id)
        own = answer_headers(self._header_prefix, self._request_id)
        told = {**own, "content-type": "application/json", "x-should-retry": "false"}
        headers = [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in told.items()]
        await self._stream.start(prelude(error.status, headers, self._request.payload), body, last=True)
