"""Models as callers list them: OpenAI's shape, and beside it what a model can do and costs. Hosts are not named."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Final

from core.catalog.model import Abilities, Host, Model
from core.chat import Json
from core.money import PICO_PER_MICRO, ContextTier, Prices, Rates
from core.surfaces.json_text import to_json
from core.surfaces.quality import NOTHING_SAID, Opinions, quality_object

_RATES: Final = tuple(each.name for each in fields(Rates))

Supported = Callable[[Model], Sequence[str]]
"""Gives the request fields that a model takes in some form."""


def model_list(models: Iterable[Model], supported: Supported | None = None, opinions: Opinions = NOTHING_SAID) -> bytes:
    """The body of `GET /models`, written model by model: looking through thousands of them for garbage, while they wait
    to be written together, takes as long as making them, and twice the memory.

    Args:
        models: Those that may be shown, in the order to show them.
        supported: The request fields that a model takes; left out where it is not told.
        opinions: What the organisation's callers said, by model and task.
    """
    body = bytearray(b'{"object":"list","data":[')
    for place, model in enumerate(models):
        body += b"," if place else b""
        body += to_json(model_object(model, supported, opinions))
    body += b"]}"
    return bytes(body)


def model_object(
    model: Model, supported: Supported | None = None, opinions: Opinions = NOTHING_SAID
) -> dict[str, Json]:
    """One model. Prices are US dollars for a million tokens or a request, at the cheapest host; null while unknown."""
    abilities = model.abilities
    made: dict[str, Json] = {
        "id": model.id,
        "object": "model",
        "created": _created(model.released),
        "owned_by": model.owner,
        "name": model.name,
        "description": model.description,
        "aliases": list(model.aliases),
        "context_tokens": model.context_tokens,
        "max_output_tokens": model.max_output_tokens,
        "modalities": _modalities(abilities),
        "prices": _cheapest(model.hosts),
        "abilities": _abilities(abilities),
        "quality": quality_object(model, opinions),
    }
    if supported is not None:
        made["supported_parameters"] = list(supported(model))
    if model.deprecated is not None:
        made["deprecated"] = model.deprecated
    return made


def _created(released: str | None) -> int:
    """Unix time of the release; 0 where no full date is known, since OpenAI's shape wants a number."""
    try:
        return int(datetime.fromisoformat(released or "").replace(tzinfo=UTC).timestamp())
    except ValueError:
        return 0


def _modalities(abilities: Abilities) -> dict[str, Json]:
    read = (("image", abilities.vision), ("file", abilities.documents), ("audio", abilities.audio_input))
    spoken = ["audio"] if abilities.audio_output else []
    return {"input": ["text", *(name for name, can in read if can)], "output": ["text", *spoken]}


def _abilities(abilities: Abilities) -> dict[str, Json]:
    return {
        "tools": abilities.tools,
        "parallel_tools": abilities.parallel_tools,
        "forced_tools": abilities.tools and abilities.forced_tools,
        "vision": abilities.vision,
        "documents": abilities.documents,
        "audio_input": abilities.audio_input,
        "audio_output": abilities.audio_output,
        "json_mode": abilities.json_mode,
        "structured_output": abilities.structured_output.value,
        "thinking": abilities.thinking.value,
        "reasoning_efforts": list(abilities.efforts),
        "choices": abilities.choices,
    }


def _cheapest(hosts: Iterable[Host]) -> Json:
    known = [host.prices for host in hosts if host.prices is not None]
    if not known:
        return None
    return _prices(min(known, key=lambda prices: (prices.base.input + prices.base.output, prices.base.output)))


def _prices(prices: Prices) -> dict[str, Json]:
    each = {"per_request": prices.per_request, "minimum": prices.minimum}
    said = {name: pico / PICO_PER_MICRO**2 for name, pico in each.items() if pico}
    return {**_rates(prices.base), **said, "tiers": [_tier(tier) for tier in prices.tiers]}


def _tier(tier: ContextTier) -> dict[str, Json]:
    return {"input_tokens": f"{tier.operator} {tier.threshold}", **_rates(tier.rates)}


def _rates(rates: Rates) -> dict[str, Json]:
    """The classes that have a price of their own."""
    asked = ((name, getattr(rates, name)) for name in _RATES)
    return {name: pico / PICO_PER_MICRO for name, pico in asked if pico is not None}
