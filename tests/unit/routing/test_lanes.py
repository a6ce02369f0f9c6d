"""Packed columns say what loops over their numbers say."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.routing.bits import bits_of
from core.routing.lanes import FEW, Lanes, Width, weighted_sum

NUMBERS = st.integers(0, 2**32)
TERMS = st.integers(0, 12).flatmap(
    lambda size: st.lists(
        st.tuples(st.integers(0, 2**24), st.lists(NUMBERS, min_size=size, max_size=size)), min_size=1, max_size=4
    )
)


SMALL = st.integers(0, 12).flatmap(
    lambda size: st.lists(
        st.tuples(st.integers(0, 2**12), st.lists(st.integers(0, 2**16), min_size=size, max_size=size)),
        min_size=1,
        max_size=4,
    )
)


@given(st.tuples(st.just(8), TERMS) | st.tuples(st.just(4), SMALL), st.integers(-5, 2**60))
def test_sums_and_comparisons_are_those_of_the_numbers(
    given_: tuple[Width, list[tuple[int, list[int]]]], bound: int
) -> None:
    width, terms = given_
    expected = [sum(weight * column[row] for weight, column in terms) for row in range(len(terms[0][1]))]
    sums = weighted_sum([(weight, Lanes(column, width)) for weight, column in terms])
    assert list(sums.values) == expected
    for limit in (bound, *expected):
        found = {row for row, value in enumerate(expected) if value >= limit}
        assert sums.at_least(limit) == bits_of(found, len(expected))


@given(st.randoms(use_true_random=False), st.sampled_from([50, FEW + 50, 3 * FEW]), st.integers(1, 70))
def test_the_largest_and_smallest_are_found_among_some_rows(dice: random.Random, size: int, count: int) -> None:
    numbers = [dice.randrange(size) for _ in range(size)]
    members = [row for row in range(size) if dice.random() < 0.9]
    sums = weighted_sum([(1, Lanes(numbers))])
    rows = bits_of(members, size)
    assert sums.largest(rows, count) == sorted(members, key=lambda row: (-numbers[row], row))[:count]
    assert sums.smallest(rows, count) == sorted(members, key=lambda row: (numbers[row], row))[:count]


def test_no_sum_reaches_a_bound_beyond_every_sum() -> None:
    assert weighted_sum([(1, Lanes([7, 8]))]).at_least(2**63) == 0


def test_sums_that_could_leave_their_lane_are_not_made() -> None:
    with pytest.raises(OverflowError):
        weighted_sum([(2**31, Lanes([2**32]))])
    with pytest.raises(OverflowError):
        weighted_sum([(2, Lanes([2**30], 4))])
