"""Sets of places as bits mean the same as sets."""

from hypothesis import given
from hypothesis import strategies as st

from core.routing.bits import Runs, bits_of, chosen, places, span, union

SIZE = 300
SETS = st.sets(st.integers(0, SIZE - 1))


@given(SETS)
def test_places_come_back_in_order(members: set[int]) -> None:
    bits = bits_of(members, SIZE)
    assert [*places(bits)] == sorted(members)
    assert [*chosen(bits, range(SIZE))] == sorted(members)
    assert bits.bit_count() == len(members)


@given(st.sets(st.integers(0, 20_000), min_size=1, max_size=5))
def test_few_places_among_many_are_found(members: set[int]) -> None:
    assert [*places(bits_of(members, 20_001))] == sorted(members)


@given(st.lists(SETS, max_size=3))
def test_a_union_has_the_places_of_all(sets: list[set[int]]) -> None:
    assert union(bits_of(each, SIZE) for each in sets) == bits_of(set().union(*sets), SIZE)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=20), st.data())
def test_a_run_is_touched_when_one_of_its_places_is_there(lengths: list[int], data: st.DataObject) -> None:
    size = sum(lengths)
    members = data.draw(st.sets(st.integers(0, size - 1)))
    starts = [sum(lengths[:place]) for place in range(len(lengths))]
    expected = {
        start + length - 1
        for start, length in zip(starts, lengths, strict=True)
        if members & set(range(start, start + length))
    }
    runs, bits = Runs(lengths), bits_of(members, size)
    assert (runs.touched(bits), runs.count(bits)) == (bits_of(expected, size), len(expected))


def test_no_runs_are_never_touched() -> None:
    assert Runs([]).touched(0) == 0


def test_a_span_has_so_many_places_from_its_start() -> None:
    assert [*places(span(3, 2))] == [3, 4]
    assert span(3, 0) == 0
