"""Prices, charges and their rounding: the worked numbers of the reference, and laws."""

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.chat import Usage
from core.money import (
    NO_COST,
    PICO_PER_MICRO,
    Charge,
    ContextTier,
    Cost,
    Prices,
    Rates,
    Terms,
    charge,
    dollars,
    pico_per_request,
    pico_per_token,
    price,
)


def rates(**usd_per_million: str) -> Rates:
    return Rates(**{name: pico_per_token(Decimal(value)) for name, value in usd_per_million.items()})


def micros(usage: Usage, prices: Prices) -> int:
    return charge([price(usage, prices)], Terms()).total


GPT = Prices(
    base=rates(input="2.00", cached="0.10", cache_write="2.50", output="10.00"),
    tiers=(ContextTier(272_000, ">", rates(input="4.00", cached="0.20", cache_write="5.00", output="15.00")),),
)
CLAUDE = Prices(base=rates(input="4", cached="0.20", cache_write_5m="5", cache_write_1h="8", output="20"))
GEMINI = Prices(
    base=rates(input="3", cached="0.15", output="15"),
    service_tiers={"flex": Fraction(1, 2), "priority": Fraction(9, 5)},
)


# The worked numbers of the wire reference, section 10.6 (read 2026-11-30).
@pytest.mark.parametrize(
    ("usage", "prices", "expected"),
    [
        (
            Usage(
                input_tokens=10_000,
                cached_tokens=6_000,
                cache_write_tokens=2_000,
                output_tokens=1_000,
                reasoning_tokens=400,
            ),
            GPT,
            19_600,
        ),
        (Usage(input_tokens=300_000, output_tokens=1_000), GPT, 1_215_000),
        (Usage(input_tokens=272_000, output_tokens=0), GPT, 544_000),
        (
            Usage(
                input_tokens=93_500,
                cached_tokens=90_000,
                cache_write_5m_tokens=1_000,
                cache_write_1h_tokens=2_000,
                output_tokens=800,
            ),
            CLAUDE,
            57_000,
        ),
        (Usage(input_tokens=8_000, cached_tokens=5_000, output_tokens=1_000, reasoning_tokens=700), GEMINI, 24_750),
        (Usage(input_tokens=8_000, cached_tokens=5_000, output_tokens=1_000, service_tier="flex"), GEMINI, 12_375),
        (Usage(input_tokens=8_000, cached_tokens=5_000, output_tokens=1_000, service_tier="priority"), GEMINI, 44_550),
    ],
)
def test_worked_numbers(usage: Usage, prices: Prices, expected: int) -> None:
    assert micros(usage, prices) == expected


def test_the_published_example_of_31_and_64_tokens() -> None:
    result = charge([price(Usage(input_tokens=31, output_tokens=64), Prices(rates(input="3", output="15")))], Terms())
    assert result == Charge(total=1_053, input=93, output=960)
    assert dollars(result.total) == 0.001053


def test_a_tier_that_starts_at_its_threshold() -> None:
    tier = ContextTier(200_000, ">=", rates(input="6", output="20"))
    assert [tier.applies(tokens) for tokens in (199_999, 200_000, 200_001)] == [False, True, True]


def test_classes_without_a_rate_fall_back_to_the_class_that_they_are_part_of() -> None:
    plain = Prices(rates(input="1", output="2"))
    usage = Usage(
        input_tokens=60,
        cached_tokens=10,
        cache_write_tokens=10,
        cache_write_5m_tokens=10,
        cache_write_1h_tokens=10,
        input_audio_tokens=10,
        input_image_tokens=10,
        output_tokens=30,
        reasoning_tokens=10,
        output_audio_tokens=10,
    )
    assert price(usage, plain).total == (60 * 1 + 30 * 2) * PICO_PER_MICRO
    own = Prices(
        rates(input="1", output="2", cache_write="3", input_audio="4", input_image="5", reasoning="6", output_audio="7")
    )
    assert price(usage, own).input == (10 + 10 * 3 * 3 + 10 * 4 + 10 * 5) * PICO_PER_MICRO
    assert price(usage, own).output == (10 * 2 + 10 * 6 + 10 * 7) * PICO_PER_MICRO


def test_a_host_that_reports_more_parts_than_its_total_is_paid_for_the_parts() -> None:
    usage = Usage(input_tokens=5, cached_tokens=10)
    assert price(usage, Prices(rates(input="2", cached="1", output="1"))).total == 10 * PICO_PER_MICRO


def test_markup_discount_and_checks() -> None:
    cost = Cost(Fraction(1_000 * PICO_PER_MICRO), Fraction(3_000 * PICO_PER_MICRO))
    terms = Terms(markup=Fraction(1, 20), discount=Fraction(1, 10), guardrail_pico=200 * PICO_PER_MICRO)
    assert charge([cost], terms) == Charge(total=3_980, input=945, output=2_835, guardrail=200)


def test_what_rounding_leaves_goes_to_the_largest_remainders() -> None:
    tenths = [Fraction(tenth * PICO_PER_MICRO, 10) for tenth in (52, 7)]
    terms = Terms(guardrail_pico=6 * PICO_PER_MICRO // 10)
    assert charge([Cost(*tenths)], terms) == Charge(total=7, input=5, output=1, guardrail=1)
    equal = [Fraction(PICO_PER_MICRO, 2)] * 3
    assert charge([Cost(*equal)], Terms()) == Charge(total=2, input=1, output=1, request=0)


def test_on_an_own_key_only_the_checks_are_charged() -> None:
    cost = Cost(Fraction(10**12), Fraction(10**12))
    terms = Terms(guardrail_pico=7 * PICO_PER_MICRO, provider_cost=False)
    assert charge([cost], terms) == Charge(total=7, input=0, output=0, guardrail=7)


TEN_SECONDS = 308_333_333  # at 11.1 cents an hour, which is what Groq bills for a shorter sound


@pytest.mark.parametrize(
    ("usage", "asked", "expected"),
    [
        # A fee comes on top of the tokens.
        (Usage(input_tokens=31, output_tokens=64), {"per_request": 5_000 * PICO_PER_MICRO}, (93, 960, 5_000)),
        # A minimum is filled up to, and lies idle above it.
        (Usage(input_tokens=31, output_tokens=64), {"minimum": 2_000 * PICO_PER_MICRO}, (93, 960, 947)),
        (Usage(input_tokens=31, output_tokens=64), {"minimum": 1_053 * PICO_PER_MICRO}, (93, 960, 0)),
        (Usage(input_tokens=31, output_tokens=64), {"minimum": 1_052 * PICO_PER_MICRO}, (93, 960, 0)),
        (Usage(input_tokens=1), {"minimum": TEN_SECONDS}, (3, 0, 305)),
        # The fee counts toward the minimum.
        (
            Usage(input_tokens=31, output_tokens=64),
            {"per_request": 100 * PICO_PER_MICRO, "minimum": 2_000 * PICO_PER_MICRO},
            (93, 960, 947),
        ),
        # A service tier multiplies everything.
        (
            Usage(input_tokens=1_000, output_tokens=0, service_tier="flex"),
            {"minimum": 10_000 * PICO_PER_MICRO},
            (1_500, 0, 3_500),
        ),
        # Where no token was reported nothing was bought.
        (Usage(), {"per_request": 1, "minimum": 2_000 * PICO_PER_MICRO}, (0, 0, 0)),
    ],
)
def test_what_a_request_costs_beside_its_tokens(
    usage: Usage, asked: dict[str, Any], expected: tuple[int, int, int]
) -> None:
    prices = Prices(rates(input="3", output="15"), service_tiers={"flex": Fraction(1, 2)}, **asked)
    result = charge([price(usage, prices)], Terms())
    assert (result.input, result.output, result.request) == expected
    assert result.total == sum(expected)


def test_a_minimum_of_free_tokens_and_of_a_service_tiers_own_list() -> None:
    free = Prices(Rates(0, 0), minimum=7, service_prices={"batch": Prices(Rates(0, 0), minimum=3)})
    assert price(Usage(cached_tokens=1), free) == Cost(Fraction(0), Fraction(0), Fraction(7))
    assert price(Usage(input_tokens=1, service_tier="batch"), free).total == 3


def test_markup_discount_free_plan_and_own_key_hold_for_what_a_request_costs_itself() -> None:
    cost = Cost(Fraction(0), Fraction(0), Fraction(1_000 * PICO_PER_MICRO))
    terms = Terms(markup=Fraction(1, 20), discount=Fraction(1, 10), guardrail_pico=7 * PICO_PER_MICRO)
    assert charge([cost], terms) == Charge(total=952, input=0, output=0, guardrail=7, request=945)
    assert charge([cost], Terms(provider_cost=False)) == Charge(0, 0, 0)


def test_every_charged_call_has_its_own_minimum() -> None:
    least = Prices(rates(input="3", output="15"), minimum=100 * PICO_PER_MICRO)
    calls = [price(Usage(input_tokens=10), least), price(Usage(input_tokens=50), least)]
    assert charge(calls, Terms()) == Charge(total=250, input=180, output=0, request=70)


@pytest.mark.parametrize("wrong", ["-1", "NaN", "Infinity", "0.0000001"])
def test_prices_that_cannot_be_charged_exactly_are_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="a price"):
        pico_per_token(Decimal(wrong))


def test_what_a_request_costs_itself_may_be_a_pico_dollar_and_no_less() -> None:
    assert pico_per_request(Decimal("0.000000000001")) == 1
    assert pico_per_request(Decimal("0.014")) == 14_000 * PICO_PER_MICRO
    with pytest.raises(ValueError, match="at most 12 decimal places"):
        pico_per_request(Decimal("0.0000000000001"))


amounts = st.integers(0, 10**15)
costs = st.builds(Cost, *[st.builds(Fraction, amounts, st.integers(1, 20))] * 3)
shares = st.builds(Fraction, st.integers(0, 100), st.just(100))
all_terms = st.builds(Terms, markup=shares, discount=shares, guardrail_pico=amounts)
usages = st.builds(
    Usage,
    input_tokens=st.integers(0, 10**6),
    cached_tokens=st.integers(0, 10**5),
    output_tokens=st.integers(0, 10**6),
    reasoning_tokens=st.none() | st.integers(0, 10**5),
)


@given(st.lists(costs, max_size=4), all_terms)
def test_parts_add_up_to_the_total_and_each_is_less_than_one_off(several: list[Cost], terms: Terms) -> None:
    result = charge(several, terms)
    assert result.input + result.output + result.guardrail + result.request == result.total
    total = sum(several, NO_COST)
    factor = (1 + terms.markup) * (1 - terms.discount)
    exact = total.total * factor + terms.guardrail_pico
    assert result.total == math.floor(exact / PICO_PER_MICRO + Fraction(1, 2))
    assert abs(result.input - total.input * factor / PICO_PER_MICRO) < 1
    assert abs(result.output - total.output * factor / PICO_PER_MICRO) < 1
    assert abs(result.request - total.request * factor / PICO_PER_MICRO) < 1
    assert min(result.input, result.output, result.guardrail, result.request) >= 0


@given(usages, usages)
def test_prices_are_additive_in_pico_dollars_within_a_tier(one: Usage, other: Usage) -> None:
    flat = Prices(rates(input="3", output="15"))
    both = Usage(
        input_tokens=one.input_tokens + other.input_tokens, output_tokens=one.output_tokens + other.output_tokens
    )
    plain = [Usage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens) for usage in (one, other)]
    assert price(plain[0], flat) + price(plain[1], flat) == price(both, flat)


picos = st.just(0) | st.integers(0, 10**13)


@given(usages, picos, picos)
def test_whatever_costs_anything_costs_the_minimum_and_nothing_costs_nothing(
    usage: Usage, per_request: int, minimum: int
) -> None:
    plain = price(usage, GPT)
    whole = price(usage, replace(GPT, per_request=per_request, minimum=minimum))
    assert (whole.input, whole.output) == (plain.input, plain.output)
    is_used = any((usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens))
    assert whole.total == (max(Fraction(minimum), plain.total + per_request) if is_used else 0)


@given(usages, st.integers(0, 10**6), picos, picos)
def test_more_usage_never_costs_less(usage: Usage, more: int, per_request: int, minimum: int) -> None:
    prices = replace(GPT, per_request=per_request, minimum=minimum)
    bigger = Usage(
        input_tokens=usage.input_tokens + more,
        cached_tokens=usage.cached_tokens,
        output_tokens=usage.output_tokens + more,
        reasoning_tokens=usage.reasoning_tokens,
    )
    assert micros(bigger, prices) >= micros(usage, prices)
