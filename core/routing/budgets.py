"""How long a request and each of its attempts may take (the contract, section 2, "Timeouts")."""

from core.catalog.model import Target, Thinking
from core.decision import Budgets
from core.routing.policy import Effective

WHOLE_FIRST_TOKEN_S = 60.0
WHOLE_DEADLINE_S = 90.0
WHOLE_SILENCE_S = 30.0
THINKING_DEADLINE_S = 590.0
STREAM_SILENCE_S = 60.0


def deadlines_s(effective: Effective, *, whole: bool, thinks: bool) -> tuple[float, float]:
    """The request's deadline in seconds, and the one that holds once a model was seen to think.

    Only values of the policy are raised; what the request itself set is honoured as it is.
    """
    deadline = effective.deadline_ms / 1000
    if effective.asked_deadline or not whole:
        return deadline, deadline
    thinking = max(deadline, THINKING_DEADLINE_S)
    return (thinking if thinks else max(deadline, WHOLE_DEADLINE_S)), thinking


def attempt_budgets(effective: Effective, target: Target, *, whole: bool, thinks: bool) -> Budgets:
    """The budgets of one attempt.

    Args:
        effective: The narrowed policy.
        target: Where it goes; a host that hides its thinking looks silent while it thinks.
        whole: Whether the caller wants the answer in one piece.
        thinks: Whether thinking is on for this request, by catalog and switches.
    """
    first_token: float | None = effective.first_token_ms / 1000
    silence = WHOLE_SILENCE_S if whole else STREAM_SILENCE_S
    if thinks and not target.host.thinking_visible and not effective.asked_first_token:
        return Budgets(target.host.longest_thinking_s or THINKING_DEADLINE_S, silence)
    if whole and not effective.asked_first_token:
        if thinks:
            return Budgets(None, silence, silence_before_token=True)
        first_token = max(first_token or 0.0, WHOLE_FIRST_TOKEN_S)
    return Budgets(first_token, silence)


def thinks(target: Target, *, switched_on: bool, switched_off: bool) -> bool:
    """Whether a model will think on this request, by catalog and switches."""
    abilities = target.model.abilities
    if abilities.thinking is Thinking.OPTIONAL:
        return (switched_on or abilities.thinks_by_default) and not switched_off
    return abilities.thinking is Thinking.ALWAYS
