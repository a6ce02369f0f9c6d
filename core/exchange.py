"""One chat completion from the caller's bytes to the settled record: first the head, then the frames."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256

import orjson

from core.catalog.model import Target
from core.chat import FinishReason, Json, Reply, Usage
from core.errors import GatewayError
from core.events import Event, ReasoningDelta, RefusalDelta, TextDelta, UsageReported, fold
from core.execute import AttemptEnded, Committed, EventBatch, Failed, Step, execute
from core.memory import remembered
from core.parts import Parts
from core.prepare import Prepared, prepare
from core.record import Record
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


@dataclass(slots=True)
class _Seen:
    """What must be known of the events that went by; the text itself is only counted."""

    events: list[Event] = field(default_factory=list)
    text_bytes: int = 0
    usage: Usage | None = None

    def note(self, events: tuple[Event, ...], *, keep_text: bool) -> None:
        for event in events:
            if isinstance(event, UsageReported):
                self.usage = event.usage
            if isinstance(event, TextDelta | RefusalDelta | ReasoningDelta):
                self.text_bytes += len(event.text.encode("utf-8", "replace"))
                if not keep_text and not isinstance(event, ReasoningDelta):
                    continue
            self.events.append(event)


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
        self._seen = _Seen()
        self._served: Committed | None = None
        self._first: tuple[Event, ...] = ()
        self._is_settled = False

    async def start(self) -> Head:
        """Everything up to the commit of an attempt or, for a whole answer, up to its end.

        Raises:
            GatewayError: The request was refused, or every attempt failed.
        """
        self._ready = await prepare(self._parts, self._surface, self._key, self._body, self._ends_at)
        self._account = Account(self._parts, self._opened(self._ready))
        call = partial(self._parts.caller.call, self._ready.request, self._ready.turns, self._mint)
        self._steps = execute(self._ready.plan, call, self._parts.clock, self._parts.jitter)
        if not self._ready.request.stream:
            return await self._whole()
        async for step in self._steps:
            if self._take(step, keep_text=False):
                await self._account.opened()
                headers = answer_headers(self._parts.header_prefix, self.request_id, model=self._model_served())
                return Head(200, headers)
        raise AssertionError("a walk ends in a commit or a failure")

    async def frames(self) -> AsyncGenerator[bytes, None]:
        """The stream's frames; batches leave as they came. Closing the generator means that the caller has gone."""
        renderer = self._renderer()
        try:
            yield renderer.opening(self._routing())
            async for step in self._steps:
                match step:
                    case EventBatch():
                        self._seen.note(step.events, keep_text=False)
                        frames = renderer.events(step.events)
                        if frames:
                            yield frames
                    case AttemptEnded():
                        self._account.ended(step, self._estimate())
                    case Failed():
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
        failure: GatewayError | None = None
        try:
            async for step in self._steps:
                if isinstance(step, Failed):
                    failure = step.error
                else:
                    self._take(step, keep_text=True)
            if failure is not None:
                await self._settle("failed", failure)
                raise failure
            await self._account.opened()
            await self._remember()
            settlement = await self._settle("served")
        finally:
            await self.leave()
        return self._whole_head(settlement)

    def _take(self, step: Step, *, keep_text: bool) -> bool:
        """Note a step before or at the commit; True when the head is due."""
        match step:
            case AttemptEnded():
                self._account.ended(step, self._estimate())
            case Committed():
                self._served = step
            case EventBatch():
                self._seen.note(step.events, keep_text=keep_text)
                self._first = step.events
                return True
        return False
