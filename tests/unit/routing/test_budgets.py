"""The table of the contract's section 2, "Timeouts", row by row."""

import pytest

from core.catalog.model import Abilities, Thinking
from core.decision import BUILT_IN_POLICY, Budgets, Preferences
from core.routing.budgets import attempt_budgets, deadlines_s, thinks
from core.routing.policy import narrow
from tests.support.targets import make_target

PLAIN = narrow(BUILT_IN_POLICY, Preferences())
ASKED = narrow(BUILT_IN_POLICY, Preferences(first_token_ms=3_000, deadline_ms=7_000))
HIDDEN = make_target(thinking_visible=False, longest_thinking_s=200.0)
HIDDEN_FOR_UNKNOWN = make_target(thinking_visible=False)
TARGET = make_target()


@pytest.mark.parametrize(
    ("effective", "whole", "thinking", "expected"),
    [
        (PLAIN, False, False, (120.0, 120.0)),
        (PLAIN, False, True, (120.0, 120.0)),
        (PLAIN, True, False, (120.0, 590.0)),
        (PLAIN, True, True, (590.0, 590.0)),
        (ASKED, True, True, (7.0, 7.0)),
        (ASKED, False, False, (7.0, 7.0)),
        (narrow(BUILT_IN_POLICY, Preferences(first_token_ms=1)), True, False, (120.0, 590.0)),
    ],
)
def test_deadlines(effective: object, whole: bool, thinking: bool, expected: tuple[float, float]) -> None:
    assert deadlines_s(effective, whole=whole, thinks=thinking) == expected  # type: ignore[arg-type]  # from the table


def test_a_policys_short_deadline_is_raised_for_whole_answers() -> None:
    from dataclasses import replace

    short = narrow(replace(BUILT_IN_POLICY, deadline_ms=20_000), Preferences())
    assert deadlines_s(short, whole=True, thinks=False) == (90.0, 590.0)
    assert deadlines_s(short, whole=False, thinks=False) == (20.0, 20.0)


def test_a_stream_has_the_policys_budget_and_a_minute_of_silence() -> None:
    assert attempt_budgets(PLAIN, TARGET, whole=False, thinks=False) == Budgets(12.0, 60.0)
    assert attempt_budgets(PLAIN, TARGET, whole=False, thinks=True) == Budgets(12.0, 60.0)
    assert attempt_budgets(ASKED, TARGET, whole=False, thinks=True) == Budgets(3.0, 60.0)


def test_a_whole_answers_budget_is_raised_unless_the_request_set_it() -> None:
    assert attempt_budgets(PLAIN, TARGET, whole=True, thinks=False) == Budgets(60.0, 30.0)
    assert attempt_budgets(ASKED, TARGET, whole=True, thinks=False) == Budgets(3.0, 30.0)


def test_a_whole_answer_that_is_thought_about_is_bounded_by_silence_alone() -> None:
    budgets = attempt_budgets(PLAIN, TARGET, whole=True, thinks=True)
    assert budgets == Budgets(None, 30.0, silence_before_token=True)


@pytest.mark.parametrize("whole", [True, False])
def test_a_host_that_hides_its_thinking_gets_the_time_that_it_usually_takes(whole: bool) -> None:
    assert attempt_budgets(PLAIN, HIDDEN, whole=whole, thinks=True).first_token_s == 200.0
    assert attempt_budgets(PLAIN, HIDDEN, whole=whole, thinks=True).silence_before_token is False
    assert attempt_budgets(PLAIN, HIDDEN_FOR_UNKNOWN, whole=whole, thinks=True).first_token_s == 590.0
    assert attempt_budgets(ASKED, HIDDEN, whole=whole, thinks=True).first_token_s == 3.0


def test_a_model_that_thinks_by_default_does_unless_it_is_told_not_to() -> None:
    target = make_target(abilities=Abilities(thinking=Thinking.OPTIONAL, thinks_by_default=True))
    assert thinks(target, switched_on=False, switched_off=False)
    assert not thinks(target, switched_on=False, switched_off=True)


@pytest.mark.parametrize(
    ("ability", "switched_on", "switched_off", "expected"),
    [
        (Thinking.ALWAYS, False, True, True),
        (Thinking.OPTIONAL, True, False, True),
        (Thinking.OPTIONAL, True, True, False),
        (Thinking.OPTIONAL, False, False, False),
        (Thinking.NONE, True, False, False),
    ],
)
def test_whether_a_model_thinks(ability: Thinking, switched_on: bool, switched_off: bool, expected: bool) -> None:
    target = make_target(abilities=Abilities(thinking=ability))
    assert thinks(target, switched_on=switched_on, switched_off=switched_off) is expected
