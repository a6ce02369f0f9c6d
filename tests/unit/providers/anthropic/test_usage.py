"""Usage made canonical, and what it costs."""

from decimal import Decimal
from typing import Any

import pytest

from core.catalog.model import Format
from core.chat import Usage
from core.money import Prices, Rates, Terms, charge, pico_per_token, price
from core.providers.anthropic.usage import UsageReader
from core.providers.base import Outgoing
from tests.support.targets import make_target, make_vendor

TARGET = make_target(vendor=make_vendor(format=Format.ANTHROPIC))
HOUR = b'{"cache_control":{"type":"ephemeral","ttl":"1h"}}'


def read(*reports: Any, body: bytes = b"") -> Usage | None:
    reader = UsageReader(Outgoing(TARGET, "", {}, body))
    usage = None
    for report in reports:
        usage = reader.read(report) or usage
    return usage


def split(short: Any, long: Any) -> dict[str, Any]:
    return {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": long}


@pytest.mark.parametrize(
    ("said", "usage"),
    [
        ({"input_tokens": 5, "output_tokens": 3}, Usage(5, output_tokens=3)),
        ({"output_tokens": 3}, Usage(0, output_tokens=3)),
        ({"input_tokens": 5}, Usage(5)),
        (
            {"input_tokens": 5, "cache_read_input_tokens": 90, "cache_creation_input_tokens": None},
            Usage(95, cached_tokens=90),
        ),
        (
            {"input_tokens": 5, "cache_creation_input_tokens": 30, "cache_creation": split(10, 20)},
            Usage(35, cache_write_5m_tokens=10, cache_write_1h_tokens=20),
        ),
        (
            {"input_tokens": 5, "cache_creation": split(10, 20)},
            Usage(35, cache_write_5m_tokens=10, cache_write_1h_tokens=20),
        ),
        ({"input_tokens": 5, "cache_creation": split(None, None)}, Usage(5)),
        ({"input_tokens": 5, "cache_creation_input_tokens": 30}, Usage(35, cache_write_5m_tokens=30)),
        (
            {"input_tokens": 5, "cache_creation_input_tokens": 15, "cache_creation": split(10, 20)},
            Usage(20, cache_write_1h_tokens=15),
        ),
        (
            {"input_tokens": 5, "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 7}},
            Usage(5, output_tokens=9, reasoning_tokens=7),
        ),
        ({"input_tokens": 5, "output_tokens_details": {}}, Usage(5)),
        ({"input_tokens": 5, "service_tier": "priority", "speed": "standard"}, Usage(5, service_tier="priority")),
        ({"input_tokens": 5, "service_tier": "priority", "speed": "fast"}, Usage(5, service_tier="fast")),
        ({"input_tokens": 5, "service_tier": 7}, Usage(5)),
        ({"input_tokens": -5, "output_tokens": True}, None),
        ({}, None),
        ("many", None),
        (None, None),
    ],
)
def test_one_report(said: Any, usage: Usage | None) -> None:
    assert read(said) == usage


def test_writes_that_are_not_told_apart_have_the_lifetime_that_was_asked_for() -> None:
    written = {"input_tokens": 5, "cache_creation_input_tokens": 30}
    assert read(written, body=HOUR) == Usage(35, cache_write_1h_tokens=30)
    assert read({"input_tokens": 5, "cache_creation_input_tokens": 0}, body=HOUR) == Usage(5)


def test_reports_are_about_everything_so_far_and_later_ones_win() -> None:
    start = {"input_tokens": 20, "cache_read_input_tokens": 90, "output_tokens": 1, "service_tier": "standard"}
    assert read(start, {"output_tokens": 40}, {"input_tokens": 25, "output_tokens": 80}) == Usage(
        115, cached_tokens=90, output_tokens=80, service_tier="standard"
    )


def test_absurd_counts_are_none_and_thinking_lies_inside_the_output() -> None:
    assert read({"input_tokens": 2**53, "output_tokens": -1}) is None
    told = {"input_tokens": "5", "output_tokens": 3, "output_tokens_details": {"thinking_tokens": 9}}
    assert read({**told, "service_tier": "a text, no label"}) == Usage(5, output_tokens=3, reasoning_tokens=3)


def test_a_report_with_nothing_new_is_none() -> None:
    reader = UsageReader(Outgoing(TARGET, "", {}, b""))
    assert reader.read({"input_tokens": 5, "output_tokens": 3}) is not None
    assert reader.read({"output_tokens": 3}) is None


def test_the_worked_example_costs_what_it_should() -> None:
    """Wire reference, section 10.6: Claude Opus 5.5."""
    usage = read(
        {
            "input_tokens": 500,
            "cache_read_input_tokens": 90_000,
            "cache_creation_input_tokens": 3_000,
            "cache_creation": split(1_000, 2_000),
            "output_tokens": 800,
        }
    )
    assert usage is not None
    assert (usage.input_tokens, usage.total_tokens) == (93_500, 94_300)
    rates = {"input": "4", "cached": "0.20", "cache_write_5m": "5", "cache_write_1h": "8", "output": "20"}
    prices = Prices(Rates(**{name: pico_per_token(Decimal(usd)) for name, usd in rates.items()}))
    assert charge([price(usage, prices)], Terms()).total == 57_000
