"""One response on its way to the Runtime API: prelude, chunks, and at the end a terminator or error trailers."""

import asyncio
import base64
import logging
from contextlib import suppress

from functions.gateway.streaming.failures import Failure
from functions.gateway.streaming.http1 import END_OF_CHUNKS, chunk, read_reply
from functions.gateway.streaming.invocation import Invocation
from functions.gateway.streaming.runtime_api import ERROR_BODY, ERROR_TYPE, RuntimeApi, note_reply

log = logging.getLogger(__name__)


class ResponseLost(ConnectionError):
    """Nobody takes this response any more: the Runtime API refused it, gave it up or closed the connection."""


class ResponseStream:
    """A streamed response on a connection of its own, which is closed after it.

    One write per chunk: size, data and line end leave together, or delayed acknowledgements would cost 40 ms each.
    """

    def __init__(self, api: RuntimeApi, invocation: Invocation) -> None:
        self._api = api
        self._invocation = invocation
        self._writer: asyncio.StreamWriter | None = None
        self._answer: asyncio.Task[None] | None = None
        self._ended = False
        self.over = asyncio.Event()
        """Set once nothing more can be sent: the response is acknowledged, or lost."""
        self.lost = False

    @property
    def started(self) -> bool:
        """Whether a byte may have left."""
        return self._writer is not None

    async def start(self, prelude: bytes, data: bytes, *, last: bool) -> None:
        """Send status and headers, and the first of the body with them.

        Args:
            prelude: Status and headers.
            data: The first of the body; none is allowed.
            last: Whether that is all of it. Then all leaves in one write, and the acknowledgement is waited for.

        Raises:
            ResponseLost: The connection could not be made, or broke.
        """
        try:
            (reader, self._writer), head = await self._api.open_response(self._invocation)
        except OSError as error:
            self._lose(f"no connection: {error}")
            raise ResponseLost("no connection to the Runtime API") from error
        self._answer = asyncio.create_task(self._listen(reader))
        first = b"".join((head, chunk(prelude), chunk(data) if data else b""))
        if last:
            await self._end(first + END_OF_CHUNKS)
        else:
            await self._put(first)

    async def write(self, data: bytes) -> None:
        """Send a part of the body and wait until there is room for more. No data is no chunk.

        Raises:
            ResponseLost: Nobody takes it any more.
        """
        if data:
            await self._put(chunk(data))
        elif self.lost:
            raise ResponseLost("the response is lost")

    async def finish(self, data: bytes) -> None:
        """Send the last of the body and wait for the acknowledgement. A loss this late is logged and not raised."""
        await self._end(chunk(data) + END_OF_CHUNKS if data else END_OF_CHUNKS)

    async def break_off(self, failure: Failure, last_words: bytes) -> None:
        """End the body with error trailers, which tell Lambda that it is not whole.

        Args:
            failure: For Lambda's own record.
            last_words: For the caller, in the body, before the trailers.
        """
        trailers = f"{ERROR_TYPE}: {failure.type}\r\n{ERROR_BODY}: ".encode() + base64.b64encode(failure.document())
        end = b"".join((chunk(last_words) if last_words else b"", b"0\r\n", trailers, b"\r\n\r\n"))
        await self._end(end)

    def abort(self) -> None:
        """Drop the connection, whatever state it is in."""
        if self._writer is not None:
            self._writer.transport.abort()
        if self._answer is not None:
            self._answer.cancel()
        self.over.set()

    async def _put(self, data: bytes) -> None:
        if self.lost or self._ended or self._writer is None:
            raise ResponseLost("the response is over")
        try:
            self._writer.write(data)
            await self._writer.drain()
        except OSError as error:
            self._lose(f"the connection broke: {error}")
        if self.lost:
            raise ResponseLost("the response is lost")

    async def _end(self, data: bytes) -> None:
        with suppress(ResponseLost):
            await self._put(data)
        self._ended = True
        if self._writer is not None and self._answer is not None:
            await self._answer
            self._writer.close()
            with suppress(OSError):
                await self._writer.wait_closed()
        self.over.set()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        """Read the answer; one that comes before the end, or none at all, means that the response is lost."""
        try:
            reply = await read_reply(reader)
        except OSError as error:
            self._lose(str(error))
            return
        note_reply("/response", reply)
        if not 200 <= reply.status < 300:
            self._lose(None)

    def _lose(self, reason: str | None) -> None:
        if self.lost:
            return
        self.lost = True
        if reason is not None:
            log.error("the connection of a response was lost", extra={"fields": {"reason": reason}})
        if self._writer is not None:
            # Wakes a write that waits for room which will never come.
            self._writer.transport.abort()
        self.over.set()
