"""Whether a model thinks on a request, and how much it then usually does."""

from dataclasses import replace

import pytest

from core.catalog.model import Abilities, Thinking
from core.decision import Policy
from core.routing.thought import (
    USUAL_REASONING,
    ThinkingMode,
    thinking_mode,
    thinking_trait,
    with_default_thinking,
)
from tests.support.routing import make_request

OFF, DEFAULT, ON = ThinkingMode.OFF, ThinkingMode.DEFAULT, ThinkingMode.ON


@pytest.mark.parametrize(
    ("abilities", "thinks_when"),
    [
        (Abilities(thinking=Thinking.ALWAYS), {OFF, DEFAULT, ON}),
        (Abilities(thinking=Thinking.OPTIONAL), {ON}),
        (Abilities(thinking=Thinking.OPTIONAL, thinks_by_default=True), {DEFAULT, ON}),
        (Abilities(thinking=Thinking.NONE), set()),
    ],
)
def test_whether_a_model_thinks(abilities: Abilities, thinks_when: set[ThinkingMode]) -> None:
    trait = thinking_trait(replace(abilities, reasoning_tokens=700))
    assert {mode for mode in ThinkingMode if trait.thinks(mode)} == thinks_when
    assert {mode for mode in ThinkingMode if trait.tokens(mode) == 700} == thinks_when
    assert all(trait.tokens(mode) == 0 for mode in ThinkingMode if mode not in thinks_when)


def test_what_is_usual_where_the_catalog_does_not_say() -> None:
    assert thinking_trait(Abilities(thinking=Thinking.ALWAYS)).tokens(DEFAULT) == USUAL_REASONING


@pytest.mark.parametrize(
    ("extended_thinking", "effort", "mode"),
    [
        (None, None, DEFAULT),
        (None, "none", OFF),
        (None, "low", ON),
        (False, "high", OFF),
        (True, "none", ON),
        (True, None, ON),
    ],
)
def test_the_switch_wins_over_the_effort(
    extended_thinking: bool | None, effort: str | None, mode: ThinkingMode
) -> None:
    asked = make_request(extended_thinking=extended_thinking, reasoning_effort=effort)
    assert thinking_mode(asked) is mode


@pytest.mark.parametrize(
    ("said", "policy", "comes_to"),
    [
        ((None, None), (None, None), (None, None)),
        ((None, None), (False, None), (False, None)),
        ((None, None), (None, "high"), (None, "high")),
        ((None, None), (True, "low"), (True, "low")),
        ((True, None), (False, "low"), (True, "low")),
        ((False, None), (True, "low"), (False, None)),
        ((None, "none"), (True, "high"), (None, "none")),
        ((None, "high"), (False, "low"), (None, "high")),
    ],
)
def test_a_policys_thinking_holds_where_the_request_says_nothing(
    said: tuple[bool | None, str | None],
    policy: tuple[bool | None, str | None],
    comes_to: tuple[bool | None, str | None],
) -> None:
    request = make_request(extended_thinking=said[0], reasoning_effort=said[1])
    found = with_default_thinking(request, Policy(extended_thinking=policy[0], reasoning_effort=policy[1]))
    assert (found.extended_thinking, found.reasoning_effort) == comes_to
