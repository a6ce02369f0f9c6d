"""Counters by unit and period."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.counters import (
    EVER,
    LINGERS_MS,
    MICROS,
    PARALLEL,
    REQUESTS,
    TOKENS,
    day_counter,
    ends_ms,
    has_lapsed,
    minute_counter,
    month_counter,
    unit_of,
)

times = st.integers(0, 4_000_000_000_000)
MOMENT = round(datetime(2026, 12, 31, 23, 59, 58, tzinfo=UTC).timestamp() * 1000)


def test_names_say_unit_and_period() -> None:
    assert month_counter(MICROS, MOMENT) == "micros:2026-12"
    assert day_counter(REQUESTS, MOMENT) == "requests:2026-12-31"
    assert minute_counter(TOKENS, MOMENT + 999) == "tokens:2026-12-31T23:59"
    assert [unit_of(name) for name in (EVER, PARALLEL, "tokens:2026-12")] == [MICROS, PARALLEL, TOKENS]


@pytest.mark.parametrize("counter", [month_counter, day_counter, minute_counter])
@given(at_ms=times)
def test_a_period_ends_after_every_moment_in_it_and_begins_the_next(
    counter: Callable[[str, int], str], at_ms: int
) -> None:
    name = counter(MICROS, at_ms)
    end = ends_ms(name)
    assert end is not None
    assert end > at_ms
    assert counter(MICROS, end - 1) == name
    assert counter(MICROS, end) != name
    assert has_lapsed(name, end + LINGERS_MS)
    assert not has_lapsed(name, end + LINGERS_MS - 1)


@given(at_ms=times)
def test_what_has_no_end_never_lapses(at_ms: int) -> None:
    assert (ends_ms(EVER), ends_ms(PARALLEL)) == (None, None)
    assert not has_lapsed(EVER, at_ms)
    assert not has_lapsed(PARALLEL, at_ms)
