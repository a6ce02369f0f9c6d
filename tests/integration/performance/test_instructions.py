"""What a request and a chunk cost, in instructions, and that nothing costs more than in step with its size."""

import pytest

from bench.instructions.counts import TOLERANCE, Counts, build, count, differences, is_countable, kept

pytestmark = [pytest.mark.xdist_group("instructions"), pytest.mark.timeout(600)]

MOST_GROWTH = 1.15
"""What a step in size may cost, by what it would cost if all grew in step; 4 is what a square comes to."""

AGAIN = "run `make instructions`, look at what it prints, and commit bench/instructions/figures.toml if that is meant"


@pytest.fixture(scope="module")
def counts() -> Counts:
    if not is_countable():
        pytest.skip("NOT COUNTED: valgrind is not there, so nobody sees whether this change makes requests dearer")
    return count()


def test_neither_a_request_nor_a_chunk_became_dearer(counts: Counts) -> None:
    before = kept()
    if before is None:
        pytest.skip(f"NOT COMPARED: bench/instructions/figures.toml has no figures of {build()}")
    changes = differences(before, counts.paths())
    assert {name: f"{change:+.1%}" for name, change in changes.items() if change > TOLERANCE} == {}, AGAIN


def test_what_became_cheaper_is_kept(counts: Counts) -> None:
    before = kept()
    changes = {} if before is None else differences(before, counts.paths())
    assert {name: f"{change:+.1%}" for name, change in changes.items() if change < -TOLERANCE} == {}, AGAIN


def test_nothing_grows_faster_than_its_size(counts: Counts) -> None:
    assert {name: round(factor, 2) for name, factor in counts.growth().items() if factor > MOST_GROWTH} == {}
