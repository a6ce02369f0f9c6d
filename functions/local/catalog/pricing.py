"""Turns a source's quote into the tables of a catalog file, exactly."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from functions.local.catalog.rules import VendorRule
from functions.local.catalog.sources.offer import Offer, PriceList, Quote, Rates, Tier

# Charged like the class behind it when it is not named (`core.money.Rates`), so that naming it again says nothing.
FALLBACK: Mapping[str, str] = {
    "input_audio": "input",
    "input_image": "input",
    "reasoning": "output",
    "output_audio": "output",
}
ORDER = (
    *("input", "cached", "cache_write", "cache_write_1h", "input_audio", "input_image"),
    *("output", "reasoning", "output_audio"),
)


def price_table(offer: Offer, rule: VendorRule) -> dict[str, Any]:
    """The `prices` table of a host, with its source."""
    assert offer.quote is not None, "an offer without a quote has no prices"
    source = offer.source if offer.url is None else f"{offer.source}, from {offer.url}"
    return {**_whole(offer.quote, rule), "source": source, "date": offer.date}


def change_tables(offer: Offer, service_tiers: Mapping[str, Decimal]) -> list[dict[str, Any]]:
    """The `price_changes` of a host, under the multipliers that hold for its standard prices.

    A change of price says nothing of service tiers: they are taken to go on.
    """
    assert offer.quote is not None, "an offer without a quote has no prices"
    tables: list[dict[str, Any]] = []
    for change in offer.quote.changes:
        when: dict[str, Any] = {} if change.since is None else {"since": change.since}
        if change.windows:
            when["windows"] = [dict(window) for window in change.windows]
        tables.append({**when, **_list(normal(change.listed)), "service_tiers": service_tiers})
    return [{name: value for name, value in table.items() if value != {}} for table in tables]


def normal(listed: PriceList) -> PriceList:
    """A list without rates and tiers that say what holds anyway."""
    base = _rates(listed.rates)
    tiers: list[Tier] = []
    for tier in listed.tiers:
        rates = _rates(tier.rates)
        if rates != (tiers[-1].rates if tiers else base):
            tiers.append(Tier(tier.above, rates))
    return PriceList(base, tuple(tiers))


def _whole(quote: Quote, rule: VendorRule) -> dict[str, Any]:
    standard = normal(quote.standard)
    services = {name: normal(listed) for name, listed in quote.services.items()}
    services |= {name: services[same] for name, same in rule.service_names.items() if same in services}
    factors = {name: _factor(standard, services[name]) for name in sorted(services)}
    table = _list(standard)
    if any(factors.values()):
        table["service_tiers"] = {name: factor for name, factor in factors.items() if factor}
    if not all(factors.values()):
        unlike = (name for name, factor in factors.items() if not factor)
        table["service_prices"] = {name: _list(_completed(services[name], standard)) for name in unlike}
    return table


def _factor(standard: PriceList, service: PriceList) -> Decimal | None:
    """What every stated price of a service tier is of the standard one, or None when they differ in that."""
    pairs = list(_pairs(standard, service))
    first, of = pairs[0]
    factor = (first / of).normalize()
    return factor if all(price == factor * base for price, base in pairs) else None


def _pairs(standard: PriceList, service: PriceList) -> Iterable[tuple[Decimal, Decimal]]:
    yield from ((price, standard.rates[name]) for name, price in service.rates.items() if name in standard.rates)
    larger = {tier.above: tier.rates for tier in standard.tiers}
    for tier in service.tiers:
        base = larger.get(tier.above, {})
        yield from ((price, base[name]) for name, price in tier.rates.items() if name in base)


def _completed(service: PriceList, standard: PriceList) -> PriceList:
    """A service tier's list with the standard price of what it does not name."""
    own = {tier.above: tier.rates for tier in service.tiers}
    larger = (Tier(tier.above, {**tier.rates, **own.get(tier.above, {})}) for tier in standard.tiers)
    return PriceList({**standard.rates, **service.rates}, tuple(larger))


def _list(listed: PriceList) -> dict[str, Any]:
    table: dict[str, Any] = dict(listed.rates)
    if listed.tiers:
        table["tiers"] = [{**_threshold(tier.above), **tier.rates} for tier in listed.tiers]
    return table


def _threshold(above: int) -> dict[str, Any]:
    """More than 199,999 tokens is 200,000 or more: vendors think in round numbers."""
    is_round = above % 1000 == 999
    return {"above_tokens": above + 1, "operator": ">="} if is_round else {"above_tokens": above, "operator": ">"}


def _rates(rates: Rates) -> Rates:
    said = {name: rates[name] for name in ORDER if name in rates}
    return {name: rate for name, rate in said.items() if rate != said.get(FALLBACK.get(name, ""))}
