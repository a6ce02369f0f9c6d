"""Thinking switches: Claude's in its own words, other models' native fields."""

from typing import Any

import pytest

from core.catalog.model import Abilities, Format, Target, Thinking, ThinkingSwitch
from core.providers.bedrock.thinking import ThinkingMembers, thinking_members
from tests.support.requests import ask
from tests.support.targets import make_target, make_vendor

VISIBLE = {"type": "adaptive", "display": "summarized"}


def target(switch: ThinkingSwitch, thinking: Thinking = Thinking.OPTIONAL, **can: Any) -> Target:
    vendor = make_vendor(format=Format.BEDROCK)
    return make_target(
        vendor=vendor,
        abilities=Abilities(tools=True, thinking=thinking, **can),
        thinking_switch=switch,
        max_output_tokens=64_000,
    )


def said(to: Target, **members: Any) -> ThinkingMembers:
    return thinking_members(ask(**members), to, has_thinking=False)


@pytest.mark.parametrize(
    ("switch", "off"),
    [
        (ThinkingSwitch.ADAPTIVE, {"thinking": {"type": "disabled"}}),
        (ThinkingSwitch.BETWEEN_TOOLS, {"thinking": {"type": "between_tools"}}),
        (ThinkingSwitch.BUDGET, {}),
    ],
)
def test_claude_is_told_in_its_own_words(switch: ThinkingSwitch, off: dict[str, Any]) -> None:
    to = target(switch)
    assert said(to) == ThinkingMembers()
    assert said(to, extended_thinking=False) == ThinkingMembers(off, {})


def test_effort_has_a_place_of_its_own() -> None:
    made = said(target(ThinkingSwitch.ADAPTIVE), reasoning_effort="high")
    assert made == ThinkingMembers({"thinking": VISIBLE}, {"effort": "high"})
    always = target(ThinkingSwitch.EFFORT, Thinking.ALWAYS)
    assert said(always, reasoning_effort="minimal") == ThinkingMembers({"thinking": VISIBLE}, {"effort": "low"})
    assert said(always, extended_thinking=False) == ThinkingMembers({"thinking": VISIBLE}, {})


@pytest.mark.parametrize(
    ("members", "budget"),
    [
        ({"extended_thinking": True}, 8_192),
        ({"reasoning_effort": "high"}, 24_576),
        ({"reasoning_effort": "low", "max_tokens": 4_000}, 1_024),
        ({"reasoning_effort": "high", "max_tokens": 4_000}, 3_000),
        ({"reasoning_effort": "high", "max_tokens": 1_024}, None),
    ],
)
def test_budgets_stay_below_the_limit(members: dict[str, Any], budget: int | None) -> None:
    made = said(target(ThinkingSwitch.BUDGET), **members)
    thinking = {"type": "enabled", "budget_tokens": budget, "display": "summarized"}
    assert made == (ThinkingMembers() if budget is None else ThinkingMembers({"thinking": thinking}, {}))


@pytest.mark.parametrize("has_thinking", [True, False])
def test_a_budget_needs_the_thinking_of_the_loop(has_thinking: bool) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}
    loop = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "b"},
    ]
    made = thinking_members(ask(loop, extended_thinking=True), target(ThinkingSwitch.BUDGET), has_thinking=has_thinking)
    assert bool(made.additional) == has_thinking


@pytest.mark.parametrize(
    ("switch", "members", "additional"),
    [
        (ThinkingSwitch.REASONING_EFFORT, {"reasoning_effort": "low"}, {"reasoning_effort": "low"}),
        (ThinkingSwitch.THINKING_TYPE, {"extended_thinking": True}, {"thinking": {"type": "enabled"}}),
        (ThinkingSwitch.ENABLE_THINKING, {"extended_thinking": False}, {"enable_thinking": False}),
        (ThinkingSwitch.NONE, {"extended_thinking": True}, {}),
        (ThinkingSwitch.THINKING_TYPE, {}, {}),
    ],
)
def test_others_have_native_fields(switch: ThinkingSwitch, members: dict[str, Any], additional: dict[str, Any]) -> None:
    assert said(target(switch), **members) == ThinkingMembers(additional, {})
