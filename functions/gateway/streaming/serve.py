"""One invocation from its event to the last thing done for it; it ends in a report to Lambda whatever the app does."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from core.errors import GatewayError
from core.ports import Clock
from core.waiting import finish_by
from functions.gateway.identity import REQUEST_ID, new_request_id
from functions.gateway.streaming import last_words, logs
from functions.gateway.streaming.contract import Gateway
from functions.gateway.streaming.cycle import Cycle
from functions.gateway.streaming.environment import RuntimeEnvironment
from functions.gateway.streaming.events import HttpRequest, UnsupportedEvent, http_request
from functions.gateway.streaming.failures import Failure, failure_of
from functions.gateway.streaming.invocation import Invocation, context_of
from functions.gateway.streaming.response_stream import ResponseLost, ResponseStream
from functions.gateway.streaming.runtime_api import RuntimeApi

log = logging.getLogger(__name__)

# Seconds before the deadline. The app itself stops upstream work 5 s before it; the first is for an app that did not.
CANCEL_S = 2.0
UNWOUND_S = 1.0
REPORTED_S = 0.5
ASLEEP_S = 0.25

# What is done after the response keeps the environment from its next request, and is paid for.
AFTER_RESPONSE_S = 5.0

_UNSUPPORTED = "Runtime.UnsupportedEvent"
_DEADLINE = Failure("Runtime.DeadlineExceeded", "The application was stopped shortly before the function's timeout.")
_INCOMPLETE = Failure("Runtime.ResponseIncomplete", "The application returned before its response was complete.")


class Server:
    """Serves invocations with one gateway; several at a time if it is asked to.

    Args:
        gateway: Connected.
        state: What its lifespan left for its requests.
        api: Where responses go.
        environment: What events are given as their context.
        clock: Deadlines are on it.
        remember_trace: Told each invocation's X-Ray header, for libraries that read it from the process environment.
    """

    def __init__(
        self,
        gateway: Gateway,
        state: dict[str, Any],
        api: RuntimeApi,
        environment: RuntimeEnvironment,
        clock: Clock,
        remember_trace: Callable[[str | None], None],
    ) -> None:
        self._gateway = gateway
        self._state = state
        self._api = api
        self._environment = environment
        self._clock = clock
        self._remember_trace = remember_trace
        # Apps that went on after they were cancelled: kept, so that they are not collected in mid-air.
        self._stray: set[asyncio.Task[None]] = set()

    async def serve(self, invocation: Invocation) -> None:
        """Answer one invocation and do what was put off until after the answer."""
        logs.request_id.set(invocation.request_id)
        if self._environment.max_concurrency == 1:
            self._remember_trace(invocation.trace_id)
        try:
            context = context_of(invocation, self._environment, self._clock)
            request = http_request(invocation, context, self._state)
        except UnsupportedEvent as error:
            log.error("the event was refused", extra={"fields": {"reason": str(error)}})
            await self._api.invocation_error(invocation, Failure(_UNSUPPORTED, str(error)))
        else:
            await self._answer(invocation, request)
        await self._afterwards(invocation)

    async def _answer(self, invocation: Invocation, request: HttpRequest) -> None:
        stream = ResponseStream(self._api, invocation)
        request.scope[REQUEST_ID] = request_id = new_request_id()
        logs.gateway_request_id.set(request_id)
        cycle = Cycle(request, stream, request_id, self._gateway.header_prefix)
        app = asyncio.create_task(self._run(request, cycle))
        try:
            if await self._done_by(app, invocation, CANCEL_S):
                await self._by(invocation, REPORTED_S, self._conclude(invocation, app, cycle, stream))
            else:
                await self._cut(invocation, app, cycle)
        finally:
            app.cancel()
            stream.abort()

    async def _run(self, request: HttpRequest, cycle: Cycle) -> None:
        await self._gateway.app(request.scope, cycle.receive, cycle.send)

    async def _conclude(
        self, invocation: Invocation, app: "asyncio.Task[None]", cycle: Cycle, stream: ResponseStream
    ) -> None:
        """Report how an app ended that ended by itself."""
        error = asyncio.CancelledError() if app.cancelled() else app.exception()
        if error is None and cycle.complete:
            return
        if stream.lost and cycle.started:
            # Why was logged when it was lost; that the app stops then is as it should be.
            return
        if error is not None and not (cycle.complete and isinstance(error, ResponseLost)):
            log.error("the app failed", exc_info=error, extra={"fields": {"answered": cycle.complete}})
        if cycle.complete:
            return
        failure = _INCOMPLETE if error is None else failure_of(error, "The application failed. See the function's log.")
        if cycle.started:
            await cycle.break_off(failure, last_words.internal())
        else:
            await self._api.invocation_error(invocation, failure)

    async def _cut(self, invocation: Invocation, app: "asyncio.Task[None]", cycle: Cycle) -> None:
        """Stop an app that is still at work shortly before the deadline, and end its response."""
        log.error("the app ran into the deadline and is stopped", extra={"fields": {"answered": cycle.complete}})
        app.cancel()
        if not await self._done_by(app, invocation, UNWOUND_S):
            log.error("the app did not stop when it was cancelled")
            self._stray.add(app)
            app.add_done_callback(self._stray.discard)
        if not cycle.complete:
            await self._by(invocation, REPORTED_S, _end(cycle, last_words.deadline()))

    async def _afterwards(self, invocation: Invocation) -> None:
        left = self._moment(invocation, ASLEEP_S)
        budget = min(left, self._clock.monotonic() + AFTER_RESPONSE_S)
        try:
            await finish_by(self._clock, budget, self._after_response())
        except TimeoutError:
            log.error("the work after the response took too long and was stopped")
        except Exception:
            log.exception("the work after the response failed")

    async def _after_response(self) -> None:
        await self._gateway.after_response()

    async def _done_by(self, app: "asyncio.Task[None]", invocation: Invocation, before_s: float) -> bool:
        """Whether the app has ended by so many seconds before the deadline."""
        alarm = asyncio.ensure_future(self._sleep_until(invocation, before_s))
        try:
            await asyncio.wait({app, alarm}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            alarm.cancel()
        return app.done()

    async def _by(self, invocation: Invocation, before_s: float, work: Coroutine[Any, Any, None]) -> None:
        try:
            await finish_by(self._clock, self._moment(invocation, before_s), work)
        except TimeoutError:
            log.error("the end of the response could not be sent in time")

    async def _sleep_until(self, invocation: Invocation, before_s: float) -> None:
        await self._clock.sleep_until(self._moment(invocation, before_s))

    def _moment(self, invocation: Invocation, before_s: float) -> float:
        return self._clock.monotonic() + (invocation.deadline - before_s - self._clock.now())


async def _end(cycle: Cycle, error: GatewayError) -> None:
    try:
        if cycle.started:
            await cycle.break_off(_DEADLINE, error)
        else:
            await cycle.answer(error)
    except ResponseLost:
        pass
