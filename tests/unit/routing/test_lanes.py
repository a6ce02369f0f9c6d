"""Packed columns say what loops over their numbers say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.routing.bits import bits_of
from core.routing.lanes import Lanes, weighted_sum

NUMBERS = st.integers(0, 2**32)
TERMS = st.integers(0, 12).flatmap(
    lambda size: st.lists(
        st.tuples(st.integers(0, 2**24), st.lists(NUMBERS, min_size=size, max_size=size)), min_size=1, max_size=4
    )
)


@given(TERMS, st.integers(-5, 2**60))
def test_sums_and_comparisons_are_those_of_the_numbers(terms: list[tuple[int, list[int]]], bound: int) -> None:
    expected = [sum(weight * column[row] for weight, column in terms) for row in range(len(terms[0][1]))]
    sums = weighted_sum([(weight, Lanes(column)) for weight, column in terms])
    assert list(sums.values) == expected
    for limit in (bound, *expected):
        found = {row for row, value in enumerate(expected) if value >= limit}
        assert sums.at_least(limit) == bits_of(found, len(expected))


def test_no_sum_reaches_a_bound_beyond_every_sum() -> None:
    assert weighted_sum([(1, Lanes([7, 8]))]).at_least(2**63) == 0


def test_sums_that_could_leave_their_lane_are_not_made() -> None:
    with pytest.raises(OverflowError):
        weighted_sum([(2**32, Lanes([2**32]))])
