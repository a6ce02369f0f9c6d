"""Says in Claude's words whether, how hard and how visibly to think: one form for each kind of switch."""

from collections.abc import Mapping
from typing import Final

from core.catalog.model import Target, Thinking, ThinkingSwitch
from core.chat import ChatRequest, Json
from core.providers.thinking import ThinkingWish, claude_budget, wish

# Without it recent models show nothing of what they think.
_VISIBLE: Final = {"display": "summarized"}


def thinking_members(
    request: ChatRequest, target: Target, *, max_tokens: int, has_thinking: bool, in_loop: bool | None = None
) -> Mapping[str, Mapping[str, Json]]:
    """`thinking` and `output_config`, each only where there is something to say.

    Args:
        request: What the caller asks.
        target: Where it goes.
        max_tokens: The limit that is sent; a budget must stay below it.
        has_thinking: Whether the last turn with tool calls brings its thinking along.
        in_loop: Whether the prompt ends in tool results; the request tells when left out.
    """
    in_loop = request.mid_tool_loop if in_loop is None else in_loop
    wanted = wish(request, target)
    match target.host.thinking_switch:
        case ThinkingSwitch.BUDGET:
            # Mid tool loop, a model with a budget refuses a turn that does not begin with its thinking.
            if in_loop and not has_thinking:
                return {}
            thinking = _budget(wanted, max_tokens)
        case ThinkingSwitch.ADAPTIVE:
            thinking = _switch(wanted, target, off="disabled")
        case ThinkingSwitch.BETWEEN_TOOLS:
            thinking = _switch(wanted, target, off="between_tools")
        case ThinkingSwitch.EFFORT:
            thinking = _switch(wanted, target, off=None)
        case _:  # switches of other formats, and models that do not think
            return {}
    members: dict[str, Mapping[str, Json]] = {"thinking": thinking} if thinking else {}
    effort = _effort(wanted, target)
    if effort is not None:
        members["output_config"] = {"effort": effort}
    return members


def _budget(wanted: ThinkingWish, max_tokens: int) -> dict[str, Json]:
    budget = claude_budget(wanted.effort, max_tokens)
    if wanted.state != "on" or budget is None:
        return {}
    return {"type": "enabled", "budget_tokens": budget.tokens, **_VISIBLE}


def _switch(wanted: ThinkingWish, target: Target, *, off: str | None) -> dict[str, Json]:
    if wanted.state == "off":
        return {"type": off} if off else {}
    abilities = target.model.abilities
    thinks = wanted.state == "on" or abilities.thinks_by_default or abilities.thinking is Thinking.ALWAYS
    return {"type": "adaptive", **_VISIBLE} if thinks else {}


def _effort(wanted: ThinkingWish, target: Target) -> str | None:
    """The level to send. Models with a budget know none, unless the catalog lists some."""
    has_levels = target.host.thinking_switch is not ThinkingSwitch.BUDGET or bool(target.model.abilities.efforts)
    if wanted.effort is None or not has_levels:
        return None
    return "low" if wanted.effort == "minimal" else wanted.effort
