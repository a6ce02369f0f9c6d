"""What is expected of a model after its callers spoke."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.workspace import ENOUGH_SCORES, MEASURED_LIKE, Opinion

SCORES = st.lists(st.integers(0, 1_000), max_size=60)
MEASURED = st.none() | st.floats(0, 1)


def said(scores: list[int]) -> Opinion:
    return Opinion(len(scores), sum(scores))


@given(MEASURED, SCORES)
def test_it_is_a_quality(measured: float | None, scores: list[int]) -> None:
    expected = said(scores).expected(measured)
    assert expected is None or 0 <= expected <= 1


@given(MEASURED, SCORES.filter(bool), st.data())
def test_a_better_score_never_lowers_it(measured: float | None, scores: list[int], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(scores) - 1))
    better = [*scores]
    better[place] = data.draw(st.integers(scores[place], 1_000))
    before, after = (said(each).expected(measured) for each in (scores, better))
    assert (before is None) == (after is None)
    assert (after or 0.0) >= (before or 0.0)


@given(st.floats(0, 1))
def test_what_was_measured_stays_where_nobody_spoke(measured: float) -> None:
    assert Opinion(0, 0).expected(measured) == pytest.approx(measured)


def test_what_was_measured_weighs_as_much_as_so_many_scores() -> None:
    assert Opinion(MEASURED_LIKE, MEASURED_LIKE * 1_000).expected(0.5) == pytest.approx(0.75)
    assert Opinion(10_000, 9_000_000).expected(0.5) == pytest.approx(0.9, abs=0.001)


def test_what_nobody_measured_is_unknown_until_enough_have_spoken() -> None:
    few = ENOUGH_SCORES - 1
    assert Opinion(few, few * 1_000).expected(None) is None
    assert Opinion(ENOUGH_SCORES, ENOUGH_SCORES * 1_000).expected(None) == pytest.approx(11 / 12)
    assert Opinion(ENOUGH_SCORES, 0).expected(None) == pytest.approx(1 / 12)
