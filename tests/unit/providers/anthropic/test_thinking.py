"""Whether, how hard and how visibly Claude is asked to think, for each kind of switch."""

from typing import Any

import orjson
import pytest

from core.catalog.model import Abilities, Format, Target, Thinking, ThinkingSwitch
from core.chat import SealedThinking
from core.ports import ToolTurn
from core.providers.anthropic import AnthropicFormat
from core.providers.base import Prepared
from tests.support.requests import ask
from tests.support.targets import make_target, make_vendor

LEVELS = ("low", "medium", "high")
SHOWN = {"type": "adaptive", "display": "summarized"}


def target(switch: ThinkingSwitch, thinking: Thinking = Thinking.OPTIONAL, **abilities: Any) -> Target:
    return make_target(
        vendor=make_vendor(format=Format.ANTHROPIC),
        abilities=Abilities(tools=True, thinking=thinking, **abilities),
        max_output_tokens=64_000,
        context_tokens=200_000,
        thinking_switch=switch,
    )


def said(to: Target, messages: Any = "Hi.", *, turns: dict[str, ToolTurn] | None = None, **members: Any) -> Any:
    """`thinking` and the effort that go out."""
    sent = AnthropicFormat().encode(ask(messages, **members), to, Prepared(turns=turns or {}))
    body = orjson.loads(sent.body)
    return body.get("thinking"), body.get("output_config", {}).get("effort")


def budget(tokens: int) -> dict[str, Any]:
    return {"type": "enabled", "budget_tokens": tokens, "display": "summarized"}


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ({}, None),
        ({"extended_thinking": False}, None),
        ({"reasoning_effort": "none"}, None),
        ({"extended_thinking": True}, budget(8_192)),
        ({"reasoning_effort": "minimal"}, budget(1_024)),
        ({"reasoning_effort": "low"}, budget(1_024)),
        ({"reasoning_effort": "medium"}, budget(8_192)),
        ({"reasoning_effort": "high"}, budget(24_576)),
        ({"reasoning_effort": "max"}, budget(24_576)),
        ({"reasoning_effort": "high", "max_tokens": 8_000}, budget(6_000)),
        ({"reasoning_effort": "high", "max_tokens": 1_100}, budget(1_024)),
        ({"reasoning_effort": "high", "max_tokens": 1_025}, budget(1_024)),
        ({"reasoning_effort": "high", "max_tokens": 1_024}, None),
    ],
)
def test_a_budget_below_the_limit(asked: dict[str, Any], sent: Any) -> None:
    assert said(target(ThinkingSwitch.BUDGET), **asked) == (sent, None)


def test_a_model_with_a_budget_and_levels_gets_both() -> None:
    both = target(ThinkingSwitch.BUDGET, efforts=LEVELS)
    assert said(both, reasoning_effort="high") == (budget(24_576), "high")


@pytest.mark.parametrize(
    ("switch", "off"), [(ThinkingSwitch.ADAPTIVE, "disabled"), (ThinkingSwitch.BETWEEN_TOOLS, "between_tools")]
)
def test_a_switch(switch: ThinkingSwitch, off: str) -> None:
    plain, thinker = target(switch, efforts=LEVELS), target(switch, efforts=LEVELS, thinks_by_default=True)
    assert said(plain) == (None, None)
    assert said(thinker) == (SHOWN, None)
    assert said(plain, extended_thinking=True) == (SHOWN, None)
    assert said(plain, reasoning_effort="high") == (SHOWN, "high")
    assert said(plain, reasoning_effort="max") == (SHOWN, "high")
    assert said(thinker, extended_thinking=False) == ({"type": off}, None)
    assert said(thinker, reasoning_effort="none") == ({"type": off}, None)
    assert said(thinker, extended_thinking=False, reasoning_effort="high") == ({"type": off}, None)


def test_effort_alone_where_thinking_cannot_be_switched_off() -> None:
    always = target(ThinkingSwitch.EFFORT, Thinking.ALWAYS)
    assert said(always) == (SHOWN, None)
    assert said(always, extended_thinking=False) == (SHOWN, None)
    assert said(always, reasoning_effort="minimal") == (SHOWN, "low")
    assert said(always, reasoning_effort="xhigh") == (SHOWN, "xhigh")


def test_a_catalog_that_says_effort_only_of_a_model_with_a_choice_gets_no_switch() -> None:
    assert said(target(ThinkingSwitch.EFFORT), extended_thinking=False) == (None, None)


def test_a_model_that_does_not_think_is_told_nothing() -> None:
    assert said(target(ThinkingSwitch.NONE, Thinking.NONE), reasoning_effort="high") == (None, None)


def test_a_forced_call_goes_before_thinking() -> None:
    tools = [{"type": "function", "function": {"name": "f"}}]
    asked: dict[str, Any] = {"tools": tools, "tool_choice": "required", "reasoning_effort": "high"}
    assert said(target(ThinkingSwitch.BUDGET), **asked) == (None, None)
    assert said(target(ThinkingSwitch.ADAPTIVE), **asked) == ({"type": "disabled"}, None)


def loop(*more: dict[str, Any]) -> list[dict[str, Any]]:
    calls = [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    return [
        {"role": "user", "content": "A"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "call_1", "content": "ok"},
        *more,
    ]


@pytest.mark.parametrize("more", [[], [{"role": "user", "content": ""}], [{"role": "user", "content": "B"}]])
def test_a_model_with_a_budget_thinks_in_a_tool_loop_only_if_its_thinking_is_there(more: list[dict[str, Any]]) -> None:
    to = target(ThinkingSwitch.BUDGET)
    kept = ToolTurn(to.model.id, to.name, (SealedThinking("Hm.", "c2ln"),))
    assert said(to, loop(*more), extended_thinking=True) == (None, None)
    assert said(to, loop(*more), extended_thinking=True, turns={"call_1": kept}) == (budget(8_192), None)


def test_other_models_think_in_a_tool_loop_without_it() -> None:
    assert said(target(ThinkingSwitch.ADAPTIVE), loop(), extended_thinking=True) == (SHOWN, None)


def test_a_loop_that_has_ended_asks_for_nothing() -> None:
    ended = loop({"role": "assistant", "content": "Done."}, {"role": "user", "content": "B"})
    assert said(target(ThinkingSwitch.BUDGET), ended, extended_thinking=True) == (budget(8_192), None)
