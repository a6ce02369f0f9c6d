from typing import Any

import pytest

from core.providers.answer_labels import MAX_COUNT, count_of, label


@pytest.mark.parametrize("value", ["fp_1", "a.b:c-d", "x" * 64])
def test_labels_go_on(value: str) -> None:
    assert label(value) == value


@pytest.mark.parametrize("value", [None, 3, True, "", "a b", "a\n", "x" * 65, "\u202ea", ["a"]])
def test_texts_do_not(value: Any) -> None:
    assert label(value) is None


@pytest.mark.parametrize(
    ("value", "count"),
    [
        *((0, 0), (9, 9), (MAX_COUNT, MAX_COUNT), (9.0, 9), ("9", 9), ("0009", 9)),
        *((-1, None), (MAX_COUNT + 1, None), (2**53, None), (10**400, None), (True, None), (None, None), ([9], None)),
        *((1.5, None), (-1.0, None), (float("inf"), None), (float("nan"), None), (1e300, None)),
        *(("", None), ("-1", None), ("9.0", None), ("9" * 12, None), ("9" * 9_000, None), ("\u0663", None)),
    ],
)
def test_counts_are_bounded(value: Any, count: int | None) -> None:
    assert count_of({"n": value}, "n") == count
    assert count_of({}, "n") is None
