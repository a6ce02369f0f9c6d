"""Says in a host's words whether and how hard to think: one set of members for each kind of switch."""

from collections.abc import Mapping

from core.catalog.model import Quirk, Target, Thinking, ThinkingSwitch
from core.chat import ChatRequest, Json
from core.providers.thinking import EFFORTS, ThinkingWish, wish

_DEFAULT_EFFORT = "medium"


def thinking_members(request: ChatRequest, target: Target) -> Mapping[str, Json]:
    """Members to merge into the body; empty when the model is to do as it likes."""
    wanted = wish(request, target)
    members: dict[str, Json] = {}
    if wanted.state != "default":
        members = _switch(target.host.thinking_switch, wanted, target)
    can_think = target.model.abilities.thinking is not Thinking.NONE
    if target.has(Quirk.PARSED_REASONING) and can_think and wanted.state != "off":
        members["reasoning_format"] = "parsed"
    return members


def is_off(request: ChatRequest, target: Target) -> bool:
    """Whether the model is told not to think."""
    return wish(request, target).state == "off"


def _switch(kind: ThinkingSwitch, wanted: ThinkingWish, target: Target) -> dict[str, Json]:
    on = wanted.state == "on"
    match kind:
        case ThinkingSwitch.REASONING_EFFORT:
            return {"reasoning_effort": (wanted.effort or _middle(target)) if on else "none"}
        case ThinkingSwitch.DEFAULT_OR_NONE:
            return {"reasoning_effort": "default" if on else "none"}
        case ThinkingSwitch.REASONING_OBJECT:
            return {"reasoning": _with_effort({"enabled": on}, "effort", wanted)}
        case ThinkingSwitch.THINKING_TYPE:
            members: dict[str, Json] = {"thinking": {"type": "enabled" if on else "disabled"}}
        case ThinkingSwitch.THINKING_ADAPTIVE:
            members = {"thinking": {"type": "adaptive" if on else "disabled"}}
        case ThinkingSwitch.ENABLE_THINKING:
            members = {"enable_thinking": on}
        case ThinkingSwitch.TEMPLATE_ENABLE_THINKING:
            members = {"chat_template_kwargs": {"enable_thinking": on}}
        case ThinkingSwitch.TEMPLATE_THINKING:
            members = {"chat_template_kwargs": {"thinking": on}}
        case ThinkingSwitch.REASONING_ENABLED:
            members = {"reasoning": {"enabled": on}}
        case _:  # switches of other formats, and hosts without one
            return {}
    # A strength beside the switch only where the catalog says that the model has strengths.
    return _with_effort(members, "reasoning_effort", wanted) if target.model.abilities.efforts else members


def _with_effort(members: dict[str, Json], name: str, wanted: ThinkingWish) -> dict[str, Json]:
    if wanted.effort is not None:
        members[name] = wanted.effort
    return members


def _middle(target: Target) -> str:
    """The level to ask for when thinking is wanted and no level was named."""
    levels = [effort for effort in target.model.abilities.efforts if effort != "none"]
    middle = EFFORTS.index(_DEFAULT_EFFORT)
    return min(levels, key=lambda level: abs(EFFORTS.index(level) - middle), default=_DEFAULT_EFFORT)
