"""Turns an order of targets into the plan to walk: budgets for each, deadlines for all."""

from collections.abc import Sequence

from core.catalog.model import Target
from core.chat import ChatRequest
from core.decision import Leg, Plan
from core.routing.budgets import attempt_budgets, deadlines_s
from core.routing.policy import Effective
from core.routing.thought import thinking_mode, thinking_trait


def make_plan(request: ChatRequest, targets: Sequence[Target], effective: Effective) -> Plan:
    """The plan that asks these targets, in order.

    Args:
        request: What the caller asks.
        targets: At least one; the plan may have more than it has attempts, for failures that skip some.
        effective: The narrowed policy.
    """
    whole = not request.stream
    mode = thinking_mode(request)
    thinking = [thinking_trait(target.model.abilities).thinks(mode) for target in targets]
    deadline, thinking_deadline = deadlines_s(effective, whole=whole, thinks=any(thinking))
    return Plan(
        legs=tuple(
            Leg(target, attempt_budgets(effective, target, whole=whole, thinks=thinks))
            for target, thinks in zip(targets, thinking, strict=True)
        ),
        deadline_s=deadline,
        thinking_deadline_s=thinking_deadline,
        whole=whole,
        hold_reasoning=request.stream and request.extended_thinking is False,
        max_attempts=effective.max_attempts,
        may_be_empty=bool(request.stop),
    )
