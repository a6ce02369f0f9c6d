"""One attempt at one host: a pump task reads the upstream, a timer bounds its silence, a queue bounds its lead."""

import asyncio
import math
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TypeAlias

from core.chat import Usage
from core.decision import Leg, Plan
from core.errors import DeadlineExceeded, FirstTokenTimeout, GatewayError, SilentUpstream
from core.events import Event, ReasoningDelta, UsageReported, is_answer, is_token
from core.ports import Clock, Timer

Batch: TypeAlias = tuple[Event, ...]
"""The events of one upstream read; empty when bytes came that completed no event."""

QUEUE_BATCHES = 64


def commits(batch: Batch, plan: Plan) -> bool:
    """Whether these events commit an attempt: its first token, or the answer's own while reasoning is held."""
    if plan.whole:
        return False
    counts = is_answer if plan.hold_reasoning else is_token
    return any(counts(event) for event in batch)


def _wake(who: "asyncio.Future[None] | None") -> None:
    if who is not None and not who.done():
        who.set_result(None)


@dataclass(frozen=True, slots=True)
class _End:
    error: BaseException | None = None


class Attempt:
    """Runs one upstream call under its budgets.

    `usage` is the last that its host reported, `ttft_ms` the time to its first token, None while none came,
    `has_thought` whether reasoning was seen.

    Args:
        batches: The call; it is closed when the attempt ends, however it ends.
        leg: The target and its budgets.
        plan: The plan that the leg is of.
        request_started: When the request began, on `clock.monotonic()`; deadlines count from there.
    """

    def __init__(
        self, batches: AsyncGenerator[Batch, None], leg: Leg, plan: Plan, request_started: float, clock: Clock
    ) -> None:
        self.started = clock.monotonic()
        self.usage: Usage | None = None
        self.ttft_ms: int | None = None
        self.has_thought = False
        self._batches = batches
        self._budgets = leg.budgets
        self._plan = plan
        self._clock = clock
        self._request_started = request_started
        self._deadline = request_started + plan.deadline_s
        self._thinking_deadline = request_started + plan.thinking_deadline_s
        self._queue: deque[Batch] = deque()
        self._arrival: asyncio.Future[None] | None = None
        self._room: asyncio.Future[None] | None = None
        self._last_byte = self.started
        self._has_token = False
        self._has_committed = False
        self._is_reading = True
        self._end: _End | None = None
        self._pump = asyncio.ensure_future(self._read())
        self._timer = self._armed()

    async def batches(self) -> AsyncGenerator[Batch, None]:
        """What the upstream sends, read by read.

        Raises:
            GatewayError: The attempt failed; what was yielded before stays valid.
        """
        while True:
            while self._queue:
                batch = self._queue.popleft()
                _wake(self._room)
                yield batch
            if self._end is not None:
                if self._end.error is not None:
                    raise self._end.error
                return
            self._arrival = asyncio.get_running_loop().create_future()
            await self._arrival

    async def close(self) -> None:
        """Stop reading and wait until the upstream call is closed."""
        self._timer.cancel()
        if not self._pump.done():
            self._pump.cancel()
            await asyncio.wait([self._pump])

    async def _read(self) -> None:
        end = _End()
        try:
            async for batch in self._batches:
                self._last_byte = self._clock.monotonic()
                for event in batch:
                    if isinstance(event, UsageReported):
                        self.usage = event.usage
                if not self._has_committed and batch:
                    self._note(batch)
                self._queue.append(batch)
                _wake(self._arrival)
                if len(self._queue) >= QUEUE_BATCHES:
                    self._is_reading = False
                    self._room = asyncio.get_running_loop().create_future()
                    await self._room
                    self._is_reading = True
        except GatewayError as error:
            end = _End(error)
        except Exception as error:  # a fault of ours must reach the caller as one, not hang it
            end = _End(error)
        finally:
            await self._batches.aclose()
        self._finish(end)

    def _note(self, batch: Batch) -> None:
        if not self._has_token and any(is_token(event) for event in batch):
            self._has_token = True
            self.ttft_ms = round((self._last_byte - self.started) * 1000)
        self._has_committed = commits(batch, self._plan)
        if any(isinstance(event, ReasoningDelta) for event in batch):
            self.has_thought = True
            self._deadline = max(self._deadline, self._thinking_deadline)

    def _finish(self, end: _End) -> None:
        if self._end is None:
            self._end = end
            _wake(self._arrival)

    def _armed(self) -> Timer:
        # The first byte can bring a bound that is nearer than the one waited for, but never nearer than this.
        soonest = self._clock.monotonic() + self._budgets.silence_s
        return self._clock.call_at(min(self._next_bound()[0], soonest), self._look)

    def _look(self) -> None:
        due, error = self._next_bound()
        if self._clock.monotonic() < due:
            self._timer = self._armed()
        else:
            self._finish(_End(error))
            self._pump.cancel()

    def _next_bound(self) -> tuple[float, GatewayError]:
        """The moment at which this attempt fails if nothing changes until then, and the failure."""
        bounds: list[tuple[float, GatewayError]] = []
        if self._plan.ends_s is not None:
            bounds.append((self._request_started + self._plan.ends_s, DeadlineExceeded(_PLATFORM)))
        if not self._has_committed:  # a whole answer never does before it is complete
            bounds.append((self._deadline, DeadlineExceeded(_DEADLINE)))
        if not self._has_token and self._budgets.first_token_s is not None:
            bounds.append((self.started + self._budgets.first_token_s, FirstTokenTimeout(_FIRST_TOKEN)))
        if self._has_token or self._budgets.silence_before_token:
            heard = self._last_byte if self._is_reading else self._clock.monotonic()
            bounds.append((heard + self._budgets.silence_s, SilentUpstream(_SILENT)))
        return min(bounds, key=lambda bound: bound[0], default=(math.inf, DeadlineExceeded(_DEADLINE)))


_DEADLINE = (
    "No model answered before the request's deadline. Allow more time with routing.deadline_ms, or ask for less."
)
_PLATFORM = "The answer took longer than the gateway's platform allows. Ask for a shorter answer."
_FIRST_TOKEN = "The model sent no token in time. Allow more time with routing.first_token_ms, or name another model."
_SILENT = "The model stopped sending before its answer was complete. Send the request again."
