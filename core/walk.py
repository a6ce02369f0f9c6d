"""Walks the plan of one request, from its first call to its settled record."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from hashlib import sha256

from core.attempt import Batch
from core.catalog.model import Target
from core.chat import ChatRequest, Json, Usage
from core.decision import Plan
from core.demand import within
from core.errors import GatewayError, InternalError, StoreUnavailable
from core.estimate import estimated_usage, likely_pico
from core.events import Event
from core.execute import AttemptBegan, AttemptEnded, Committed, EventBatch, Failed, Step, execute
from core.memory import tool_turn
from core.parts import Parts
from core.prepare import Prepared
from core.presentation import Head, Presentation
from core.record import Record
from core.repair import Repaired, once_more, reask, repaired
from core.routing.conversations import Served
from core.seen import Seen
from core.settlement import SETTLE_S, Account, Outcome, Settlement
from core.waiting import finish_by


class Walk:
    """The walk of one request that was read and planned.

    Args:
        parts: The collaborators.
        ready: The request and its plan.
        shown: What the caller is shown of it.
        account: What is charged for it, and kept.
        record: Its record, still open.
    """

    def __init__(self, parts: Parts, ready: Prepared, shown: Presentation, account: Account, record: Record) -> None:
        self.ready = ready
        self.shown = shown
        self._parts = parts
        self.account = account
        self.is_served = False
        self._record = record
        self._seen = Seen()
        self._served: Target | None = None
        self._ttft_s: float | None = None
        self._latest: tuple[Event, ...] = ()
        self._is_settled = False
        self._settlement: Settlement | None = None
        self._is_broken = False
        self._leaving: asyncio.Task[None] | None = None
        self._steps = self._execute(ready.plan, ready.request)

    async def start(self) -> Head:
        """Everything up to the commit of an attempt or, for a whole answer, up to its end.

        Raises:
            GatewayError: Every attempt failed.
        """
        if not self.ready.request.stream:
            return await self._whole()
        step = await anext(self._steps)
        while not isinstance(step, Failed) and not self._take(step, keep_text=False):
            step = await anext(self._steps)
        if isinstance(step, Failed):
            await self._settle("failed", step.error)
            raise step.error
        await self.account.opened()
        return self.shown.stream_head(self._target())

    async def frames(self) -> AsyncGenerator[bytes, None]:
        """The frames of a stream that has committed, up to its settled end; batches leave as they came."""
        target = self._target()
        renderer = self.shown.renderer(target)
        try:
            routing = self.shown.routing(target, self.account.rows, self._seen, self.account.terms)
            yield renderer.opening(routing) + renderer.events(self._latest)
            async for step in self._steps:
                if isinstance(step, Failed):
                    await self._settle("interrupted", step.error)
                    yield renderer.error(step.error, self._failure_usage())
                    return
                if self._take(step, keep_text=False) and (frames := renderer.events(self._latest)):
                    yield frames
            await self._remember(target)
            self._stay_with(target)
            settlement = await self._settle("served")
            self.is_served = True
            yield renderer.closing(self.shown.usage(target, self._seen, settlement))
        except Exception:
            self._is_broken = True
            raise
        finally:
            await self.leave()

    async def leave(self) -> None:
        """Stop the upstream call, and charge what was used if nothing was settled yet."""
        await self._steps.aclose()
        if not self._is_settled:
            self._is_settled = True
            self._leaving = self._parts.background.start(self._settle_left())
            if self._is_broken:  # whose caller is still there, and is told what it came to
                await asyncio.wait([self._leaving])

    @property
    def failure_headers(self) -> Mapping[str, str]:
        """What its failure says of the charge, and of the limits, once it is settled."""
        return {**self.shown.failure_headers(self._settlement), **self.account.holding.known_headers()}

    def error_frame(self, error: GatewayError) -> bytes:
        """The frames that end a stream whose head went out before an attempt had committed, or which broke."""
        return self.shown.renderer(self._served).error(error, self._failure_usage())

    async def outcome(self) -> Outcome | None:
        """What came of the request, once it is settled; to be asked after `leave`."""
        if self._leaving is not None:
            await asyncio.wait([self._leaving])
        return await self.account.outcome()

    async def _whole(self) -> Head:
        try:
            failure = await self._take_all()
            if failure is not None:
                await self._settle("failed", failure)
                raise failure
            taken = repaired(self._seen.reply, self.ready.request, takes_out=self.ready.policy.extract_json)
            if taken.is_missing and self.ready.policy.reask_json:
                taken = await self._reasked(taken)
            target = self._target()
            await self.account.opened()
            await self._remember(target)
            self._stay_with(target)
            settlement = await self._settle("served")
        except Exception:
            self._is_broken = True
            raise
        finally:
            await self.leave()
        return self.shown.whole_head(target, taken, self._seen, settlement)

    async def _take_all(self) -> GatewayError | None:
        """Take every step; the failure at the end, if there was one."""
        async for step in self._steps:
            if isinstance(step, Failed):
                return step.error
            self._take(step, keep_text=True)
        return None

    async def _reasked(self, first: Repaired) -> Repaired:
        """Ask the host that served once more; the first answer stays if that fails or there is no time for it."""
        elapsed_s = self._parts.clock.now() - self._record.created_ms / 1000
        left = once_more(self.ready.plan, self._target(), elapsed_s)
        request = reask(self.ready.request, first.reply.choices[0].text or "")
        before, self._seen = self._seen, Seen()
        self._steps = self._execute(left, request, again=True)
        if await self._take_all() is not None:
            self._seen = before
            return first
        again = repaired(self._seen.reply, request, takes_out=self.ready.policy.extract_json)
        return again if again.is_missing else replace(again, wrapping="reasked")

    def _execute(self, plan: Plan, request: ChatRequest, *, again: bool = False) -> AsyncGenerator[Step, None]:
        most_output = self.ready.workspace.plan.max_output_tokens

        def call(target: Target) -> AsyncGenerator[Batch, None]:
            return self._parts.caller.call(within(request, most_output, target), self.ready.turns, self._mint, target)

        calls = self.account.holding.covered(call, lambda: self.account.came_to, again=again)
        return execute(plan, calls, self._parts.clock, self._parts.jitter)

    def _take(self, step: AttemptBegan | AttemptEnded | Committed | EventBatch, *, keep_text: bool) -> bool:
        """Note a step; True when it brought events, which are the latest then."""
        if isinstance(step, AttemptBegan):
            self.account.began(step)
        elif isinstance(step, AttemptEnded):
            self._ended(step)
        elif isinstance(step, Committed):
            self._served, self._ttft_s = step.target, step.ttft_s
            # A whole answer is all there by now, and settled at once, unless it is asked for once more.
            if self.ready.request.stream or self.ready.policy.reask_json:
                self.account.mark(partial(self._likely_pico, step.target))
        else:
            self.account.alive()
            self._seen.note(step.events, keep_text=keep_text)
            self._latest = step.events
            return True
        return False

    def _likely_pico(self, target: Target) -> Fraction | None:
        ready, at_s = self.ready, self._record.created_ms / 1000
        return likely_pico(ready.request, ready.decision, target, at_s)

    def _ended(self, step: AttemptEnded) -> None:
        needs_estimate = step.error is None and step.usage is None
        self.account.ended(step, self._estimate(step.target) if needs_estimate else None)

    def _mint(self, choice: int, call: int) -> str:
        return "call_" + sha256(f"{self._record.request_id}/{choice}/{call}".encode()).hexdigest()[:24]

    def _failure_usage(self) -> Mapping[str, Json] | None:
        settlement = self._settlement
        return None if settlement is None else self.shown.failure_usage(self._served, self._seen, settlement)

    def _target(self) -> Target:
        if self._served is None:
            raise AssertionError("nothing has committed")
        return self._served

    def _estimate(self, target: Target) -> Usage:
        """Usage of an answer whose host reported none: counted from what went by, and marked."""
        return estimated_usage(self.ready.request, self._seen, target)

    async def _remember(self, target: Target) -> None:
        """Keep the tool turns; a store that is away must not cost the caller the answer."""
        now_ms = round(self._parts.clock.now() * 1000)
        for choice in self._seen.reply.choices:
            turn = tool_turn(target, choice)
            if turn is None:
                continue
            ids = [call.id for call in choice.tool_calls]
            clock, remembering = self._parts.clock, self._parts.memory.remember(self._record.org, ids, turn, now_ms)
            try:
                await finish_by(clock, clock.monotonic() + SETTLE_S, remembering)
            except (StoreUnavailable, TimeoutError):
                return

    def _stay_with(self, target: Target) -> None:
        """Remember who served, for the conversation's next turn."""
        if self.ready.conversation is not None:
            self._parts.router.conversations.keep(self.ready.conversation, Served(target.model.id, target.name))

    async def _settle(self, outcome: str, error: GatewayError | None = None) -> Settlement:
        self._is_settled = True
        choices = self._seen.reply.choices
        finish = choices[0].finish if choices else None
        is_timed = self._ttft_s is not None and self.ready.request.stream
        self._settlement = await self.account.settle(
            outcome,
            decision=self.shown.routing(self._served, self.account.rows, self._seen, self.account.terms, full=True),
            model=self._served.model.id if self._served else None,
            ttft_ms=round((self._ttft_s or 0) * 1000) if is_timed else None,
            finish_reason=finish.value if finish else None,
            upstream_finish_reason=self._seen.upstream_finish_reason,
            error=error,
        )
        return self._settlement

    async def _settle_left(self) -> None:
        is_delivered = self._served is not None and self.ready.request.stream and not self._is_broken
        self.account.left(self._estimate if is_delivered else None)
        if self._is_broken:
            await self._settle("failed", InternalError("The gateway failed while it answered."))
        else:
            await self._settle("caller_left")
