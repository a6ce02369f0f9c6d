"""The decision as callers read it, in an answer, in the routing event and afterwards (the contract, section 5).

Hosts are named to operators alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final

from core.chat import Json
from core.decision import Alternative, Decision
from core.money import Terms, charge
from core.record import AttemptRow, Record

LIST_PRICE: Final = Terms()

MOST_ALTERNATIVES: Final = 10
"""How many alternatives an answer shows; the record has them all."""

MOST_NAMED: Final = 500
"""How many excluded models the record names for each reason; it says how many there were when there were more."""


def routing_object(
    request_id: str,
    created: int,
    decision: Decision,
    *,
    model: str,
    attempts: Iterable[AttemptRow] = (),
    truncated: str | None = None,
    terms: Terms = LIST_PRICE,
    full: bool = False,
) -> dict[str, Json]:
    """The `routing` object.

    Args:
        request_id: In the `req-` form.
        created: Unix time in seconds.
        decision: Why the model was chosen.
        model: The catalog id that serves.
        attempts: The attempts so far, in order.
        truncated: `max_tokens` when the answer was cut.
        terms: What the organisation pays on top of a host's price.
        full: Whether to list every alternative and every excluded model, as the record does.
    """
    decided = decided_object(request_id, created, decision, full=full)
    return attempted(decided, model=model, attempts=attempts, truncated=truncated, terms=terms)


def decided_object(request_id: str, created: int, decision: Decision, *, full: bool = False) -> dict[str, Json]:
    """The `routing` object of a request that was decided and not attempted yet."""
    ranked = decision.alternatives if full else decision.alternatives[:MOST_ALTERNATIVES]
    made: dict[str, Json] = {
        "object": "routing",
        "request_id": request_id,
        "created": created,
        "model": decision.pick,
        "pick": decision.pick,
        "policy": decision.policy,
        "optimize": decision.optimize.value,
        "task": decision.task,
        "task_confidence": decision.task_confidence,
        "complexity": decision.complexity,
        "decisiveness": decision.decisiveness,
        "alternatives": [_alternative(each) for each in ranked],
        "excluded": _excluded(decision.excluded, full=full),
        "attempts": [],
        "reasoning": decision.reasoning,
    }
    said = {
        "thinking": decision.thinking,
        "thinking_reason": decision.thinking_reason,
        "structured_output": decision.structured_output,
        "tool_memory": decision.tool_memory,
        "excluded_totals": _totals(decision.excluded) if full else None,
    }
    made.update({name: value for name, value in said.items() if value is not None})
    return made


def attempted(
    decided: Mapping[str, Json],
    *,
    model: str,
    attempts: Iterable[AttemptRow] = (),
    truncated: str | None = None,
    terms: Terms = LIST_PRICE,
) -> dict[str, Json]:
    """The `routing` object with what came of it until now; `decided` is what `decided_object` gave."""
    made = {**decided, "model": model, "attempts": [_attempt(row, terms) for row in attempts]}
    return made if truncated is None else {**made, "truncated": truncated}


def recorded_decision(record: Record, usage: Mapping[str, Json] | None, *, with_hosts: bool = False) -> dict[str, Json]:
    """The decision of a request that was made, with what came of it.

    Args:
        record: The request's record.
        usage: Its usage object, None while it is not settled.
        with_hosts: Whether to name the hosts, and to tell their own words, for the operator.
    """
    made: dict[str, Json] = {
        **record.decision,
        "requested_model": record.requested_model,
        "surface": record.surface,
        "stream": record.stream,
        "outcome": record.outcome,
        "finish_reason": record.finish_reason,
        "error_code": record.error_code,
        "latency_ms": record.latency_ms,
        "ttft_ms": record.ttft_ms,
        "usage": usage,
    }
    if record.model is not None:
        made["model"] = record.model
    if with_hosts:
        shown = made.get("attempts", [])
        made["upstream_finish_reason"] = record.upstream_finish_reason
        made["attempts"] = [{**attempt, **_host(row)} for attempt, row in zip(shown, record.attempts, strict=False)]
    return made


def listed_decision(record: Record, usage: Mapping[str, Json] | None) -> dict[str, Json]:
    """The decision as one of a list: what `recorded_decision` tells, with as little detail as in an answer."""
    made = recorded_decision(record, usage)
    excluded = made.get("excluded", {})
    totals = made.pop("excluded_totals", {})
    return {
        **made,
        "alternatives": made.get("alternatives", [])[:MOST_ALTERNATIVES],
        "excluded": {reason: totals.get(reason, len(models)) for reason, models in excluded.items()},
    }


def _excluded(excluded: Mapping[str, Sequence[str]], *, full: bool) -> dict[str, Json]:
    return {reason: list(islice(models, MOST_NAMED)) if full else len(models) for reason, models in excluded.items()}


def _totals(excluded: Mapping[str, Sequence[str]]) -> dict[str, int] | None:
    """How many there were, where not all are named."""
    return {reason: len(models) for reason, models in excluded.items() if len(models) > MOST_NAMED} or None


def _alternative(alternative: Alternative) -> dict[str, Json]:
    return {
        "model": alternative.model,
        "score": alternative.score,
        "quality": alternative.quality,
        "quality_basis": "unknown" if alternative.quality is None else "measured",
        "estimated_cost_micros": alternative.estimated_cost_micros,
        "estimated_ttft_ms": alternative.estimated_ttft_ms,
    }


def _attempt(row: AttemptRow, terms: Terms) -> dict[str, Json]:
    return {"model": row.model, "outcome": row.outcome, "ms": row.ms, "cost_micros": _cost_micros(row, terms)}


def _cost_micros(row: AttemptRow, terms: Terms) -> int | None:
    """This attempt's part of the charge; None while its price is unknown and counts. Checks belong to no attempt."""
    if not row.charged or not terms.factor:
        return 0
    if row.cost is None:
        return None
    own = Terms(terms.markup, terms.discount, provider_cost=terms.provider_cost)
    return charge([row.cost], own).total


def _host(row: AttemptRow) -> dict[str, Json]:
    return {"host": row.host, "upstream_status": row.upstream_status, "upstream_code": row.upstream_code}
