"""Reads the package `genai-prices` (MIT): prices of many providers, with announced changes and hours of the day."""

from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from importlib import metadata
from typing import Final

from genai_prices.data import providers
from genai_prices.types import ConditionalPrice, ModelInfo, ModelPrice, StartDateConstraint, TieredPrices

from functions.local.catalog.rules import VendorRule
from functions.local.catalog.sources.offer import Change, Offer, PriceList, Quote, Tier, to_pico

_CLASSES: Final = {
    "input_mtok": "input",
    "output_mtok": "output",
    "cache_read_mtok": "cached",
    "cache_write_mtok": "cache_write",
    "cache_write_1h_mtok": "cache_write_1h",
    "input_audio_mtok": "input_audio",
    "output_audio_mtok": "output_audio",
}
_SERVICES: Final = ("flex", "priority")


class GenaiPrices:
    """The prices in the installed package.

    Args:
        date: The day of that version; announced changes up to then are in force.
        rules: How each vendor is called in it.
    """

    def __init__(self, date: str, rules: Mapping[str, VendorRule]) -> None:
        self._providers = {provider.id: provider for provider in providers}
        self._name = f"genai-prices {metadata.version('genai-prices')}"
        self._date, self._rules = date, rules

    def find(self, vendor: str, upstream_model: str) -> Offer | None:
        """What it says of a vendor's offer of a model."""
        name = self._rules[vendor].genai
        model = self._providers[name].find_model(upstream_model) if name else None
        if model is None:
            return None
        provider = self._providers[name or ""]
        quote, zeros = _quote(model, date.fromisoformat(self._date))
        return Offer(
            source=self._name,
            date=self._date,
            key=f"{provider.id}/{model.id}",
            url=next(iter(provider.pricing_urls or ()), None),
            quote=quote,
            context_tokens=model.context_window,
            zeros=zeros,
        )


def _quote(model: ModelInfo, today: date) -> tuple[Quote | None, tuple[str, ...]]:
    if isinstance(model.prices, ModelPrice):
        listed, zeros = _list(model.prices)
        changes: tuple[Change, ...] = ()
    else:
        listed, zeros = _list(_in_force(model.prices, today))
        changes = tuple(_announced(model.prices, today))
    if not {"input", "output"} <= listed.rates.keys():
        return None, zeros
    return Quote(listed, dict(_services(model, today)), changes), zeros


def _in_force(prices: Iterable[ConditionalPrice], today: date) -> ModelPrice:
    """The last price whose day has come; hours of the day hold at their time and are the last of all."""
    return [
        each.prices
        for each in prices
        if not isinstance(each.constraint, StartDateConstraint) or each.constraint.start_date <= today
    ][-1]


def _announced(prices: Iterable[ConditionalPrice], today: date) -> Iterable[Change]:
    for each in prices:
        if isinstance(each.constraint, StartDateConstraint) and each.constraint.start_date > today:
            yield Change(_list(each.prices)[0], since=each.constraint.start_date.isoformat())


def _services(model: ModelInfo, today: date) -> Iterable[tuple[str, PriceList]]:
    for variant in model.price_variants or ():
        tier = variant.when.get("service_tier")
        begins = variant.constraint
        if tier in _SERVICES and (not isinstance(begins, StartDateConstraint) or begins.start_date <= today):
            yield str(tier), _list(variant.prices)[0]


def _list(prices: ModelPrice) -> tuple[PriceList, tuple[str, ...]]:
    base: dict[str, Decimal] = {}
    tiers: dict[int, dict[str, Decimal]] = {}
    zeros: list[str] = []
    for key, name in _CLASSES.items():
        value = getattr(prices, key, None)
        if isinstance(value, TieredPrices):
            for tier in value.tiers:
                tiers.setdefault(tier.start, {})[name] = to_pico(tier.price)
            value = value.base
        if value:
            base[name] = to_pico(value)
        elif value is not None:
            zeros.append(name)
    return PriceList(base, tuple(Tier(above, base | tiers[above]) for above in sorted(tiers))), tuple(zeros)
