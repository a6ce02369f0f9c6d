"""Decides whether and how hard a model is asked to think; each codec only says it in its format's words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from core.catalog.model import Format, Target, Thinking, ThinkingSwitch
from core.chat import ChatRequest

CLAUDE_SWITCHES: Final = frozenset(
    {
        *(ThinkingSwitch.BUDGET, ThinkingSwitch.ADAPTIVE),
        *(ThinkingSwitch.BETWEEN_TOOLS, ThinkingSwitch.EFFORT),
    }
)
"""The switches that Claude knows, on Anthropic's hosts and on Bedrock."""

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""`reasoning_effort` values, weakest first (OpenAI chat completions, read 2026-11-30)."""

LEAST_CLAUDE_BUDGET: Final = 1_024

# Wire reference, 7.2, read 2026-11-30.
_CLAUDE_BUDGETS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("minimal", "low"), 1_024),
    "medium": 8_192,
    **dict.fromkeys(("high", "xhigh", "max"), 24_576),
}
_DEFAULT_EFFORT: Final = "medium"

# Wire reference, section 7.2 (read 2026-11-30): `medium` becomes `high` where there is only low and high, `xhigh`
# becomes `high` where there is only high and max.
_UP_ON_A_TIE = ("minimal", "low", "medium")


@dataclass(frozen=True, slots=True)
class ThinkingWish:
    """What to ask of a model.

    `state` is `default` when nothing is said. `effort` is one of the model's own levels, or None. `ignored` is True
    when the caller asked for no thinking and the model cannot but think: nothing is sent then. `clamped` is True when
    `effort` is not the level that was asked for. `yielded` is True when the caller asked for thinking and for a tool
    call, and the model cannot do both: it is told not to think.
    """

    state: Literal["default", "on", "off"] = "default"
    effort: str | None = None
    ignored: bool = False
    clamped: bool = False
    yielded: bool = False


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
    if abilities.thinking is Thinking.OPTIONAL and _must_call(request, target):
        asked_on = request.extended_thinking is True or asked is not None
        return ThinkingWish(state="off", yielded=asked_on)
    effort, clamped = _nearest(asked if asked != "none" else None, abilities.efforts)
    wanted = request.extended_thinking is True or effort is not None
    return ThinkingWish(state="on" if wanted else "default", effort=effort, clamped=clamped)


def is_claude(target: Target) -> bool:
    """Whether Claude's rules about thinking hold at a target (wire reference, section 7.3, read 2026-11-30)."""
    speaks_claude = target.vendor.format in (Format.ANTHROPIC, Format.BEDROCK)
    return speaks_claude and target.host.thinking_switch in CLAUDE_SWITCHES


@dataclass(frozen=True, slots=True)
class ClaudeBudget:
    """Tokens for a Claude that thinks by budget; `cut` is True where the limit allows fewer than were meant."""

    tokens: int
    cut: bool


def claude_budget(effort: str | None, max_tokens: int) -> ClaudeBudget | None:
    """What to think with below a limit in tokens; None where even the least budget does not fit."""
    if max_tokens <= LEAST_CLAUDE_BUDGET:
        return None
    meant = _CLAUDE_BUDGETS[effort or _DEFAULT_EFFORT]
    # A quarter is left for the answer, where the least budget allows it.
    tokens = max(LEAST_CLAUDE_BUDGET, min(meant, max_tokens * 3 // 4))
    return ClaudeBudget(tokens, cut=tokens < meant)


def _must_call(request: ChatRequest, target: Target) -> bool:
    # Claude refuses to think and be made to call a tool at once.
    choice = request.tool_choice
    return choice is not None and choice.mode == "required" and is_claude(target)


def _nearest(asked: str | None, efforts: tuple[str, ...]) -> tuple[str | None, bool]:
    if asked is None:
        return None, False
    if not efforts:
        return asked, False
    if asked in efforts:
        return asked, False
    rank = EFFORTS.index(asked)

    def distance(effort: str) -> tuple[int, int]:
        steps = EFFORTS.index(effort) - rank
        # Of two levels that are equally near, up to medium the stronger one is meant, above it the weaker one.
        return abs(steps), -steps if asked in _UP_ON_A_TIE else steps

    return min(efforts, key=distance), True
