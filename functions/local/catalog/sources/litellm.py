"""Reads LiteLLM's price map (MIT): prices per token class, context tier and service tier, limits, abilities.

Prices there are US dollars per token. A key like `input_cost_per_token_above_272k_tokens_flex` names class, threshold
and service tier.
"""

import gzip
import json
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from functions.local.catalog.rules import VendorRule
from functions.local.catalog.sources.offer import Change, Offer, PriceList, Quote, Tier, to_pico

_CLASSES: Final = {
    "input_cost_per_token": "input",
    "output_cost_per_token": "output",
    "cache_read_input_token_cost": "cached",
    "cache_creation_input_token_cost": "cache_write",
    "input_cost_per_audio_token": "input_audio",
    "input_cost_per_image_token": "input_image",
    "output_cost_per_reasoning_token": "reasoning",
    "output_cost_per_audio_token": "output_audio",
}
_PRICE: Final = re.compile(
    rf"(?P<class>{'|'.join(_CLASSES)})(?P<hour>_above_1hr)?(_above_(?P<thousands>\d+)k_tokens)?(_(?P<service>[a-z]+))?"
)
_SERVICES: Final = ("flex", "priority")
_ABILITIES: Final = {
    "supports_function_calling": "tools",
    "supports_parallel_function_calling": "parallel_tools",
    "supports_forced_tool_use": "forced_tools",
    "supports_vision": "vision",
    "supports_pdf_input": "documents",
    "supports_audio_input": "audio_input",
    "supports_audio_output": "audio_output",
    "supports_response_schema": "structured_output",
    "supports_reasoning": "thinking",
    "thinking_always_on": "always_thinks",
    "thinking_on_by_default": "thinks_by_default",
    "supports_sampling_params": "sampling",
    "supports_mid_conversation_system": "system_turns",
}
_NATIVE_SCHEMA: Final = (
    "supports_native_structured_output",
    "supports_bedrock_native_structured_output",
    "supports_bedrock_native_structured_output_by_default",
)
_PER_MILLION: Final = Decimal(1_000_000)

Listed = dict[int, dict[str, Decimal]]


class LiteLlm:
    """The price map in a file.

    Args:
        path: The file, compressed with gzip.
        name: What to call it.
        date: When it was read.
        rules: How each vendor's models are called in it.
    """

    def __init__(self, path: Path, name: str, date: str, rules: Mapping[str, VendorRule]) -> None:
        self._entries: dict[str, dict[str, Any]] = json.loads(gzip.decompress(path.read_bytes()), parse_float=Decimal)
        self._name, self._date, self._rules = name, date, rules

    def find(self, vendor: str, upstream_model: str) -> Offer | None:
        """What it says of a vendor's offer of a model."""
        for pattern in self._rules[vendor].litellm:
            key = pattern.format(upstream_model)
            entry = self._entries.get(key)
            if entry is not None and entry.get("mode") in ("chat", "responses"):
                return self._offer(key, entry, self._rules[vendor])
        return None

    def _offer(self, key: str, entry: dict[str, Any], rule: VendorRule) -> Offer:
        quote, zeros = _quote(entry, rule)
        return Offer(
            source=self._name,
            date=self._date,
            key=key,
            url=entry.get("source"),
            quote=quote,
            context_tokens=_tokens(entry.get("max_input_tokens")),
            max_output_tokens=_tokens(entry.get("max_output_tokens")),
            deprecated=entry.get("deprecation_date"),
            states=_states(entry, rule),
            efforts=_efforts(entry),
            zeros=zeros,
        )


def _quote(entry: dict[str, Any], rule: VendorRule) -> tuple[Quote | None, tuple[str, ...]]:
    lists: dict[str, Listed] = {}
    zeros: list[str] = []
    for key, value in _price_items(entry):
        parsed = _PRICE.fullmatch(key)
        if parsed is None or parsed["service"] not in (None, *_SERVICES):
            continue
        name = _CLASSES[parsed["class"]] + ("_1h" if parsed["hour"] else "")
        if not value:
            zeros.append(name)
            continue
        above = max(0, int(parsed["thousands"] or 0) * 1000 - rule.at_threshold)
        lists.setdefault(parsed["service"] or "", {}).setdefault(above, {})[name] = _per_million(value)
    standard = lists.get("", {})
    if not {"input", "output"} <= standard.get(0, {}).keys():
        return None, tuple(zeros)
    services = {name: _list(lists[name]) for name in _SERVICES if "input" in lists.get(name, {}).get(0, {})}
    return Quote(_list(standard), services, tuple(_off_peak(entry))), tuple(zeros)


def _price_items(entry: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    yield from entry.items()
    for step in entry.get("tiered_pricing", ()):
        thousands = int(step["range"][0]) // 1000
        suffix = f"_above_{thousands}k_tokens" if thousands else ""
        yield from ((f"{key}{suffix}", value) for key, value in step.items() if key in _CLASSES)


def _list(found: Listed) -> PriceList:
    """A list; what a larger request does not name costs what it costs otherwise."""
    base = found[0]
    return PriceList(base, tuple(Tier(above, base | found[above]) for above in sorted(found.keys() - {0})))


def _off_peak(entry: dict[str, Any]) -> Iterable[Change]:
    cheaper = entry.get("off_peak_pricing")
    if not cheaper:
        return
    rates = {name: _per_million(cheaper[key]) for key, name in _CLASSES.items() if cheaper.get(key)}
    windows = ({"hours": _hours(each["hours_utc"]), "days": each["weekdays"]} for each in cheaper["windows"])
    yield Change(PriceList(rates), windows=tuple(windows))


def _hours(written: str | list[str]) -> list[str]:
    spans = [written] if isinstance(written, str) else written
    return [re.sub(r"-00:00$", "-24:00", span) for span in spans]


def _per_million(per_token: Decimal | int) -> Decimal:
    return to_pico(per_token * _PER_MILLION)


def _tokens(value: object) -> int | None:
    return int(value) if isinstance(value, int | Decimal) and value > 0 else None


def _states(entry: dict[str, Any], rule: VendorRule) -> dict[str, bool]:
    states = {name: bool(entry[key]) for key, name in _ABILITIES.items() if entry.get(key) is not None}
    if rule.needs_native_schema:
        # Elsewhere the flag tells of a library that imitates schemas with tools, too.
        states["structured_output"] = any(entry.get(key) for key in _NATIVE_SCHEMA)
    if "supports_none_reasoning_effort" in entry:
        states["can_be_silenced"] = bool(entry["supports_none_reasoning_effort"])
    return states


def _efforts(entry: dict[str, Any]) -> tuple[str, ...] | None:
    if "reasoning_effort_levels" in entry:
        return tuple(entry["reasoning_effort_levels"])
    stated = {name: entry.get(f"supports_{name}_reasoning_effort") for name in ("none", "minimal", "xhigh", "max")}
    if all(value is None for value in stated.values()):
        return None
    order = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
    return tuple(name for name in order if stated.get(name, True))
