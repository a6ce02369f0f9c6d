"""Says in Gemini's words whether and how hard to think: a budget in tokens, or a level; never both.

Gemini API reference, "Thinking", and wire reference, sections 7.1 to 7.6, read 2026-11-30.
"""

from collections.abc import Mapping
from typing import Final

from core.catalog.model import Target, Thinking, ThinkingSwitch
from core.chat import ChatRequest, Json
from core.providers.thinking import wish

# Google's own for its OpenAI endpoint; the ends lie within the range of every model that takes a budget.
_BUDGETS: Final[Mapping[str, int]] = {
    "minimal": 512,
    "low": 1_024,
    "medium": 8_192,
    "high": 24_576,
    "xhigh": 24_576,
    "max": 24_576,
}
_AUTOMATIC: Final = -1
_NONE: Final = 0

_LEVELS: Final[Mapping[str, str]] = {
    "minimal": "MINIMAL",
    "low": "LOW",
    "medium": "MEDIUM",
    "high": "HIGH",
    "xhigh": "XHIGH",
    "max": "XHIGH",
}


def thinking_config(request: ChatRequest, target: Target) -> dict[str, Json]:
    """The `thinkingConfig`; empty for models that do not think, which answer it with an error."""
    if target.model.abilities.thinking is Thinking.NONE:
        return {}
    wanted = wish(request, target)
    if wanted.state == "off":
        return _off(target)
    config: dict[str, Json] = {}
    if target.host.thinking_visible:
        # Thoughts are billed either way, but only shown on request.
        config["includeThoughts"] = True
    if wanted.state == "on" and target.host.thinking_switch is ThinkingSwitch.BUDGET:
        config["thinkingBudget"] = _BUDGETS[wanted.effort] if wanted.effort else _AUTOMATIC
    elif wanted.effort and target.host.thinking_switch is ThinkingSwitch.LEVEL:
        config["thinkingLevel"] = _LEVELS[wanted.effort]
    return config


def signs_calls(target: Target) -> bool:
    """Whether a model refuses tool steps of the current turn without its signature.

    Those of Gemini 3 and later do, and those are the ones that take a level.
    """
    return target.host.thinking_switch is ThinkingSwitch.LEVEL


def _off(target: Target) -> dict[str, Json]:
    match target.host.thinking_switch:
        case ThinkingSwitch.BUDGET:
            return {"thinkingBudget": _NONE}
        case ThinkingSwitch.LEVEL:
            weakest = next((effort for effort in target.model.abilities.efforts if effort in _LEVELS), "minimal")
            return {"thinkingLevel": _LEVELS[weakest]}
        case _:
            return {}
