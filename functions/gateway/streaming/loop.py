"""Keeps as many `/next` calls open as Lambda allows, and hands each invocation to one server."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from core.ports import Clock
from functions.gateway.streaming import logs
from functions.gateway.streaming.failures import failure_of
from functions.gateway.streaming.invocation import Invocation
from functions.gateway.streaming.runtime_api import Poller, RuntimeApi

log = logging.getLogger(__name__)

PAUSES_S = (0.1, 0.2, 0.4, 0.8)
"""Seconds between the tries of one `/next`. After the last the environment is of no more use."""

Serve = Callable[[Invocation], Awaitable[None]]


class RuntimeLoop:
    """The loop of one environment, on one event loop.

    Args:
        api: Where invocations come from.
        serve: Answers one.
        concurrency: How many at a time.
        clock: Waits between tries are on it.
        stop: Set from outside to end the loop once what runs has been answered.
    """

    def __init__(self, api: RuntimeApi, serve: Serve, concurrency: int, clock: Clock, stop: asyncio.Event) -> None:
        self._api = api
        self._serve = serve
        self._concurrency = concurrency
        self._clock = clock
        self._stop = stop
        self._lost: OSError | None = None

    async def run(self) -> None:
        """Serve until told to stop.

        Raises:
            OSError: The Runtime API cannot be reached any more, or refuses. What ran was answered first.
        """
        await asyncio.gather(*(self._work() for _ in range(self._concurrency)))
        if self._lost is not None:
            raise self._lost

    async def _work(self) -> None:
        poller = self._api.poller()
        try:
            while (invocation := await self._next(poller)) is not None:
                # A task of its own, so that what one invocation sets in its context does not reach the next.
                await asyncio.create_task(self._serve_safely(invocation))
        except OSError as error:
            self._lost = error
            self._stop.set()
        finally:
            poller.close()

    async def _serve_safely(self, invocation: Invocation) -> None:
        try:
            await self._serve(invocation)
        except Exception as error:
            logs.request_id.set(invocation.request_id)
            log.exception("the runtime loop failed on an invocation")
            await self._api.invocation_error(invocation, failure_of(error, "The runtime loop failed."))

    async def _next(self, poller: Poller) -> Invocation | None:
        """The next invocation; None once the loop is to stop."""
        pauses = iter(PAUSES_S)
        while True:
            try:
                return await self._ask(poller)
            except OSError as error:
                pause = next(pauses, None)
                if pause is None or self._stop.is_set():
                    raise
                log.warning("/next failed and is tried again", extra={"fields": {"reason": str(error)}})
                await self._clock.sleep_until(self._clock.monotonic() + pause)

    async def _ask(self, poller: Poller) -> Invocation | None:
        if self._stop.is_set():
            return None
        asking = asyncio.ensure_future(poller.next())
        stopping = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({asking, stopping}, return_when=asyncio.FIRST_COMPLETED)
            return asking.result() if asking.done() else None
        finally:
            stopping.cancel()
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
