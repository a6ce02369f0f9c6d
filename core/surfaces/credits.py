"""What an organisation has left, what it spent and what it has agreed on, as it is answered."""

from dataclasses import asdict

from core.chat import Json
from core.tenant import Limits, Plan
from core.workspace import Workspace


def credits_object(
    workspace: Workspace, *, month: str, spent_micros: int, balance_micros: int | None, complete_until_ms: int | None
) -> dict[str, Json]:
    """The answer to `GET /credits`.

    Args:
        workspace: The organisation's.
        month: The month in UTC, like 2026-11.
        spent_micros: What was charged in it, in micro-dollars.
        balance_micros: What can still be spent of what was paid in, in micro-dollars; None unless credits are prepaid.
        complete_until_ms: Unix milliseconds before which every request is counted, or None.
    """
    return {
        "object": "credits",
        "balance_micros": balance_micros,
        "month": month,
        "spent_micros": spent_micros,
        "complete_until": None if complete_until_ms is None else complete_until_ms // 1_000,
        "plan": _plan(workspace.plan),
        "limits": _limits(workspace.organisation.limits),
    }


def _plan(plan: Plan) -> dict[str, Json]:
    return {
        "id": plan.id,
        "name": plan.name,
        "free": plan.is_free,
        "prepaid": plan.is_prepaid,
        "max_input_tokens": plan.max_input_tokens,
        "max_output_tokens": plan.max_output_tokens,
        "limits": _limits(plan.limits),
    }


def _limits(limits: Limits) -> dict[str, Json]:
    return asdict(limits)
