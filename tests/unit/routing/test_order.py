"""The order of models by objective, and scores that never rise along it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.decision import Objective
from core.routing.order import Entrant, ordered, stacked

BAR = 0.75


def entrant(name: str, value: float = 0.5, micros: float | None = 100, ttft_ms: float | None = None) -> Entrant:
    return Entrant(name, (ord(name[0]),), value, True, False, micros, ttft_ms)


GOOD_DEAR = entrant("a", 0.8, 900)
GOOD_CHEAP = entrant("b", 0.76, 300)
FAIR = entrant("c", 0.6, 100)
POOR_FREE = entrant("d", 0.2, 0)
GOOD_UNPRICED = entrant("e", 0.79, None)
ALL = [POOR_FREE, GOOD_UNPRICED, FAIR, GOOD_DEAR, GOOD_CHEAP]


def names(objective: Objective, entrants: list[Entrant]) -> str:
    return "".join(each.model for each in stacked(ordered(entrants, objective, BAR))[0])


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        (Objective.QUALITY, "aebcd"),
        (Objective.COST, "dcbae"),
        (Objective.BALANCED, "baecd"),
        (Objective.LATENCY, "baecd"),  # no time is known of anybody
    ],
)
def test_each_objective_has_its_order(objective: Objective, expected: str) -> None:
    assert names(objective, ALL) == expected


def test_the_quickest_comes_first_and_unknown_times_last() -> None:
    timed = [entrant("x", 0.3, 5, 900), entrant("y", 0.3, 9, 200), entrant("z", 0.3, 5, 200)]
    assert names(Objective.LATENCY, [*ALL, *timed]) == "zyx" + "baecd"


def test_equals_are_told_apart_by_price_then_by_their_place() -> None:
    same = [entrant("b", 0.8, 5), entrant("a", 0.8, 9), entrant("c", 0.8, 5)]
    assert names(Objective.QUALITY, same) == "bca"


def test_scores_say_how_far_behind() -> None:
    def scores(objective: Objective, *entrants: Entrant) -> list[float]:
        return stacked(ordered(entrants, objective, BAR))[1]

    assert scores(Objective.QUALITY, GOOD_DEAR, FAIR) == [0.8, 0.6]
    assert scores(Objective.COST, GOOD_CHEAP, GOOD_DEAR) == [1.0, pytest.approx(1 / 3, abs=1e-3)]
    assert scores(Objective.BALANCED, GOOD_DEAR, FAIR) == [1.0, pytest.approx(0.75)]
    assert scores(Objective.LATENCY, entrant("a", ttft_ms=99), entrant("b", ttft_ms=199)) == [1.0, 0.5]
    assert scores(Objective.COST, POOR_FREE, entrant("f", 0.2, 0)) == [1.0, 1.0]


def test_nothing_has_no_order() -> None:
    assert all(names(objective, []) == "" for objective in Objective)


entrants = st.lists(
    st.builds(
        Entrant,
        model=st.text(min_size=1),
        rows=st.tuples(st.integers(0, 10**6)),
        value=st.floats(1e-6, 1),
        is_measured=st.just(True),
        is_cramped=st.just(False),
        micros=st.none() | st.floats(0, 1e9),
        ttft_ms=st.none() | st.floats(0, 1e6),
    ),
    max_size=12,
    unique_by=lambda each: each.rows,
)


@given(entrants, st.sampled_from(Objective), st.floats(0, 1), st.randoms(use_true_random=False))
def test_a_ranking_is_whole_deterministic_and_falls(
    found: list[Entrant], objective: Objective, bar: float, dice: object
) -> None:
    once, scores = stacked(ordered(found, objective, bar))
    mixed = [*found]
    dice.shuffle(mixed)  # type: ignore[attr-defined]  # hypothesis' own generator
    assert stacked(ordered(mixed, objective, bar)) == (once, scores)
    assert sorted(each.rows for each in once) == sorted(each.rows for each in found)
    assert all(0 <= score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)
