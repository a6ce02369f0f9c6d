"""Reads models.dev (MIT): offers of many providers with costs, limits, modalities and thinking options."""

import gzip
import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from functions.local.catalog.rules import VendorRule
from functions.local.catalog.sources.offer import Offer, PriceList, Quote, Rates, Tier, to_pico

_CLASSES: Final = {
    "input": "input",
    "output": "output",
    "cache_read": "cached",
    "cache_write": "cache_write",
    "input_audio": "input_audio",
    "output_audio": "output_audio",
    "reasoning": "reasoning",
}
_FLAGS: Final = {
    "tool_call": "tools",
    "structured_output": "structured_output",
    "reasoning": "thinking",
    "temperature": "sampling",
}
_MODALITIES: Final = {"image": "vision", "pdf": "documents", "audio": "audio_input"}


class ModelsDev:
    """The providers' offers and the models that they refer to, in two files.

    Args:
        providers: The offers, compressed with gzip.
        models: The models, compressed with gzip.
        name: What to call the source.
        date: When it was read.
        rules: How each vendor is called in it.
    """

    def __init__(self, providers: Path, models: Path, name: str, date: str, rules: Mapping[str, VendorRule]) -> None:
        self._offers: dict[str, dict[str, Any]] = _read(providers)
        self._models: dict[str, dict[str, Any]] = {model["id"]: model for model in _read(models)}
        self._name, self._date, self._rules = name, date, rules

    def find(self, vendor: str, upstream_model: str) -> Offer | None:
        """What it says of a vendor's offer of a model."""
        provider = self._rules[vendor].modelsdev
        if provider is None or upstream_model not in self._offers[provider]:
            return None
        entry = self._whole(self._offers[provider][upstream_model])
        limit = entry.get("limit", {})
        quote, zeros = _quote(entry.get("cost", {}), self._rules[vendor])
        return Offer(
            source=self._name,
            date=self._date,
            key=f"{provider}/{upstream_model}",
            quote=quote,
            context_tokens=limit.get("context") or None,
            max_output_tokens=limit.get("output") or None,
            released=entry.get("release_date"),
            states=_states(entry),
            efforts=_efforts(entry),
            zeros=zeros,
        )

    def _whole(self, offer: dict[str, Any]) -> dict[str, Any]:
        base = dict(self._models.get(offer.get("base_model", ""), {}))
        for dotted in offer.get("base_model_omit", ()):
            base.pop(dotted, None)
        return base | offer


def _read(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()), parse_float=Decimal)


def _quote(cost: dict[str, Any], rule: VendorRule) -> tuple[Quote | None, tuple[str, ...]]:
    zeros = tuple(name for key, name in _CLASSES.items() if key in cost and not cost[key])
    base = _rates(cost)
    if not {"input", "output"} <= base.keys():
        return None, zeros
    steps = sorted(cost.get("tiers", ()), key=lambda step: int(step["tier"]["size"]))
    tiers = (Tier(int(step["tier"]["size"]) - rule.at_threshold, {**base, **_rates(step)}) for step in steps)
    return Quote(PriceList(base, tuple(tiers))), zeros


def _rates(cost: dict[str, Any]) -> Rates:
    return {name: to_pico(Decimal(cost[key])) for key, name in _CLASSES.items() if cost.get(key)}


def _states(entry: dict[str, Any]) -> dict[str, bool]:
    states = {name: bool(entry[key]) for key, name in _FLAGS.items() if entry.get(key) is not None}
    modalities = entry.get("modalities", {})
    if "input" in modalities:
        states |= {name: key in modalities["input"] for key, name in _MODALITIES.items()}
    if "output" in modalities:
        states["audio_output"] = "audio" in modalities["output"]
    return states


def _efforts(entry: dict[str, Any]) -> tuple[str, ...] | None:
    return next(
        (tuple(option["values"]) for option in entry.get("reasoning_options", ()) if option["type"] == "effort"), None
    )
