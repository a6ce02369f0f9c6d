"""A source's quote becomes the catalog's tables without changing a price."""

from decimal import Decimal
from typing import Any

from functions.local.catalog.pricing import change_tables, price_table
from functions.local.catalog.rules import VendorRule
from functions.local.catalog.sources.offer import Change, Offer, PriceList, Quote, Tier

PLAIN = VendorRule()


def rates(**usd: str) -> dict[str, Decimal]:
    return {name: Decimal(value) for name, value in usd.items()}


def offer(quote: Quote, url: str | None = None) -> Offer:
    return Offer("a source 1.0", "2026-11-30", "m", url=url, quote=quote)


def table(quote: Quote, rule: VendorRule = PLAIN) -> dict[str, Any]:
    made = price_table(offer(quote), rule)
    assert (made.pop("source"), made.pop("date")) == ("a source 1.0", "2026-11-30")
    return made


def test_the_source_is_named_with_its_page() -> None:
    quote = Quote(PriceList(rates(input="1", output="2")))
    assert price_table(offer(quote, "https://lab.example/pricing"), PLAIN)["source"] == (
        "a source 1.0, from https://lab.example/pricing"
    )


def test_a_class_that_costs_what_its_class_costs_is_not_named() -> None:
    listed = PriceList(
        rates(input="1", output="2", input_audio="1", input_image="3", reasoning="2", output_audio="2.5", cached="1")
    )
    assert table(Quote(listed)) == rates(input="1", cached="1", input_image="3", output="2", output_audio="2.5")


def test_thresholds_keep_their_operator() -> None:
    base = rates(input="1", output="2")
    dear = rates(input="2", output="4")
    assert table(Quote(PriceList(base, (Tier(200_000, dear),))))["tiers"] == [
        {"above_tokens": 200_000, "operator": ">", **dear}
    ]
    assert table(Quote(PriceList(base, (Tier(199_999, dear),))))["tiers"] == [
        {"above_tokens": 200_000, "operator": ">=", **dear}
    ]


def test_a_tier_that_changes_nothing_is_not_named() -> None:
    base = rates(input="1", output="2")
    dear = rates(input="2", output="4")
    listed = PriceList(base, (Tier(100, base), Tier(200, dear), Tier(300, dear)))
    assert [tier["above_tokens"] for tier in table(Quote(listed))["tiers"]] == [200]
    assert "tiers" not in table(Quote(PriceList(base, (Tier(100, base),))))


STANDARD = PriceList(
    rates(input="2", cached="0.25", output="10"), (Tier(9, rates(input="4", cached="0.5", output="15")),)
)
HALF = PriceList(rates(input="1", output="5"), (Tier(9, rates(input="2", output="7.5")),))
ROUNDED = PriceList(rates(input="1", cached="0.13", output="5"))


def test_a_service_tier_of_one_multiplier_is_that_multiplier() -> None:
    assert table(Quote(STANDARD, {"flex": HALF}))["service_tiers"] == {"flex": Decimal("0.5")}


def test_a_service_tier_of_several_multipliers_is_a_list_of_its_own() -> None:
    made = table(Quote(STANDARD, {"flex": ROUNDED, "priority": HALF}))
    assert made["service_tiers"] == {"priority": Decimal("0.5")}
    assert made["service_prices"] == {
        "flex": {
            **rates(input="1", cached="0.13", output="5"),
            "tiers": [{"above_tokens": 9, "operator": ">", **rates(input="4", cached="0.5", output="15")}],
        }
    }
    odd = PriceList(rates(input="1", output="5"), (Tier(9, rates(input="3", output="7.5")), Tier(20, rates(input="9"))))
    tiers = table(Quote(STANDARD, {"flex": odd}))["service_prices"]["flex"]["tiers"]
    assert tiers == [{"above_tokens": 9, "operator": ">", **rates(input="3", cached="0.5", output="7.5")}]


def test_a_third_is_a_list_because_no_decimal_says_it() -> None:
    standard = PriceList(rates(input="3", output="9"))
    third = PriceList(rates(input="1", output="3"))
    made = table(Quote(standard, {"flex": third}))
    assert "service_tiers" not in made
    assert made["service_prices"] == {"flex": rates(input="1", output="3")}


def test_a_service_tier_has_the_names_that_answers_give_it() -> None:
    rule = VendorRule(service_names={"fast": "priority", "turbo": "lightning"})
    double = PriceList(rates(input="4", cached="0.5", output="20"))
    assert table(Quote(STANDARD, {"priority": double}), rule)["service_tiers"] == {"fast": 2, "priority": 2}


def test_changes_keep_day_hours_and_multipliers() -> None:
    cheap = PriceList(rates(input="1", output="2"))
    windows = ({"hours": ["00:00-01:00"], "days": [1]},)
    quote = Quote(STANDARD, changes=(Change(cheap, since="2026-12-01"), Change(cheap, windows=windows)))
    factors = {"flex": Decimal("0.5")}
    assert change_tables(offer(quote), factors) == [
        {"since": "2026-12-01", **rates(input="1", output="2"), "service_tiers": factors},
        {"windows": list(windows), **rates(input="1", output="2"), "service_tiers": factors},
    ]
    assert "service_tiers" not in change_tables(offer(quote), {})[0]
