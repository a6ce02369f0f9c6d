"""Makes a host's table: prices from the first source that has them, facts from overlay, vendor rule and model."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.catalog.model import Abilities, Thinking, ThinkingSwitch
from functions.local.catalog.overlay import HostOverlay, OverlayModel
from functions.local.catalog.pricing import change_tables, price_table
from functions.local.catalog.rules import VendorRule
from functions.local.catalog.sources.offer import Offer

# Which ability stands behind which request field: a host that lacks it answers the field with an error.
FIELDS: Final = {
    "tools": ("tools", "tool_choice"),
    "vision": ("messages[].content[].image_url",),
    "documents": ("messages[].content[].file",),
    "audio_input": ("messages[].content[].input_audio",),
    "structured_output": ("response_format.json_schema",),
}
SCHEMA: Final = "response_format.json_schema"


def host_table(
    model: OverlayModel,
    vendor: str,
    offers: Sequence[Offer],
    rule: VendorRule,
    able: Abilities,
    table: Mapping[str, Any],
) -> dict[str, Any]:
    """The `hosts` table of one vendor.

    Args:
        model: The model in the overlay.
        vendor: Who offers it.
        offers: What the sources say of the offer, the most trusted first.
        rule: What holds for all hosts of the vendor.
        able: What the model can do.
        table: The model's own table, for its limits.
    """
    here = model.at.get(vendor, HostOverlay())
    facts: dict[str, Any] = {
        "vendor": vendor,
        "upstream_model": model.hosts[vendor],
        "context_tokens": _narrower("context_tokens", here, offers, table),
        "max_output_tokens": _narrower("max_output_tokens", here, offers, table),
        "limit_field": here.limit_field or rule.limit_field,
        "thinking_switch": _switch(model, here, rule, able),
        "thinking_visible": _visible(here, rule, able),
        "longest_thinking_s": here.longest_thinking_s or rule.longest_thinking_s,
        "api_version": here.api_version or rule.api_version,
        "promises": {name: value for name, value in rule.promises if value},
        "refuses": sorted({*rule.refuses, *here.refuses, *_lacking(offers, rule, able)}),
        "quirks": sorted(quirk.value for quirk in {*rule.quirks, *here.quirks}),
        "options": {**rule.options, **here.options},
        "deprecated": next((offer.deprecated for offer in offers if offer.deprecated), None),
        **_prices(here, offers, rule),
    }
    return {name: value for name, value in facts.items() if value not in (None, [], {})}


def _narrower(name: str, here: HostOverlay, offers: Sequence[Offer], table: Mapping[str, Any]) -> int | None:
    """A host's own limit where it is below the model's."""
    stated = [getattr(offer, name) for offer in offers if getattr(offer, name) is not None]
    own = getattr(here, name) or (max(stated) if name == "context_tokens" else stated[0]) if stated else None
    own = getattr(here, name) or own
    return own if own is not None and own < table[name] else None


def _switch(model: OverlayModel, here: HostOverlay, rule: VendorRule, able: Abilities) -> ThinkingSwitch | None:
    if able.thinking is Thinking.NONE:
        return None
    return here.thinking_switch or rule.thinking_switch or model.thinking_switch


def _visible(here: HostOverlay, rule: VendorRule, able: Abilities) -> bool | None:
    if able.thinking is Thinking.NONE:
        return None
    said = rule.thinking_visible if here.thinking_visible is None else here.thinking_visible
    return None if said else said


def _lacking(offers: Sequence[Offer], rule: VendorRule, able: Abilities) -> set[str]:
    """What the model can do and this host, by a source's word, cannot."""
    lacking: set[str] = set()
    stated: dict[str, bool] = {}
    for offer in offers:
        for name, value in offer.states.items():
            stated.setdefault(name, value)
    for ability, fields in FIELDS.items():
        if stated.get(ability) is False and getattr(able, ability):
            lacking |= set(fields)
    if rule.needs_native_schema and not stated.get("native_schema", False):
        lacking.add(SCHEMA)
    return lacking


def _prices(here: HostOverlay, offers: Sequence[Offer], rule: VendorRule) -> dict[str, Any]:
    if here.prices is not None:
        return {"prices": {**here.prices.rates, "source": here.prices.source, "date": here.prices.date}}
    priced = [offer for offer in offers if offer.quote is not None]
    if not priced:
        return {}
    # A change that any source announces holds, whoever stated the price until then.
    changes = next((changes for changes in map(change_tables, priced) if changes), [])
    return {"prices": price_table(priced[0], rule), "price_changes": changes}
