"""What is made of the counts of instructions."""

import pytest

from bench.instructions.cases import FEW, GROWTH, MANY, REQUESTS
from bench.instructions.counts import Counts, differences


def test_a_request_is_a_share_of_its_case_and_a_chunk_the_difference_of_two() -> None:
    counts = Counts({"request, named": 7 * REQUESTS, f"openai {FEW}": 900 + 3 * FEW, f"openai {MANY}": 900 + 3 * MANY})
    assert counts.paths() == {"request, named": 7, "chunk, openai": 3}


def test_growth_is_told_without_what_costs_the_same_at_every_size() -> None:
    linear = Counts({f"{name} {size}": 10**6 + 5 * size for name, sizes in GROWTH.items() for size in sizes})
    assert set(linear.growth().values()) == {1.0}
    square = Counts({f"{name} {size}": 10**6 + size**2 for name, sizes in GROWTH.items() for size in sizes})
    assert square.growth() == pytest.approx(dict.fromkeys(GROWTH, 4))


def test_a_path_that_is_new_or_gone_differs() -> None:
    changes = differences({"same": 10, "dearer": 10, "gone": 1}, {"same": 10, "dearer": 12, "new": 1})
    assert changes == {"same": 0.0, "dearer": pytest.approx(0.2), "gone": float("inf"), "new": float("inf")}
