"""The order of models by objective, and scores that never rise along it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.decision import Objective
from core.routing.order import Numbers, ordered, stacked

BAR = 0.75

GOOD_DEAR, GOOD_CHEAP, FAIR, POOR_FREE, GOOD_UNPRICED = range(5)
VALUES = {GOOD_DEAR: 0.8, GOOD_CHEAP: 0.76, FAIR: 0.6, POOR_FREE: 0.2, GOOD_UNPRICED: 0.79}
MICROS = {GOOD_DEAR: 900.0, GOOD_CHEAP: 300.0, FAIR: 100.0, POOR_FREE: 0.0}
ALL = Numbers(VALUES, MICROS, {})

BALANCED = [GOOD_CHEAP, GOOD_DEAR, GOOD_UNPRICED, FAIR, POOR_FREE]


def order(objective: Objective, numbers: Numbers) -> list[int]:
    return stacked(ordered(sorted(numbers.values), numbers, objective, BAR))[0]


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        (Objective.QUALITY, [GOOD_DEAR, GOOD_UNPRICED, GOOD_CHEAP, FAIR, POOR_FREE]),
        (Objective.COST, [POOR_FREE, FAIR, GOOD_CHEAP, GOOD_DEAR, GOOD_UNPRICED]),
        (Objective.BALANCED, BALANCED),
        (Objective.LATENCY, BALANCED),  # no time is known of anybody
    ],
)
def test_each_objective_has_its_order(objective: Objective, expected: list[int]) -> None:
    assert order(objective, ALL) == expected


def test_the_quickest_comes_first_and_unknown_times_last() -> None:
    times = {11: 900.0, 12: 200.0, 13: 200.0}
    timed = Numbers({**VALUES, **dict.fromkeys(times, 0.3)}, {**MICROS, 11: 5, 12: 9, 13: 5}, times)
    assert order(Objective.LATENCY, timed) == [13, 12, 11, *BALANCED]


def test_equals_are_told_apart_by_price_then_by_their_place() -> None:
    assert order(Objective.QUALITY, Numbers(dict.fromkeys((1, 2, 3), 0.8), {1: 9, 2: 5, 3: 5}, {})) == [2, 3, 1]
    assert order(Objective.COST, Numbers({1: 0.7, 2: 0.8, 3: 0.8}, dict.fromkeys((1, 2, 3), 5), {})) == [2, 3, 1]


def test_scores_say_how_far_behind() -> None:
    def scores(objective: Objective, *rows: int, numbers: Numbers = ALL) -> list[float]:
        return stacked(ordered(rows, numbers, objective, BAR))[1]

    assert scores(Objective.QUALITY, GOOD_DEAR, FAIR) == [0.8, 0.6]
    assert scores(Objective.COST, GOOD_CHEAP, GOOD_DEAR) == [1.0, pytest.approx(1 / 3, abs=1e-3)]
    assert scores(Objective.BALANCED, GOOD_DEAR, FAIR) == [1.0, pytest.approx(0.75)]
    assert scores(Objective.BALANCED, FAIR, POOR_FREE) == [1.0, pytest.approx(1 / 3)]
    assert scores(Objective.BALANCED, 1, numbers=Numbers({1: 0.0}, {}, {})) == [0.0]
    assert scores(Objective.LATENCY, 1, 2, numbers=Numbers({1: 0.5, 2: 0.5}, {}, {1: 99, 2: 199})) == [1.0, 0.5]
    assert scores(Objective.COST, 1, 2, numbers=Numbers({1: 0.2, 2: 0.2}, {1: 0, 2: 0}, {})) == [1.0, 1.0]


def test_nothing_has_no_order() -> None:
    assert all(order(objective, Numbers({}, {}, {})) == [] for objective in Objective)


@st.composite
def numbers(draw: st.DrawFn) -> Numbers:
    values = draw(st.dictionaries(st.integers(0, 10**6), st.floats(0, 1), max_size=12))
    some = st.dictionaries(st.sampled_from(sorted(values) or [0]), st.floats(0, 1e9))
    return Numbers(values, draw(some), draw(some))


@given(numbers(), st.sampled_from(Objective), st.floats(0, 1))
def test_a_ranking_is_whole_deterministic_and_falls(found: Numbers, objective: Objective, bar: float) -> None:
    rows = sorted(found.values)
    once, scores = stacked(ordered(rows, found, objective, bar))
    assert (once, scores) == stacked(ordered(tuple(rows), found, objective, bar))
    assert sorted(once) == rows
    assert all(0 <= score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)
