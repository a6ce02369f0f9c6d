"""How long a request and each of its attempts may take (the contract, section 2, "Timeouts")."""

from typing import Final

from core.catalog.model import Target
from core.decision import Budgets
from core.routing.policy import THINKING_DEADLINE_MS, WHOLE_DEADLINE_MS, WHOLE_FIRST_TOKEN_MS, Effective

WHOLE_SILENCE_S: Final = 30.0


def deadlines_s(effective: Effective, *, whole: bool, thinks: bool) -> tuple[float, float]:
    """The request's deadline in seconds, and the one that holds once a model was seen to think.

    Only values of the policy are raised; what the request itself set is honoured, as far as it shortens them.
    """
    asked = effective.deadline_ms / 1000
    if not whole:
        return asked, asked
    policy = effective.policy.deadline_ms
    thinking = max(policy, THINKING_DEADLINE_MS) / 1000
    deadline = thinking if thinks else max(policy, WHOLE_DEADLINE_MS) / 1000
    return (min(deadline, asked), min(thinking, asked)) if effective.asked_deadline else (deadline, thinking)


def attempt_budgets(effective: Effective, target: Target, *, whole: bool, thinks: bool) -> Budgets:
    """The budgets of one attempt.

    Args:
        effective: The narrowed policy.
        target: Where it goes; a host that hides its thinking looks silent while it thinks.
        whole: Whether the caller wants the answer in one piece.
        thinks: Whether thinking is on for this request, by catalog and switches.
    """
    first_token = effective.first_token_ms / 1000
    silence = WHOLE_SILENCE_S if whole else effective.stream_silence_s
    if thinks and not target.host.thinking_visible and not effective.asked_first_token:
        return Budgets(target.host.longest_thinking_s or THINKING_DEADLINE_MS / 1000, silence)
    if whole and not effective.asked_first_token:
        if thinks:
            return Budgets(None, silence, silence_before_token=True)
        first_token = max(first_token, WHOLE_FIRST_TOKEN_MS / 1000)
    return Budgets(first_token, silence)
