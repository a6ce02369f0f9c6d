"""Usage made canonical."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.chat import Usage
from core.money import Prices, Rates, Terms, charge, pico_per_token, price
from core.providers.answer_labels import MAX_COUNT
from core.providers.bedrock.usage import usage_of


def test_cache_tokens_lie_outside_the_input() -> None:
    said = {
        "inputTokens": 500,
        "cacheReadInputTokens": 90_000,
        "cacheWriteInputTokens": 3_000,
        "cacheDetails": [{"ttl": "1h", "inputTokens": 2_000}, {"ttl": "5m", "inputTokens": 1_000}],
        "outputTokens": 800,
        "totalTokens": 94_300,
    }
    usage = usage_of(said, "default")
    assert usage == Usage(
        input_tokens=93_500,
        cached_tokens=90_000,
        cache_write_5m_tokens=1_000,
        cache_write_1h_tokens=2_000,
        output_tokens=800,
        service_tier="default",
    )
    assert usage.total_tokens == said["totalTokens"]
    # The worked number of the wire reference, section 10.6: Claude Opus 5.5.
    rates = {"input": "4", "output": "20", "cached": "0.20", "cache_write": "5", "cache_write_1h": "8"}
    prices = Prices(Rates(**{name: pico_per_token(Decimal(value)) for name, value in rates.items()}))
    assert charge([price(usage, prices)], Terms()).total == 57_000


@pytest.mark.parametrize(
    ("said", "short", "long"),
    [
        ({"cacheWriteInputTokens": 5}, 5, 0),
        ({"cacheWriteInputTokens": 5, "cacheDetails": []}, 5, 0),
        ({"cacheDetails": [{"ttl": "5m", "inputTokens": 2}, {"ttl": "1h", "inputTokens": 3}]}, 2, 3),
        ({"cacheWriteInputTokens": 9, "cacheDetails": [{"ttl": "1h", "inputTokens": 3}]}, 6, 3),
        ({"cacheWriteInputTokens": 1, "cacheDetails": [{"ttl": "1h", "inputTokens": 3}]}, 0, 3),
        ({"cacheDetails": [{"ttl": "2d", "inputTokens": 2}, {"ttl": "1h"}, None]}, 2, 0),
        ({"cacheWriteInputTokens": -1, "cacheDetails": "x"}, 0, 0),
    ],
)
def test_writes_by_their_lifetime(said: dict[str, Any], short: int, long: int) -> None:
    usage = usage_of({"inputTokens": 10, "outputTokens": 1, **said}, None)
    assert usage is not None
    assert (usage.cache_write_5m_tokens, usage.cache_write_1h_tokens) == (short, long)
    assert usage.input_tokens == 10 + short + long


@pytest.mark.parametrize("said", [None, [], "x", {}, {"inputTokens": None}, {"inputTokens": True, "outputTokens": -1}])
def test_nothing_counted_is_no_usage(said: Any) -> None:
    assert usage_of(said, "default") is None


def test_one_count_is_enough() -> None:
    assert usage_of({"inputTokens": 3}, None) == Usage(input_tokens=3)
    assert usage_of({"outputTokens": 3}, None) == Usage(output_tokens=3)


@given(*[st.integers(0, 1_000)] * 5)
def test_parts_lie_inside_their_totals(fresh: int, read: int, short: int, long: int, output: int) -> None:
    details = [{"ttl": "1h", "inputTokens": long}, {"ttl": "5m", "inputTokens": short}]
    said = {
        "inputTokens": fresh,
        "outputTokens": output,
        "cacheReadInputTokens": read,
        "cacheWriteInputTokens": short + long,
        "cacheDetails": details,
    }
    usage = usage_of(said, None)
    assert usage is not None
    assert usage.input_tokens == fresh + usage.cached_tokens + usage.written_tokens
    assert (usage.cached_tokens, usage.written_tokens) == (read, short + long)
    assert usage.reasoning_tokens is None


def test_absurd_counts_are_none() -> None:
    assert usage_of({"inputTokens": 2**53, "outputTokens": -1}, None) is None
    assert usage_of({"inputTokens": "3", "outputTokens": 2**53}, None) == Usage(input_tokens=3)
    details = [{"ttl": ttl, "inputTokens": MAX_COUNT} for ttl in ("1h", "5m")] * 9
    usage = usage_of({"inputTokens": 1, "cacheDetails": details}, None)
    assert usage is not None
    assert usage.written_tokens == 2 * MAX_COUNT
