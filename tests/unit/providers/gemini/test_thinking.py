"""Whether and how hard to think, in Gemini's words."""

from typing import Any

import pytest

from core.catalog.model import Abilities, Format, Target, Thinking, ThinkingSwitch
from core.providers.gemini.thinking import signs_calls, thinking_config
from tests.support.requests import ask
from tests.support.targets import make_target, make_vendor

SHOWN = {"includeThoughts": True}
LEVELS = ("minimal", "low", "medium", "high", "xhigh")


def target(
    switch: ThinkingSwitch, thinking: Thinking = Thinking.OPTIONAL, efforts: tuple[str, ...] = (), **host: Any
) -> Target:
    return make_target(
        vendor=make_vendor(format=Format.GEMINI),
        abilities=Abilities(thinking=thinking, efforts=efforts),
        thinking_switch=switch,
        **host,
    )


BUDGET = target(ThinkingSwitch.BUDGET)
LEVEL = target(ThinkingSwitch.LEVEL, efforts=LEVELS)


@pytest.mark.parametrize(
    ("effort", "budget"),
    [("minimal", 512), ("low", 1024), ("medium", 8192), ("high", 24576), ("xhigh", 24576), ("max", 24576)],
)
def test_an_effort_is_a_budget(effort: str, budget: int) -> None:
    assert thinking_config(ask(reasoning_effort=effort), BUDGET) == {**SHOWN, "thinkingBudget": budget}


@pytest.mark.parametrize(
    ("effort", "level"),
    [
        ("minimal", "MINIMAL"),
        ("low", "LOW"),
        ("medium", "MEDIUM"),
        ("high", "HIGH"),
        ("xhigh", "XHIGH"),
        ("max", "XHIGH"),
    ],
)
def test_an_effort_is_a_level(effort: str, level: str) -> None:
    assert thinking_config(ask(reasoning_effort=effort), LEVEL) == {**SHOWN, "thinkingLevel": level}


@pytest.mark.parametrize("to", [BUDGET, LEVEL, target(ThinkingSwitch.NONE, Thinking.ALWAYS)])
def test_thoughts_are_shown_where_nothing_is_said(to: Target) -> None:
    assert thinking_config(ask(), to) == SHOWN


def test_thinking_without_a_strength_is_the_models_own() -> None:
    request = ask(extended_thinking=True)
    assert thinking_config(request, BUDGET) == {**SHOWN, "thinkingBudget": -1}
    assert thinking_config(request, LEVEL) == SHOWN
    assert thinking_config(request, target(ThinkingSwitch.NONE)) == SHOWN


@pytest.mark.parametrize("asked", [{"reasoning_effort": "none"}, {"extended_thinking": False}])
def test_off(asked: dict[str, Any]) -> None:
    request = ask(**asked)
    assert thinking_config(request, BUDGET) == {"thinkingBudget": 0}
    assert thinking_config(request, LEVEL) == {"thinkingLevel": "MINIMAL"}
    assert thinking_config(request, target(ThinkingSwitch.LEVEL, efforts=("none", "low"))) == {"thinkingLevel": "LOW"}
    assert thinking_config(request, target(ThinkingSwitch.LEVEL)) == {"thinkingLevel": "MINIMAL"}
    assert thinking_config(request, target(ThinkingSwitch.NONE)) == {}


@pytest.mark.parametrize("switch", [ThinkingSwitch.BUDGET, ThinkingSwitch.LEVEL])
def test_a_model_that_must_think_is_told_nothing(switch: ThinkingSwitch) -> None:
    always = target(switch, Thinking.ALWAYS, LEVELS)
    assert thinking_config(ask(extended_thinking=False, reasoning_effort="high"), always) == SHOWN


def test_a_model_that_does_not_think_is_told_nothing() -> None:
    dumb = target(ThinkingSwitch.NONE, Thinking.NONE)
    assert thinking_config(ask(reasoning_effort="high", extended_thinking=True), dumb) == {}


def test_hidden_thoughts_are_not_asked_for() -> None:
    assert thinking_config(ask(), target(ThinkingSwitch.BUDGET, thinking_visible=False)) == {}


def test_models_that_take_a_level_sign_their_calls() -> None:
    assert signs_calls(LEVEL)
    assert not signs_calls(BUDGET)
