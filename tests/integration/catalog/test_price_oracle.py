"""What a call costs by the shipped catalog is what `genai-prices` makes of it, wherever both read the same price list.

The catalog's prices come from another source; the tiers, the classes of token and the arithmetic are our own.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from genai_prices import Usage as OracleUsage
from genai_prices import calc_price
from genai_prices.data import providers
from genai_prices.types import Provider

from core.catalog.loader import load_catalog
from core.chat import Usage
from core.money import Prices, price
from functions.local.catalog.rules import read_rules

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
USAGES = (
    Usage(input_tokens=1_000, output_tokens=100),
    Usage(input_tokens=1_000, cached_tokens=700, output_tokens=100),
    Usage(input_tokens=9_000, cached_tokens=3_000, cache_write_tokens=2_000, output_tokens=1),
    Usage(input_tokens=199_999, output_tokens=7),
    Usage(input_tokens=200_000, output_tokens=7),
    Usage(input_tokens=200_001, cached_tokens=150_000, output_tokens=7),
    Usage(input_tokens=272_000, output_tokens=999),
    Usage(input_tokens=272_001, cached_tokens=271_000, output_tokens=999),
)
PER_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Case:
    """A host that the oracle knows under a provider's name."""

    model: str
    vendor: str
    upstream_model: str
    context_tokens: int
    provider: Provider
    prices: Prices


def cases() -> Iterator[Case]:
    oracle = {provider.id: provider for provider in providers}
    rules = read_rules()
    for model in load_catalog().models:
        for host in model.hosts:
            name = rules[host.vendor].genai
            known = name is not None and oracle[name].find_model(host.upstream_model) is not None
            # OpenRouter's prices are the oracle's own, so that they would prove nothing.
            from_elsewhere = (host.price_source or "").startswith("litellm")
            prices = host.prices_at(AT.timestamp())
            if name is not None and known and from_elsewhere and prices is not None and ":" not in model.id:
                window = host.context_tokens or model.context_tokens
                yield Case(model.id, host.vendor, host.upstream_model, window, oracle[name], prices)


def ours(usage: Usage, prices: Prices) -> Fraction:
    return price(usage, prices).total / 10**12


def theirs(usage: Usage, case: Case) -> Fraction:
    asked = OracleUsage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cached_tokens or None,
        cache_write_tokens=usage.cache_write_tokens or None,
        output_tokens=usage.output_tokens,
    )
    cost = calc_price(asked, case.upstream_model, provider_id=case.provider.id, genai_request_timestamp=AT)
    return Fraction(cost.total_price)


CASES = list(cases())

# The oracle has one price for all of Bedrock's regions; the vendor's own list has a dearer one for Frankfurt.
REGIONAL = {"amazon/nova-2-lite", "amazon/nova-pro", "amazon/nova-lite", "amazon/nova-micro"}


def test_there_is_enough_to_compare() -> None:
    assert len(CASES) >= 100
    assert len({case.vendor for case in CASES}) >= 10


@pytest.mark.parametrize("usage", USAGES, ids=lambda usage: f"{usage.input_tokens}-{usage.cached_tokens}")
def test_both_charge_the_same(usage: Usage) -> None:
    differ = {
        f"{case.model} on {case.vendor}": (float(ours(usage, case.prices)), float(theirs(usage, case)))
        for case in CASES
        if usage.total_tokens <= case.context_tokens
        and not is_regional(case)
        and ours(usage, case.prices) != theirs(usage, case)
    }
    assert differ == {}


def random_usages(case: Case, count: int = 20) -> Iterator[Usage]:
    """Whatever fits the window, often at the edge of a tier, always the same for a host."""
    dice = random.Random(f"{case.vendor} {case.upstream_model}")
    edges = [edge + step for edge in (128_000, 200_000, 256_000, 272_000) for step in (-1, 0, 1)]
    for _ in range(count):
        output = dice.randrange(2_000)
        room = case.context_tokens - output
        total = min(room, dice.choice([dice.randrange(2_000), dice.choice(edges), dice.randrange(room)]))
        cached = dice.randrange(total + 1) if dice.random() < 0.6 else 0
        # Gemini tells of no writes (wire reference, section 10.1); LiteLLM has a price for some of them all the same.
        tells_writes = not case.model.startswith("google/")
        written = dice.randrange(total - cached + 1) if tells_writes and dice.random() < 0.3 else 0
        yield Usage(total, cached_tokens=cached, cache_write_tokens=written, output_tokens=output)


def test_both_charge_the_same_for_whatever_was_used() -> None:
    differ = {
        f"{case.model} on {case.vendor}": (usage, float(ours(usage, case.prices)), float(theirs(usage, case)))
        for case in CASES
        if not is_regional(case)
        for usage in random_usages(case)
        if ours(usage, case.prices) != theirs(usage, case)
    }
    assert differ == {}


def is_regional(case: Case) -> bool:
    """Where the two differ, and why stands beside the names."""
    return case.vendor == "bedrock-eu-central-1" and case.model in REGIONAL


def test_the_oracle_sees_a_wrong_price() -> None:
    case = next(case for case in CASES if case.model == "openai/gpt-4o")
    assert theirs(USAGES[0], case) == Fraction(Decimal("0.0035"))
