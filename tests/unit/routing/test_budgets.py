"""The table of the contract's section 2, "Timeouts", row by row."""

from dataclasses import replace

import pytest

from core.decision import BUILT_IN_POLICY, Budgets, Preferences
from core.routing.budgets import attempt_budgets, deadlines_s
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
        (narrow(BUILT_IN_POLICY, Preferences(deadline_ms=300_000), whole=True), True, True, (300.0, 300.0)),
        # It would be longer than what the policy gives an answer that nobody thinks about.
        (narrow(BUILT_IN_POLICY, Preferences(deadline_ms=300_000), whole=True), True, False, (120.0, 300.0)),
    ],
)
def test_deadlines(effective: object, whole: bool, thinking: bool, expected: tuple[float, float]) -> None:
    assert deadlines_s(effective, whole=whole, thinks=thinking) == expected  # type: ignore[arg-type]  # from the table


def test_a_policys_short_deadline_is_raised_for_whole_answers() -> None:
    short = narrow(replace(BUILT_IN_POLICY, deadline_ms=20_000), Preferences())
    assert deadlines_s(short, whole=True, thinks=False) == (90.0, 590.0)
    assert deadlines_s(short, whole=False, thinks=False) == (20.0, 20.0)


def test_a_stream_has_the_policys_budget_and_a_minute_of_silence() -> None:
    assert attempt_budgets(PLAIN, TARGET, whole=False, thinks=False) == Budgets(12.0, 60.0)
    assert attempt_budgets(PLAIN, TARGET, whole=False, thinks=True) == Budgets(12.0, 60.0)
    assert attempt_budgets(ASKED, TARGET, whole=False, thinks=True) == Budgets(3.0, 60.0)


def test_the_operator_sets_how_long_a_stream_may_be_silent() -> None:
    patient = narrow(BUILT_IN_POLICY, Preferences(), stream_silence_s=200)
    assert attempt_budgets(patient, TARGET, whole=False, thinks=False) == Budgets(12.0, 200)
    assert attempt_budgets(patient, TARGET, whole=True, thinks=False) == Budgets(60.0, 30.0)


def test_a_whole_answers_budget_is_raised_unless_the_request_set_it() -> None:
    assert attempt_budgets(PLAIN, TARGET, whole=True, thinks=False) == Budgets(60.0, 30.0)
    assert attempt_budgets(ASKED, TARGET, whole=True, thinks=False) == Budgets(3.0, 30.0)
    longer = narrow(BUILT_IN_POLICY, Preferences(first_token_ms=40_000), whole=True)
    assert attempt_budgets(longer, TARGET, whole=True, thinks=False) == Budgets(40.0, 30.0)
    assert attempt_budgets(longer, TARGET, whole=True, thinks=True) == Budgets(40.0, 30.0)


def test_a_whole_answer_that_is_thought_about_is_bounded_by_silence_alone() -> None:
    budgets = attempt_budgets(PLAIN, TARGET, whole=True, thinks=True)
    assert budgets == Budgets(None, 30.0, silence_before_token=True)


@pytest.mark.parametrize("whole", [True, False])
def test_a_host_that_hides_its_thinking_gets_the_time_that_it_usually_takes(whole: bool) -> None:
    assert attempt_budgets(PLAIN, HIDDEN, whole=whole, thinks=True).first_token_s == 200.0
    assert attempt_budgets(PLAIN, HIDDEN, whole=whole, thinks=True).silence_before_token is False
    assert attempt_budgets(PLAIN, HIDDEN_FOR_UNKNOWN, whole=whole, thinks=True).first_token_s == 590.0
    assert attempt_budgets(ASKED, HIDDEN, whole=whole, thinks=True).first_token_s == 3.0
