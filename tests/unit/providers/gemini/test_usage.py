"""Gemini's counts, made canonical."""

from decimal import Decimal
from typing import Any

import pytest

from core.chat import Usage
from core.money import Prices, Rates, pico_per_token, price
from core.providers.gemini.usage import UsageReader, usage_of
from tests.support.golden import event_form


def read(**said: Any) -> Usage:
    usage = usage_of(said, None)
    assert usage is not None
    return usage


def test_the_worked_numbers_of_the_reference() -> None:
    usage = read(
        promptTokenCount=8000,
        cachedContentTokenCount=5000,
        candidatesTokenCount=300,
        thoughtsTokenCount=700,
        totalTokenCount=9000,
    )
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (8000, 5000, 1000)
    assert (usage.reasoning_tokens, usage.total_tokens) == (700, 9000)
    rates = Rates(*(pico_per_token(Decimal(each)) for each in ("3", "15", "0.15")))
    assert price(usage, Prices(rates)).total == 24_750 * 10**6


@pytest.mark.parametrize(
    ("total", "output"),
    [
        (45, 33),  # as documented: thoughts apart
        (14, 33),  # neither, and thoughts cannot be inside so few
        (None, 33),
        (99, 33),
    ],
)
def test_thoughts_are_counted_apart(total: int | None, output: int) -> None:
    usage = read(promptTokenCount=12, candidatesTokenCount=2, thoughtsTokenCount=31, totalTokenCount=total)
    assert usage.output_tokens == output


def test_thoughts_are_part_of_the_answer_where_the_total_says_so() -> None:
    usage = read(promptTokenCount=12, candidatesTokenCount=33, thoughtsTokenCount=31, totalTokenCount=45)
    assert (usage.output_tokens, usage.reasoning_tokens) == (33, 31)


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"totalTokenCount": 3},
        {"promptTokenCount": "three"},
        {"promptTokenCount": 2**53},
        {"promptTokenCount": -1, "candidatesTokenCount": True, "thoughtsTokenCount": 1.5},
    ],
)
def test_what_counts_nothing_is_none(said: dict[str, Any]) -> None:
    assert usage_of(said, None) is None


def test_parts_lie_inside_their_totals() -> None:
    usage = read(
        promptTokenCount="9",
        candidatesTokenCount=4,
        cachedContentTokenCount=10,
        promptTokensDetails=[{"modality": "AUDIO", "tokenCount": 7}, {"modality": "IMAGE", "tokenCount": 7}],
        candidatesTokensDetails=[{"modality": "AUDIO", "tokenCount": 7}],
    )
    assert (usage.input_tokens, usage.cached_tokens, usage.input_audio_tokens, usage.input_image_tokens) == (9, 9, 7, 2)
    assert usage.output_audio_tokens == 4


def test_odd_numbers_and_details() -> None:
    usage = read(
        promptTokenCount=3.0,
        promptTokensDetails=[{"modality": "AUDIO"}, {"tokenCount": 2}, "x", {"modality": "AUDIO", "tokenCount": 1}],
        candidatesTokensDetails={"modality": "AUDIO"},
    )
    assert usage == Usage(input_tokens=3, input_audio_tokens=1, reasoning_tokens=0)


def test_sound_that_was_made() -> None:
    usage = read(candidatesTokenCount=9, candidatesTokensDetails=[{"modality": "AUDIO", "tokenCount": 9}])
    assert usage.output_audio_tokens == 9


def test_each_report_is_about_everything_so_far() -> None:
    reader = UsageReader(None)
    assert reader.read({"promptTokenCount": 3, "candidatesTokenCount": 5}) == read(
        promptTokenCount=3, candidatesTokenCount=5
    )
    assert reader.read({"promptTokenCount": 3, "candidatesTokenCount": None}) is None
    assert reader.read({"promptTokenCount": 2}) == read(promptTokenCount=2, candidatesTokenCount=5)
    assert reader.read("nothing") is None
    assert UsageReader(None).read({}) is None


@pytest.mark.parametrize(
    ("header", "said", "tier"),
    [
        (None, {}, None),
        ("standard", {}, "default"),
        ("priority", {}, "priority"),
        ("priority", {"serviceTier": "standard"}, "default"),
        ("flex", {"trafficType": "ON_DEMAND"}, "default"),
        (None, {"trafficType": "ON_DEMAND_FLEX"}, "flex"),
        (None, {"trafficType": "ON_DEMAND_PRIORITY", "serviceTier": "standard"}, "priority"),
        (None, {"trafficType": "ON_DEMAND_OFFPEAK"}, "offpeak"),
        (None, {"trafficType": "PROVISIONED_THROUGHPUT"}, "scale"),
        ("flex", {"trafficType": "TRAFFIC_TYPE_UNSPECIFIED", "serviceTier": 3}, "flex"),
        ("", {"serviceTier": "new"}, "new"),
    ],
)
def test_the_tier_is_the_one_that_the_answer_names(header: str | None, said: dict[str, Any], tier: str | None) -> None:
    usage = UsageReader(header).read({"promptTokenCount": 1, **said})
    assert usage is not None
    assert usage.service_tier == tier


def test_the_forms_that_tests_compare_are_readable() -> None:
    assert event_form(read(promptTokenCount=1, promptTokensDetails=[{"modality": "TEXT", "tokenCount": 1}])) == {  # type: ignore[arg-type]  # any value has a form
        "Usage": {
            "input_tokens": 1,
            "reasoning_tokens": 0,
            "extra": {"prompt_tokens_details": {"text_tokens": 1}},
        }
    }
