"""Abilities are what somebody says; a schema is verified when someone says so and nobody denies it."""

from typing import Any

import pytest

from core.catalog.model import Abilities, StructuredOutput, Thinking
from functions.local.catalog.overlay import OverlayModel
from functions.local.catalog.sources.offer import Offer
from functions.local.catalog.states import OPENAI_SAMPLING, SAMPLING, abilities, at_effort


def says(efforts: tuple[str, ...] | None = None, /, **states: bool) -> Offer:
    return Offer("a source", "2026-11-30", "m", states=states, efforts=efforts)


def able(*offers: Offer, owner: str = "lab", elsewhere: tuple[Offer, ...] = (), **overlay: Any) -> Abilities:
    model = OverlayModel.model_validate({"id": "lab/m", "name": "M", "hosts": {"lab": "m"}, **overlay})
    return abilities(owner, model, offers, (*offers, *elsewhere))


def test_what_nobody_says_is_no_ability() -> None:
    assert able() == Abilities(structured_output=StructuredOutput.UNVERIFIED)


def test_the_first_word_counts_and_the_overlay_before_all() -> None:
    first, second = says(tools=True, vision=False), says(vision=True, documents=True)
    assert (able(first, second).tools, able(first, second).vision, able(first, second).documents) == (True, False, True)
    assert able(first, abilities={"vision": True, "choices": 8}).vision
    assert able(first, abilities={"choices": 8}).choices == 8


def test_parallel_calls_come_with_tools_unless_denied() -> None:
    assert able(says(tools=True)).parallel_tools
    assert not able(says(tools=True, parallel_tools=False)).parallel_tools
    assert not able(says(parallel_tools=True)).parallel_tools


@pytest.mark.parametrize(
    ("home", "elsewhere", "expected"),
    [
        ((), (), StructuredOutput.UNVERIFIED),
        ((True,), (), StructuredOutput.VERIFIED),
        ((True, True), (False,), StructuredOutput.VERIFIED),
        ((True, False), (), StructuredOutput.UNVERIFIED),
        ((False,), (), StructuredOutput.NONE),
        ((False, False), (False,), StructuredOutput.NONE),
        ((False,), (True,), StructuredOutput.UNVERIFIED),
    ],
)
def test_schemas(home: tuple[bool, ...], elsewhere: tuple[bool, ...], expected: StructuredOutput) -> None:
    found = able(
        *(says(structured_output=each) for each in home),
        elsewhere=tuple(says(structured_output=each) for each in elsewhere),
    )
    assert found.structured_output is expected
    assert found.json_mode is (expected is StructuredOutput.VERIFIED)


@pytest.mark.parametrize(
    ("states", "overlay", "expected"),
    [
        ({}, {}, Thinking.NONE),
        ({"thinking": False}, {}, Thinking.NONE),
        ({"thinking": True}, {}, Thinking.OPTIONAL),
        ({"thinking": True, "always_thinks": True}, {}, Thinking.ALWAYS),
        ({"thinking": True, "can_be_silenced": False}, {}, Thinking.ALWAYS),
        ({"thinking": True, "can_be_silenced": True}, {}, Thinking.OPTIONAL),
        ({"thinking": True, "always_thinks": True}, {"thinking": "optional"}, Thinking.OPTIONAL),
    ],
)
def test_thinking(states: dict[str, bool], overlay: dict[str, Any], expected: Thinking) -> None:
    assert able(says(**states), **overlay).thinking is expected


def test_whether_a_model_thinks_when_it_is_told_nothing() -> None:
    thinks = says(thinking=True)
    assert not able(thinks).thinks_by_default
    assert able(says(thinking=True, thinks_by_default=True)).thinks_by_default
    assert able(thinks, default_effort="medium").thinks_by_default
    assert not able(thinks, default_effort="none").thinks_by_default
    assert able(thinks, thinks_by_default=True).thinks_by_default
    assert not able(thinks, thinking="always", default_effort="high").thinks_by_default


def test_room_for_thinking_is_planned_where_a_model_thinks_unasked() -> None:
    thinks = says(thinking=True)
    assert able(thinks).reasoning_tokens is None
    assert able(thinks, thinking="always").reasoning_tokens == 2_048
    assert able(thinks, thinking="always", default_effort="high").reasoning_tokens == 6_144
    assert able(thinks, default_effort="low").reasoning_tokens == 256


def test_efforts_are_ordered_and_without_the_one_that_means_off() -> None:
    assert able(says(("high", "none", "low"), thinking=True)).efforts == ("low", "high")
    assert able(says(None, thinking=True), says(("max",))).efforts == ("max",)
    assert able(says(("low",), thinking=True), efforts=("high",)).efforts == ("high",)
    assert able(says(("low",), thinking=False)).efforts == ()


def test_a_model_without_sampling_refuses_its_parameters() -> None:
    assert able(says(sampling=False)).refuses == SAMPLING
    assert able(says(sampling=False), owner="openai").refuses == OPENAI_SAMPLING
    assert able(says(sampling=False), sampling=True, refuses=("stop",)).refuses == {"stop"}
    assert able(says(sampling=True), sampling=False).refuses == SAMPLING


def test_a_variant_thinks_always_and_this_hard() -> None:
    plain = able(says(("low", "high"), thinking=True, tools=True), default_effort="low")
    variant = at_effort(plain, "high")
    assert (variant.thinking, variant.efforts, variant.reasoning_tokens) == (Thinking.ALWAYS, ("high",), 6_144)
    assert variant.tools
    assert not variant.thinks_by_default
