"""Makes a host's table: prices from the first source that has them, facts from overlay, vendor rule and model."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.catalog.model import Abilities, Quirk, StructuredOutput, Thinking, ThinkingSwitch
from functions.local.catalog.limits import longest_answer, window
from functions.local.catalog.overlay import HostOverlay, OverlayModel
from functions.local.catalog.pricing import change_tables, price_table
from functions.local.catalog.rules import VendorRule
from functions.local.catalog.sources.offer import Offer
from functions.local.catalog.states import first_stated

# Which ability stands behind which request field: a host that lacks it answers the field with an error.
FIELDS: Final = {
    "tools": ("tools", "tool_choice"),
    "vision": ("messages[].content[].image_url",),
    "documents": ("messages[].content[].file",),
    "audio_input": ("messages[].content[].input_audio",),
    "structured_output": ("response_format.json_schema",),
}


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
    room = here.context_tokens or window(offers) or table["context_tokens"]
    # Nobody answers at more length than the model's owner lets it, nor beyond the window.
    answer = min(here.max_output_tokens or longest_answer(offers) or room, room, table["max_output_tokens"])
    facts: dict[str, Any] = {
        "vendor": vendor,
        "upstream_model": model.hosts[vendor],
        "context_tokens": room if room != table["context_tokens"] else None,
        "max_output_tokens": answer if answer != table["max_output_tokens"] else None,
        "limit_field": here.limit_field or rule.limit_field,
        "thinking_switch": _switch(model, here, rule, able),
        "thinking_visible": _visible(here, rule, able),
        "longest_thinking_s": here.longest_thinking_s or rule.longest_thinking_s,
        "api_version": here.api_version or rule.api_version,
        "promises": {name: value for name, value in rule.promises if value},
        "refuses": sorted({*rule.refuses, *here.refuses, *_lacking(offers, able)} - {*here.takes}),
        "quirks": sorted(quirk.value for quirk in {*rule.quirks, *here.quirks, *_quirks(offers, rule)}),
        "options": {**rule.options, **here.options},
        "deprecated": next((offer.deprecated for offer in offers if offer.deprecated), None),
        **_prices(here, offers, rule),
    }
    return {name: value for name, value in facts.items() if value not in (None, [], {})}


def _switch(model: OverlayModel, here: HostOverlay, rule: VendorRule, able: Abilities) -> ThinkingSwitch | None:
    switch = here.thinking_switch or rule.thinking_switch or model.thinking_switch
    return None if able.thinking is Thinking.NONE or switch is ThinkingSwitch.NONE else switch


def _visible(here: HostOverlay, rule: VendorRule, able: Abilities) -> bool | None:
    said = rule.thinking_visible if here.thinking_visible is None else here.thinking_visible
    return False if said is False and able.thinking is not Thinking.NONE else None


def _lacking(offers: Sequence[Offer], able: Abilities) -> set[str]:
    """What the model can do and this host, by a source's word, cannot."""
    stated = first_stated(offers)
    can = {name: bool(getattr(able, name)) for name in FIELDS}
    can["structured_output"] = able.structured_output is not StructuredOutput.NONE
    return {field for name, fields in FIELDS.items() if can[name] and stated.get(name) is False for field in fields}


def _quirks(offers: Sequence[Offer], rule: VendorRule) -> set[Quirk]:
    takes_system_turns = rule.speaks_claude and first_stated(offers).get("system_turns", False)
    return {Quirk.SYSTEM_TURNS} if takes_system_turns else set()


def _prices(here: HostOverlay, offers: Sequence[Offer], rule: VendorRule) -> dict[str, Any]:
    if here.prices is not None:
        return {"prices": {**here.prices.rates, "source": here.prices.source, "date": here.prices.date}}
    priced = [offer for offer in offers if offer.quote is not None]
    if not priced:
        return {}
    prices = price_table(priced[0], rule)
    services = prices.get("service_tiers", {})
    # A change that any source announces holds, whoever stated the price until then.
    changes = next((changes for offer in priced if (changes := change_tables(offer, services))), [])
    return {"prices": prices, "price_changes": changes}
