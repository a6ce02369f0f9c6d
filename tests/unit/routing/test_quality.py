"""Expected quality: scores for the plausible tasks, shifted by difficulty, and nothing made up."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.routing.bits import places
from core.routing.quality import Qualities, qualities, shifted, unshifted
from core.routing.reading import Reading, levelled
from tests.support.routing import CODE, make_index, make_model

INDEX = make_index(
    make_model("both", quality={"code": 0.8, "math": 0.6}),
    make_model("code", quality={"code": 0.8}),
    make_model("math", quality={"math": 0.9}),
    make_model("none", quality=None),
)


def of(found: Qualities, row: int) -> float:
    return found.values([row])[row]


@given(st.floats(0.01, 0.99), st.floats(0, 1))
def test_a_shift_can_be_taken_back(quality: float, complexity: float) -> None:
    assert unshifted(shifted(quality, complexity), complexity) == pytest.approx(quality)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_difficulty_never_changes_an_order(one: float, other: float, complexity: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= shifted(low, complexity) <= shifted(high, complexity) <= 1


def test_easy_requests_bring_models_together_and_hard_ones_apart() -> None:
    gaps = [shifted(0.9, level) - shifted(0.7, level) for level in (0.0, 0.5, 1.0)]
    assert gaps == sorted(gaps)
    assert shifted(0.6, 0.5) == pytest.approx(0.6)


def test_the_quality_is_the_mean_over_the_plausible_tasks() -> None:
    mixed = Reading(1, {"code": 0.74, "math": 0.25, "knitting": 0.01}, "code", 0.74, 0.5)
    found = qualities(INDEX, mixed)
    assert of(found, 0) == pytest.approx((0.74 * 0.8 + 0.25 * 0.6) / 0.99, abs=1e-4)
    # A task that a model was not evaluated for counts as badly as the worst that was.
    assert of(found, 1) == of(found, 0)
    assert [*places(found.measured)] == [0, 1]
    assert found.best(0b11) == of(found, 0)
    assert found.stand_ins == ()


def test_unlikely_tasks_do_not_count_but_the_task_itself_does() -> None:
    odd = Reading(1, {"math": 0.99, "code": 0.01}, "code", 0.01, 0.5)
    assert [*places(qualities(INDEX, odd).measured)] == [0, 1]
    assert of(qualities(INDEX, odd), 2) < 0.9
    assert of(qualities(INDEX, replace(odd, task="math")), 2) == pytest.approx(0.9)


def test_where_nobody_was_evaluated_kindred_tasks_give_an_order_and_no_quality() -> None:
    index = make_index(make_model("a", quality={"writing": 0.7}), make_model("b", quality={"math": 0.9}))
    found = qualities(index, Reading(1, {"translation": 0.75, "math": 0.25}, "translation", 0.75, 0.5))
    assert (found.measured, found.stand_ins) == (0, ("writing",))
    assert of(found, 0) == pytest.approx(0.7)


def test_without_kindred_scores_the_other_plausible_tasks_give_the_order() -> None:
    found = qualities(INDEX, Reading(1, {"translation": 0.75, "math": 0.25}, "translation", 0.75, 0.5))
    assert (found.measured, found.stand_ins) == (0, ())
    assert of(found, 2) == pytest.approx(0.9)


def test_without_any_plausible_score_all_scores_do() -> None:
    found = qualities(INDEX, Reading(1, {"knitting": 1.0}, "knitting", 1.0, 0.5))
    assert found.measured == 0
    assert of(found, 2) == pytest.approx((0.9 + 0.8) / 2)


def test_a_catalog_without_scores_knows_nothing() -> None:
    found = qualities(make_index(make_model("a", quality=None)), CODE)
    assert found.measured == 0
    assert of(found, 0) == pytest.approx(0, abs=1e-5)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_bar_is_reached_by_those_whose_quality_reaches_it(quality: float, complexity: float) -> None:
    found = qualities(INDEX, replace(CODE, complexity=complexity))
    reached = found.sums.at_least(found.bar(quality))
    for row in range(INDEX.size):
        if abs(of(found, row) - quality) > 1e-6:
            assert (reached >> row & 1) == (of(found, row) > quality)


def test_no_bar_is_reached_by_all() -> None:
    assert qualities(INDEX, CODE).bar(0.0) == 0


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_harder_request_counts_as_no_easier_and_small_steps_seldom_count(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= levelled(low) <= levelled(high) <= 1
    assert {levelled(grade) for grade in (0.25, 0.5)} == {0.5}
    assert levelled(0.0) < levelled(0.25) < levelled(0.75) == levelled(1.0)
