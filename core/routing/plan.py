"""Makes the plan for a model that the caller named: its hosts, in order, without those that cannot serve."""

from collections.abc import Sequence

from core.catalog.model import Model, StructuredOutput
from core.chat import ChatRequest
from core.decision import Alternative, Candidate, Decision, Leg, Plan
from core.errors import GatewayError, InvalidRequest, Overloaded, Unprocessable
from core.routing.budgets import attempt_budgets, deadlines_s, thinks
from core.routing.policy import Effective
from core.routing.stages import Stage, allowed_hosts, capable, data_promises


def plan_named(
    request: ChatRequest,
    model: Model,
    candidates: Sequence[Candidate],
    effective: Effective,
    *,
    thinking_reason: str | None = None,
) -> tuple[Plan, Decision]:
    """Plan a request that names its model.

    Args:
        request: What the caller asks.
        model: The model that its name resolves to.
        candidates: The model's hosts that have a credential, in catalog order.
        effective: The narrowed policy.
        thinking_reason: Why the model thinks although the caller said not to, or None.

    Raises:
        InvalidRequest: No host takes a field of the request, or its limit is beyond the model.
        Unprocessable: Policy, data rules or abilities rule every host out.
        Overloaded: There is no host.
    """
    limit = min((candidate.target.max_output_tokens for candidate in candidates), default=model.max_output_tokens)
    if request.max_tokens is not None and request.max_tokens > limit:
        field = "max_completion_tokens" if "max_completion_tokens" in request.written else "max_tokens"
        raise InvalidRequest(f"{model.id} can put out at most {limit} tokens. Ask for no more.", param=field)
    kept, dropped = _narrow(tuple(candidates), effective)
    if not kept:
        raise _nothing_left(model, candidates, dropped)
    ordered = _ordered(kept, effective)
    whole = not request.stream
    wants, refuses = request.extended_thinking is True or bool(request.reasoning_effort), _wants_no_thinking(request)
    thinking = {
        candidate.target.name: thinks(candidate.target, switched_on=wants, switched_off=refuses)
        for candidate in ordered
    }
    deadline, thinking_deadline = deadlines_s(effective, whole=whole, thinks=any(thinking.values()))
    legs = tuple(
        Leg(
            candidate.target,
            attempt_budgets(effective, candidate.target, whole=whole, thinks=thinking[candidate.target.name]),
        )
        for candidate in ordered
    )
    plan = Plan(
        legs=legs,
        deadline_s=deadline,
        thinking_deadline_s=thinking_deadline,
        whole=whole,
        hold_reasoning=request.stream and request.extended_thinking is False,
        max_attempts=effective.max_attempts,
    )
    return plan, _decision(request, model, effective, thinking_reason)


def _narrow(
    candidates: tuple[Candidate, ...], effective: Effective
) -> tuple[tuple[Candidate, ...], tuple[tuple[Candidate, str], ...]]:
    stages: tuple[Stage, ...] = (allowed_hosts(effective.hosts), data_promises(effective.data), capable)
    dropped: tuple[tuple[Candidate, str], ...] = ()
    for stage in stages:
        narrowed = stage(candidates)
        candidates, dropped = narrowed.kept, dropped + narrowed.dropped
    return candidates, dropped


def _ordered(candidates: tuple[Candidate, ...], effective: Effective) -> tuple[Candidate, ...]:
    rank = {name: position for position, name in enumerate(effective.hosts.order)}
    return tuple(sorted(candidates, key=lambda candidate: rank.get(candidate.target.vendor.name, len(rank))))


def _wants_no_thinking(request: ChatRequest) -> bool:
    return request.extended_thinking is False or request.reasoning_effort == "none"


def _nothing_left(
    model: Model, candidates: Sequence[Candidate], dropped: tuple[tuple[Candidate, str], ...]
) -> GatewayError:
    if not candidates:
        return Overloaded(f"No host of {model.id} can be used at the moment. Try again, or name another model.")
    for candidate, _ in dropped:
        for field, reason in candidate.refused:
            if field.startswith("response_format"):
                return Unprocessable(
                    f"{model.id}: {reason} Name a model that supports it.", param=field, code="no_eligible_model"
                )
            return InvalidRequest(f"{model.id}: {reason}", param=field, code="unsupported_parameter")
    codes = ", ".join(sorted({code for _, code in dropped}))
    return Unprocessable(
        f"No host of {model.id} is left: {codes}. Widen the routing object, or name another model.",
        code="no_eligible_model",
    )


def _decision(
    request: ChatRequest,
    model: Model,
    effective: Effective,
    thinking_reason: str | None,
) -> Decision:
    unverified = (
        request.response_format is not None
        and request.response_format.type == "json_schema"
        and model.abilities.structured_output is StructuredOutput.UNVERIFIED
    )
    return Decision(
        pick=model.id,
        policy=effective.policy.name,
        optimize=effective.optimize,
        alternatives=(Alternative(model.id, score=1.0),),
        reasoning=f"The request named {model.id}.",
        thinking="on" if thinking_reason else None,
        thinking_reason=thinking_reason,
        structured_output="unverified" if unverified else None,
    )
