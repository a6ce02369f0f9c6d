"""A service tier whose prices share no multiplier is charged by its own list; the others by their multiplier."""

from fractions import Fraction

import pytest

from core.catalog.loader import load_catalog
from core.chat import Usage
from core.money import ContextTier, Prices, Rates, price

LISTED = Prices(
    base=Rates(input=10, output=20, cached=4),
    tiers=(ContextTier(100, ">", Rates(input=20, output=40, cached=8)),),
    service_tiers={"priority": Fraction(2)},
    service_prices={
        "flex": Prices(Rates(input=5, output=10, cached=3), (ContextTier(100, ">", Rates(input=11, output=21)),))
    },
)


@pytest.mark.parametrize(
    ("tier", "tokens", "expected"),
    [
        (None, 100, 60 * 10 + 40 * 4 + 20),
        ("default", 100, 60 * 10 + 40 * 4 + 20),
        ("priority", 100, 2 * (60 * 10 + 40 * 4 + 20)),
        ("flex", 100, 60 * 5 + 40 * 3 + 10),
        ("flex", 101, 61 * 11 + 40 * 11 + 21),
    ],
)
def test_prices_of_a_service_tier(tier: str | None, tokens: int, expected: int) -> None:
    usage = Usage(input_tokens=tokens, cached_tokens=40, output_tokens=1, service_tier=tier)
    assert price(usage, LISTED).total == expected


def test_a_shipped_model_has_a_rounded_price_in_one_tier() -> None:
    # GPT-5.4's cached input is $0.25 per million tokens, and $0.13 in the tier that halves everything else.
    model = load_catalog().find("gpt-5.4")
    assert model is not None
    prices = model.hosts[0].prices
    assert prices is not None
    cached = Usage(input_tokens=1_000, cached_tokens=1_000)
    assert price(cached, prices).total == 1_000 * 250_000
    assert price(Usage(input_tokens=1_000, cached_tokens=1_000, service_tier="flex"), prices).total == 1_000 * 130_000
    assert (
        price(Usage(input_tokens=1_000, cached_tokens=1_000, service_tier="priority"), prices).total == 1_000 * 500_000
    )
