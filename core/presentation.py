"""What the caller of one request is shown: the only place where an exchange touches its surface."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.catalog.model import Target
from core.chat import FinishReason, Json
from core.money import Terms
from core.prepare import Prepared
from core.record import AttemptRow
from core.repair import Repaired
from core.seen import Seen
from core.settlement import Settlement
from core.surfaces.decision import LIST_PRICE, attempted, decided_object
from core.surfaces.headers import answer_headers
from core.surfaces.json_text import to_json
from core.surfaces.openai_chat import StreamRenderer, render_reply, usage_object
from core.surfaces.surface import Surface


@dataclass(frozen=True, slots=True)
class Head:
    """What a response starts with. `body` is the whole answer, None when frames follow."""

    status: int
    headers: Mapping[str, str]
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Presentation:
    """One request's answer in the words of its surface.

    Args:
        surface: Where the request came in.
        request_id: In the `req-` form.
        created: Unix time in seconds.
        ready: The request and its plan.
        header_prefix: What our own headers begin with.
    """

    surface: Surface
    request_id: str
    created: int
    ready: Prepared
    header_prefix: str
    _decided: dict[bool, Mapping[str, Json]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def renderer(self, served: Target | None) -> StreamRenderer:
        """A renderer for the stream; before a commit the model is the one that was ranked first."""
        request = self.ready.request
        return StreamRenderer(
            self.surface,
            response_id=self.surface.response_id(self.request_id),
            created=self.created,
            model=self._model(served),
            include_usage=request.include_usage,
            legacy_functions=request.legacy_functions,
        )

    def stream_head(self, served: Target) -> Head:
        """The head of a stream."""
        return Head(200, answer_headers(self.header_prefix, self.request_id, model=served.model.id))

    def whole_head(self, served: Target, taken: Repaired, seen: Seen, settlement: Settlement) -> Head:
        """The head and body of a whole answer."""
        body = render_reply(
            self.surface,
            taken.reply,
            response_id=self.surface.response_id(self.request_id),
            created=self.created,
            model=self._model(served),
            usage=self.usage(served, seen, settlement, taken.wrapping),
            routing=self.routing(served, settlement.attempts, seen, settlement.terms)
            if self.surface.own_frames
            else None,
            legacy_functions=self.ready.request.legacy_functions,
        )
        headers = answer_headers(
            self.header_prefix,
            self.request_id,
            model=served.model.id,
            cost_micros=settlement.charge.total if settlement.charge else None,
            latency_ms=settlement.latency_ms,
        )
        return Head(200, headers, to_json(body))

    def routing(
        self,
        served: Target | None,
        attempts: Sequence[AttemptRow],
        seen: Seen,
        terms: Terms = LIST_PRICE,
        *,
        full: bool = False,
    ) -> Mapping[str, Json]:
        """The routing object as it stands; `full` lists everything, as the record does."""
        decided = self._decided.get(full)
        if decided is None:
            decided = decided_object(self.request_id, self.created, self.ready.decision, full=full)
            self._decided[full] = decided
        return attempted(
            decided,
            model=served.model.id if served else self.ready.decision.pick,
            attempts=attempts,
            truncated=_truncated(seen),
            terms=terms,
        )

    def failure_headers(self, settlement: Settlement | None) -> Mapping[str, str]:
        """What an answer that failed says of its charge; nothing where no host reported any usage."""
        if settlement is None or settlement.usage is None or settlement.charge is None:
            return {}
        return answer_headers(self.header_prefix, self.request_id, cost_micros=settlement.charge.total)

    def failure_usage(self, served: Target | None, seen: Seen, settlement: Settlement) -> Mapping[str, Json] | None:
        """The same within a stream."""
        return None if settlement.usage is None else self.usage(served, seen, settlement)

    def usage(
        self, served: Target | None, seen: Seen, settlement: Settlement, repair: str | None = None
    ) -> Mapping[str, Json]:
        """The usage object."""
        return usage_object(
            settlement.usage,
            settlement.charge,
            latency_ms=settlement.latency_ms,
            ttft_ms=settlement.ttft_ms,
            truncated=_truncated(seen),
            dropped_params=self.ready.disposed[served.model.id, served.name].reported if served else (),
            structured_output_repair=repair,
        )

    def _model(self, served: Target | None) -> str:
        asked = self.ready.request.model
        if self.surface.echo_model and asked != "auto":
            return asked
        return served.model.id if served else self.ready.decision.pick


def _truncated(seen: Seen) -> str | None:
    finishes = [choice.finish for choice in seen.reply.choices]
    return "max_tokens" if FinishReason.LENGTH in finishes else None
