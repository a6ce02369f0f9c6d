"""Switches of thinking, in every host's words."""

from typing import Any

import orjson
import pytest

from core.catalog.model import Abilities, Quirk, Thinking, ThinkingSwitch
from core.providers.base import Prepared
from core.providers.openai import OpenAIFormat
from tests.support.requests import ask
from tests.support.targets import make_target, make_vendor

LEVELS = ("none", "low", "high", "max")
ON: dict[str, Any] = {"extended_thinking": True}
OFF: dict[str, Any] = {"extended_thinking": False}
SWITCHES = ("reasoning_effort", "thinking", "enable_thinking", "chat_template_kwargs", "reasoning", "reasoning_format")


def said(
    asked: dict[str, Any],
    switch: ThinkingSwitch = ThinkingSwitch.NONE,
    *quirks: Quirk,
    thinking: Thinking = Thinking.OPTIONAL,
    efforts: tuple[str, ...] = (),
    options: dict[str, Any] | None = None,
) -> dict[str, Any]:
    to = make_target(
        vendor=make_vendor(quirks=frozenset(quirks)),
        abilities=Abilities(thinking=thinking, efforts=efforts),
        thinking_switch=switch,
        options=options or {},
    )
    body = orjson.loads(OpenAIFormat().encode(ask(**asked), to, Prepared()).body)
    return {name: body[name] for name in SWITCHES if name in body}


@pytest.mark.parametrize("switch", list(ThinkingSwitch))
def test_nothing_is_said_when_nothing_is_asked(switch: ThinkingSwitch) -> None:
    assert said({}, switch) == {}
    assert said(OFF, switch, thinking=Thinking.ALWAYS) == {}
    assert said(ON, switch, thinking=Thinking.NONE) == {}


@pytest.mark.parametrize(
    ("switch", "on", "off"),
    [
        (ThinkingSwitch.REASONING_EFFORT, {"reasoning_effort": "medium"}, {"reasoning_effort": "none"}),
        (ThinkingSwitch.DEFAULT_OR_NONE, {"reasoning_effort": "default"}, {"reasoning_effort": "none"}),
        (ThinkingSwitch.THINKING_TYPE, {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}),
        (ThinkingSwitch.THINKING_ADAPTIVE, {"thinking": {"type": "adaptive"}}, {"thinking": {"type": "disabled"}}),
        (ThinkingSwitch.ENABLE_THINKING, {"enable_thinking": True}, {"enable_thinking": False}),
        (
            ThinkingSwitch.TEMPLATE_ENABLE_THINKING,
            {"chat_template_kwargs": {"enable_thinking": True}},
            {"chat_template_kwargs": {"enable_thinking": False}},
        ),
        (
            ThinkingSwitch.TEMPLATE_THINKING,
            {"chat_template_kwargs": {"thinking": True}},
            {"chat_template_kwargs": {"thinking": False}},
        ),
        (ThinkingSwitch.REASONING_ENABLED, {"reasoning": {"enabled": True}}, {"reasoning": {"enabled": False}}),
        (ThinkingSwitch.REASONING_OBJECT, {"reasoning": {"enabled": True}}, {"reasoning": {"enabled": False}}),
        (ThinkingSwitch.NONE, {}, {}),
        (ThinkingSwitch.BUDGET, {}, {}),
    ],
)
def test_every_switch_has_its_words(switch: ThinkingSwitch, on: dict[str, Any], off: dict[str, Any]) -> None:
    assert said(ON, switch) == on
    assert said(OFF, switch) == off
    assert said({"reasoning_effort": "none"}, switch) == off


@pytest.mark.parametrize(
    ("switch", "expected"),
    [
        (ThinkingSwitch.REASONING_EFFORT, {"reasoning_effort": "high"}),
        (ThinkingSwitch.REASONING_OBJECT, {"reasoning": {"enabled": True, "effort": "high"}}),
        (ThinkingSwitch.THINKING_TYPE, {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
        (ThinkingSwitch.REASONING_ENABLED, {"reasoning": {"enabled": True}, "reasoning_effort": "high"}),
    ],
)
def test_strength_goes_with_the_switch(switch: ThinkingSwitch, expected: dict[str, Any]) -> None:
    assert said({"reasoning_effort": "xhigh"}, switch, efforts=LEVELS) == expected


def test_no_strength_where_the_model_has_none() -> None:
    asked = {"reasoning_effort": "high"}
    assert said(asked, ThinkingSwitch.ENABLE_THINKING) == {"enable_thinking": True}
    assert said(asked, ThinkingSwitch.DEFAULT_OR_NONE) == {"reasoning_effort": "default"}


def test_thinking_without_a_level_asks_for_a_middle_one() -> None:
    assert said(ON, ThinkingSwitch.REASONING_EFFORT, efforts=LEVELS) == {"reasoning_effort": "low"}
    assert said(ON, ThinkingSwitch.REASONING_EFFORT, efforts=("none", "high")) == {"reasoning_effort": "high"}


def test_thinking_is_shown_where_it_must_be_asked_for() -> None:
    parsed = {"reasoning_format": "parsed"}
    assert said({}, ThinkingSwitch.NONE, Quirk.PARSED_REASONING) == parsed
    assert said({}, ThinkingSwitch.NONE, Quirk.PARSED_REASONING, thinking=Thinking.NONE) == {}
    assert said(OFF, ThinkingSwitch.DEFAULT_OR_NONE, Quirk.PARSED_REASONING) == {"reasoning_effort": "none"}


def test_a_template_keeps_the_operators_other_arguments() -> None:
    options = {"chat_template_kwargs": {"tone": "dry", "enable_thinking": True}}
    made = said(OFF, ThinkingSwitch.TEMPLATE_ENABLE_THINKING, options=options)
    assert made == {"chat_template_kwargs": {"tone": "dry", "enable_thinking": False}}
