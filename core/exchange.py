"""One chat completion from the caller's bytes to the settled record: first the head, then the frames."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256

import orjson

from core.chat import FinishReason, Json, Usage
from core.errors import GatewayError, StoreUnavailable
from core.events import Event, fold
from core.execute import AttemptEnded, Committed, EventBatch, Failed, Step, execute
from core.memory import tool_turn
from core.parts import Parts
from core.prepare import Prepared, prepare
from core.record import Record
from core.repair import Repaired, reask, repaired
from core.seen import Seen
from core.settlement import LEASE_S, Account, Settlement
from core.surfaces.decision import routing_object
from core.surfaces.headers import answer_headers
from core.surfaces.openai_chat import StreamRenderer, render_reply, usage_object
from core.surfaces.surface import Surface
from core.tenant import Key
from core.tokens import estimated_tokens


@dataclass(frozen=True, slots=True)
class Head:
    """What a response starts with. `body` is the whole answer, None when frames follow."""

    status: int
    headers: Mapping[str, str]
    body: bytes | None = None


class Exchange:
    """A request under way.

    Call `start` for the head; if that has no body, iterate `frames` to the end, or `leave` when the caller has gone.
    """

    def __init__(
        self, parts: Parts, surface: Surface, key: Key, request_id: str, body: bytes, ends_at: float | None
    ) -> None:
        self.request_id = request_id
        self._parts = parts
        self._surface = surface
        self._key = key
        self._body = body
        self._ends_at = ends_at
        self._created = parts.clock.now()
        self._seen = Seen()
        self._served: Committed | None = None
        self._first: tuple[Event, ...] = ()
        self._is_settled = False
        self._ready: Prepared | None = None

    @property
    def is_stream(self) -> bool:
        """Whether the caller asked for a stream; False until the request was read."""
        return self._ready is not None and self._ready.request.stream

    async def start(self) -> Head:
        """Everything up to the commit of an attempt or, for a whole answer, up to its end.

        Raises:
            GatewayError: The request was refused, or every attempt failed.
        """
        self._ready = await prepare(self._parts, self._surface, self._key, self._body, self._ends_at)
        self._account = Account(self._parts, self._opened(self._known))
        call = partial(self._parts.caller.call, self._known.request, self._known.turns, self._mint)
        self._steps = execute(self._known.plan, call, self._parts.clock, self._parts.jitter)
        if not self._known.request.stream:
            return await self._whole()
        async for step in self._steps:
            if isinstance(step, Failed):
                await self._settle("failed", step.error)
                raise step.error
            if self._take(step, keep_text=False):
                break
        await self._account.opened()
        model = self._committed().target.model.id
        return Head(200, answer_headers(self._parts.header_prefix, self.request_id, model=model))

    async def frames(self) -> AsyncGenerator[bytes, None]:
        """The stream's frames; batches leave as they came. Closing the generator means that the caller has gone."""
        renderer = self._renderer()
        try:
            yield renderer.opening(self._routing()) + renderer.events(self._first)
            async for step in self._steps:
                if isinstance(step, EventBatch):
                    self._seen.note(step.events, keep_text=False)
                    frames = renderer.events(step.events)
                    if frames:
                        yield frames
                elif isinstance(step, AttemptEnded):
                    self._account.ended(step, self._estimate())
                elif isinstance(step, Failed):
                    await self._settle("interrupted", step.error)
                    yield renderer.error(step.error)
                    return
            await self._remember()
            settlement = await self._settle("served")
            yield renderer.closing(self._usage(settlement))
        finally:
            await self.leave()

    async def leave(self) -> None:
        """Stop the upstream call and charge what was used, if the request is not settled yet."""
        steps = getattr(self, "_steps", None)
        if steps is not None:
            await steps.aclose()
        if not self._is_settled and steps is not None:
            self._parts.background.start(self._settle_left())

    def error_frame(self, error: GatewayError) -> bytes:
        """The frames that end a stream whose head went out before `start` failed."""
        return self._renderer().error(error)

    async def _whole(self) -> Head:
        try:
            failure = await self._walk()
            if failure is not None:
                await self._settle("failed", failure)
                raise failure
            taken = Repaired(fold(self._seen.events))
            if self._known.policy.extract_json:
                taken = repaired(taken.reply, self._known.request)
            if taken.is_missing and self._known.policy.reask_json:
                taken = await self._reasked(taken)
            await self._account.opened()
            await self._remember()
            settlement = await self._settle("served")
        finally:
            await self.leave()
        return self._whole_head(taken, settlement)

    async def _walk(self) -> GatewayError | None:
        """Take every step; the failure at the end, if there was one."""
        async for step in self._steps:
            if isinstance(step, Failed):
                return step.error
            self._take(step, keep_text=True)
        return None

    async def _reasked(self, first: Repaired) -> Repaired:
        """Ask the host that served once more; the first answer stays if that fails or there is no time for it."""
        clock, plan, served = self._parts.clock, self._known.plan, self._committed().target
        elapsed = clock.now() - self._created
        legs = tuple(leg for leg in plan.legs if leg.target == served)
        left = replace(plan, legs=legs, max_attempts=1, deadline_s=plan.deadline_s - elapsed)
        left = replace(left, thinking_deadline_s=plan.thinking_deadline_s - elapsed)
        request = reask(self._known.request, first.reply.choices[0].text or "")
        call = partial(self._parts.caller.call, request, self._known.turns, self._mint)
        before, self._seen = self._seen, Seen()
        self._steps = execute(left, call, clock, self._parts.jitter)
        if await self._walk() is not None:
            self._seen = before
            return first
        again = repaired(fold(self._seen.events), request)
        return again if again.is_missing else replace(again, wrapping="reasked")

    def _take(self, step: Step, *, keep_text: bool) -> bool:
        """Note a step before or at the commit; True when the head is due."""
        if isinstance(step, AttemptEnded):
            self._account.ended(step, self._estimate())
        elif isinstance(step, Committed):
            self._served = step
        elif isinstance(step, EventBatch):
            self._seen.note(step.events, keep_text=keep_text)
            self._first = step.events
            return True
        return False

    def _whole_head(self, taken: Repaired, settlement: Settlement) -> Head:
        served = self._committed()
        usage = self._usage(settlement, taken.wrapping)
        body = render_reply(
            self._surface,
            taken.reply,
            response_id=self._surface.response_id(self.request_id),
            created=int(self._created),
            model=self._shown_model(),
            usage=usage,
            routing=self._routing() if self._surface.own_frames else None,
            legacy_functions=self._known.request.legacy_functions,
        )
        headers = answer_headers(
            self._parts.header_prefix,
            self.request_id,
            model=served.target.model.id,
            cost_micros=settlement.charge.total if settlement.charge else None,
            latency_ms=settlement.latency_ms,
        )
        return Head(200, headers, orjson.dumps(body))

    def _opened(self, ready: Prepared) -> Record:
        created_ms = round(self._created * 1000)
        return Record(
            org=self._key.org,
            request_id=self.request_id,
            key_id=self._key.id,
            created_ms=created_ms,
            lease_until_ms=created_ms + LEASE_S * 1000,
            requested_model=ready.request.model,
            surface=self._surface.name,
            stream=ready.request.stream,
            decision=routing_object(
                self.request_id, int(self._created), ready.decision, model=ready.decision.pick, full=True
            ),
        )

    def _mint(self, choice: int, call: int) -> str:
        return "call_" + sha256(f"{self.request_id}/{choice}/{call}".encode()).hexdigest()[:24]

    @property
    def _known(self) -> Prepared:
        if self._ready is None:
            raise AssertionError("the request was not read yet")
        return self._ready

    def _committed(self) -> Committed:
        if self._served is None:
            raise AssertionError("nothing has committed")
        return self._served

    def _shown_model(self) -> str:
        served = self._committed().target.model.id
        asked = self._known.request.model
        return asked if self._surface.echo_model and asked != "auto" else served

    def _renderer(self) -> StreamRenderer:
        ready = self._known
        return StreamRenderer(
            self._surface,
            response_id=self._surface.response_id(self.request_id),
            created=int(self._created),
            model=self._shown_model() if self._served else ready.decision.pick,
            include_usage=ready.request.include_usage,
            legacy_functions=ready.request.legacy_functions,
        )

    def _routing(self) -> Mapping[str, Json]:
        return routing_object(
            self.request_id,
            int(self._created),
            self._known.decision,
            model=self._committed().target.model.id if self._served else self._known.decision.pick,
            attempts=self._account.rows,
            truncated=self._truncated(),
        )

    def _truncated(self) -> str | None:
        finishes = [choice.finish for choice in fold(self._seen.events).choices]
        return "max_tokens" if FinishReason.LENGTH in finishes else None

    def _usage(self, settlement: Settlement, repair: str | None = None) -> Mapping[str, Json]:
        return usage_object(
            settlement.usage,
            settlement.charge,
            latency_ms=settlement.latency_ms,
            ttft_ms=settlement.ttft_ms,
            truncated=self._truncated(),
            dropped_params=self._known.disposed[self._committed().target.name].reported,
            structured_output_repair=repair,
        )

    def _estimate(self) -> Usage:
        """Usage of an answer whose host reported none; counted from what went by, and marked."""
        written = len(orjson.dumps(dict(self._known.request.written)))
        return Usage(
            input_tokens=estimated_tokens(written),
            output_tokens=estimated_tokens(self._seen.text_bytes),
            estimated=True,
        )

    async def _remember(self) -> None:
        """Keep the tool turns; a store that is away must not cost the caller the answer."""
        target = self._committed().target
        for choice in fold(self._seen.events).choices:
            turn = tool_turn(target, choice)
            if turn is None:
                continue
            ids = [call.id for call in choice.tool_calls]
            try:
                await self._parts.store.remember(self._key.org, ids, turn, round(self._parts.clock.now() * 1000))
            except StoreUnavailable:
                return

    async def _settle(self, outcome: str, error: GatewayError | None = None) -> Settlement:
        self._is_settled = True
        choices = fold(self._seen.events).choices
        finish = choices[0].finish if choices else None
        return await self._account.settle(
            outcome,
            decision=self._routing(),
            model=self._served.target.model.id if self._served else None,
            ttft_ms=round(self._served.ttft_s * 1000) if self._served and self._known.request.stream else None,
            finish_reason=finish.value if finish else None,
            error=error,
        )

    async def _settle_left(self) -> None:
        if self._served is not None:
            elapsed = self._parts.clock.now() - self._created
            self._account.left(self._served.target, round(elapsed * 1000), self._seen.usage or self._estimate())
        await self._settle("caller_left")
