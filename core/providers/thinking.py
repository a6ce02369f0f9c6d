"""Decides whether and how hard a model is asked to think; each codec only says it in its format's words."""

from dataclasses import dataclass
from typing import Literal

from core.catalog.model import Target, Thinking
from core.chat import ChatRequest

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""`reasoning_effort` values, weakest first (OpenAI chat completions, read 2026-11-30)."""


@dataclass(frozen=True, slots=True)
class ThinkingWish:
    """What to ask of a model.

    `state` is `default` when nothing is said. `effort` is one of the model's own levels, or None. `ignored` is True when
    the caller asked for no thinking and the model cannot but think: nothing is sent then. `clamped` is True when
    `effort` is not the level that was asked for.
    """

    state: Literal["default", "on", "off"] = "default"
    effort: str | None = None
    ignored: bool = False
    clamped: bool = False


def wish(request: ChatRequest, target: Target) -> ThinkingWish:
    """Resolve `extended_thinking` and `reasoning_effort` for a model (the contract, sections 2 and 3).

    `extended_thinking: false` wins over an effort; an effort of `none` means the same as `false`.
    """
    abilities = target.model.abilities
    asked = request.reasoning_effort
    off = request.extended_thinking is False or (asked == "none" and request.extended_thinking is None)
    if abilities.thinking is Thinking.NONE:
        return ThinkingWish()
    if off:
        if abilities.thinking is Thinking.ALWAYS:
            return ThinkingWish(ignored=True)
        return ThinkingWish(state="off")
    effort, clamped = _nearest(asked if asked != "none" else None, abilities.efforts)
    wanted = request.extended_thinking is True or effort is not None
    return ThinkingWish(state="on" if wanted else "default", effort=effort, clamped=clamped)


def _nearest(asked: str | None, efforts: tuple[str, ...]) -> tuple[str | None, bool]:
    if asked is None:
        return None, False
    if not efforts:
        return asked, False
    if asked in efforts:
        return asked, False
    rank = EFFORTS.index(asked)
    return min(efforts, key=lambda effort: (abs(EFFORTS.index(effort) - rank), EFFORTS.index(effort))), True
