"""Prices at a time: announced changes, and hours of the day."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog.model import Host
from core.catalog.schedule import PriceChange, Window, prices_at
from core.money import Prices, Rates


def prices(usd: int) -> Prices:
    return Prices(Rates(input=usd * 1_000_000, output=usd * 1_000_000))


DEAR, CHEAP, LATER = prices(3), prices(1), prices(9)
WORKDAYS, WEEKEND = frozenset({1, 2, 3, 4, 5}), frozenset({6, 7})

# DeepSeek's hours: dear from 01:00 to 04:00 and from 06:00 to 10:00 UTC, Monday to Friday.
OFF_PEAK = PriceChange(
    CHEAP,
    windows=(
        Window(0, 60, WORKDAYS),
        Window(240, 360, WORKDAYS),
        Window(600, 1440, WORKDAYS),
        Window(0, 1440, WEEKEND),
    ),
)


def at(moment: str) -> float:
    return datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-11-30T00:59:59", CHEAP),  # a Monday
        ("2026-11-30T01:00:00", DEAR),
        ("2026-11-30T03:59:59", DEAR),
        ("2026-11-30T04:00:00", CHEAP),
        ("2026-11-30T06:00:00", DEAR),
        ("2026-11-30T10:00:00", CHEAP),
        ("2026-11-30T23:59:59", CHEAP),
        ("2026-12-04T07:00:00", DEAR),  # Friday
        ("2026-12-05T07:00:00", CHEAP),  # Saturday
        ("2026-12-06T23:59:59", CHEAP),  # Sunday
    ],
)
def test_hours_of_the_day(moment: str, expected: Prices) -> None:
    assert prices_at(DEAR, (OFF_PEAK,), at(moment)) == expected


def test_a_change_holds_from_midnight_utc_of_its_day() -> None:
    change = PriceChange(LATER, since="2026-12-01")
    assert prices_at(DEAR, (change,), at("2026-11-30T23:59:59")) == DEAR
    assert prices_at(DEAR, (change,), at("2026-12-01T00:00:00")) == LATER


def test_hours_can_begin_on_a_day() -> None:
    change = PriceChange(CHEAP, since="2026-12-01", windows=(Window(0, 60),))
    assert prices_at(DEAR, (change,), at("2026-11-30T00:30:00")) == DEAR
    assert prices_at(DEAR, (change,), at("2026-12-01T00:30:00")) == CHEAP
    assert prices_at(DEAR, (change,), at("2026-12-01T01:00:00")) == DEAR


def test_a_host_knows_its_prices_at_a_time() -> None:
    host = Host("lab", "m", prices=DEAR, price_changes=(PriceChange(LATER, since="2026-12-01"),))
    assert host.prices_at(at("2026-11-01T00:00:00")) == DEAR
    assert host.prices_at(at("2027-01-01T00:00:00")) == LATER


def test_what_is_unknown_stays_unknown() -> None:
    assert Host("lab", "m").prices_at(0.0) is None


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 9)), max_size=5))
def test_the_last_change_that_holds_counts(changes: list[tuple[bool, int]]) -> None:
    moment = at("2026-06-01T12:00:00")
    listed = tuple(PriceChange(prices(usd), since="2026-01-01" if holds else "2027-01-01") for holds, usd in changes)
    holding = [usd for holds, usd in changes if holds]
    assert prices_at(prices(0), listed, moment) == prices(holding[-1] if holding else 0)
