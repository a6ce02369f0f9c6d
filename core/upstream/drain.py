"""Calls whose host bills to the end whether or not anybody reads: an abandoned one is read out, bounded, and metered.

Amazon Bedrock goes on generating, and bills, after its caller has left (wire reference and cases, read 2026-11-30).
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import TypeAlias

from core.catalog.model import Target
from core.chat import Usage
from core.errors import UpstreamFailure
from core.events import UsageReported
from core.ports import Clock
from core.providers.base import StreamDecoder
from core.upstream.client import UpstreamResponse
from core.waiting import Background, finish_by

LONGEST_S = 300.0
READS_AHEAD = 16

Metered: TypeAlias = Callable[[Target, Usage | None], None]
"""Told what an abandoned call used; None where that never came."""


class Tap:
    """Reads a response in a task of its own, so that reading can go on without the caller.

    Args:
        response: Whose body is read; closed by whoever made it, or once it was drained.
        background: Keeps the tasks.
        clock: For the bound on draining.
    """

    def __init__(self, response: UpstreamResponse, background: Background, clock: Clock) -> None:
        self._response = response
        self._background = background
        self._clock = clock
        self._queue: asyncio.Queue[bytes | UpstreamFailure | None] = asyncio.Queue(READS_AHEAD)
        self._reading = background.start(self._read())

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes.

        Raises:
            UpstreamFailure: The connection broke.
        """
        while (item := await self._queue.get()) is not None:
            if isinstance(item, UpstreamFailure):
                raise item
            yield item

    def stop(self) -> None:
        """Stop reading: the body is complete, or of no use."""
        self._reading.cancel()

    def abandon(self, target: Target, decoder: StreamDecoder, metered: Metered) -> None:
        """Go on in the background: read to the end, then tell what was used."""
        self._background.start(self._drain(target, decoder, metered))

    async def _read(self) -> None:
        try:
            async for data in self._response.chunks():
                await self._queue.put(data)
        except UpstreamFailure as failure:
            await self._queue.put(failure)
            return
        await self._queue.put(None)

    async def _drain(self, target: Target, decoder: StreamDecoder, metered: Metered) -> None:
        usage: Usage | None = None

        async def read_out() -> None:
            nonlocal usage
            async for data in self.chunks():
                for event in decoder.feed(data):
                    if isinstance(event, UsageReported):
                        usage = event.usage
                if decoder.done:
                    return

        try:
            await finish_by(self._clock, self._clock.monotonic() + LONGEST_S, read_out())
        except (TimeoutError, UpstreamFailure):
            pass  # what was used until then is what can be told
        finally:
            self.stop()
            await self._response.close()
        metered(target, usage)
