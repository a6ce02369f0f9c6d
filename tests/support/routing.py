"""Small catalogs, readings and requests for tests of routing."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from core.catalog.loader import Catalog
from core.catalog.model import Abilities, Host, Model, Promises, Score, StructuredOutput, Thinking
from core.chat import ChatRequest
from core.decision import BUILT_IN_POLICY, Decision, Plan, Policy, Preferences
from core.money import Prices, Rates, pico_per_token
from core.providers.refusals import refusal_traits
from core.routing.auto import Wanted, plan_auto
from core.routing.board import NOTHING_KNOWN
from core.routing.index import Index
from core.routing.indexing import build_index
from core.routing.policy import narrow
from core.routing.reading import Reading
from tests.support.targets import make_vendor

NOW = 1_790_000_000.0

CODE = Reading(1_000, {"code": 1.0}, "code", 0.9, 0.5)
"""A thousand tokens that ask for code, of middling difficulty: an answer is usually 700 tokens."""


def make_prices(dollars: float | str) -> Prices:
    """So many dollars for a million tokens, in and out."""
    rate = pico_per_token(Decimal(dollars))
    return Prices(Rates(rate, rate))


def make_host(vendor: str = "lab", price: float | str | None = 1, **members: Any) -> Host:
    """A host that asks one price for everything, None for an unknown one."""
    prices = None if price is None else make_prices(price)
    return Host(**{"vendor": vendor, "upstream_model": "up", "prices": prices, **members})


def make_model(
    name: str,
    hosts: Iterable[Host] | None = None,
    *,
    price: float | str | None = 1,
    quality: Mapping[str, float] | float | None = 0.5,
    **members: Any,
) -> Model:
    """A model with one host unless they are given; a number for `quality` is its score for code."""
    scores = {"code": quality} if isinstance(quality, float) else quality or {}
    abilities = members.pop("abilities", None) or make_abilities()
    return Model(
        **{
            "id": name,
            "name": name,
            "owner": "lab",
            "hosts": tuple(hosts or [make_host(price=price, upstream_model=name)]),
            "context_tokens": 100_000,
            "max_output_tokens": 10_000,
            "abilities": abilities,
            "quality": {task: Score(value, "a table", "2026-11-30") for task, value in scores.items()},
            **members,
        }
    )


def make_abilities(**members: Any) -> Abilities:
    """Everything but thinking, unless it is said otherwise."""
    able = Abilities(
        tools=True,
        vision=True,
        documents=True,
        audio_input=True,
        json_mode=True,
        structured_output=StructuredOutput.VERIFIED,
        choices=8,
    )
    return replace(able, **members)


def thinker(reasoning_tokens: int | None = 2_000) -> Abilities:
    """A model that always thinks."""
    return make_abilities(thinking=Thinking.ALWAYS, reasoning_tokens=reasoning_tokens)


def make_catalog(*models: Model) -> Catalog:
    """A catalog of these models; their vendors need no key."""
    vendors = {host.vendor: make_vendor(host.vendor) for model in models for host in model.hosts}
    names = {name: place for place, model in enumerate(models) for name in (*model.aliases, model.id)}
    return Catalog(models, vendors, names)


def make_index(*models: Model) -> Index:
    """Those models, laid out."""
    return build_index(make_catalog(*models), refusal_traits)


def make_request(**members: Any) -> ChatRequest:
    """A request for `auto` without a message."""
    return ChatRequest(**{"model": "auto", "messages": (), "written": {}, **members})


def make_wanted(
    request: ChatRequest | None = None,
    reading: Reading = CODE,
    *,
    policy: Policy = BUILT_IN_POLICY,
    preferences: Preferences | None = None,
    **members: Any,
) -> Wanted:
    """A request with nothing known beside it, unless it is given."""
    plain: dict[str, Any] = {
        "request": request or make_request(),
        "reading": reading,
        "effective": narrow(policy, preferences or Preferences()),
        "key_models": None,
        "refusal": None,
        "worst": None,
        "view": NOTHING_KNOWN,
        "now": NOW,
    }
    return Wanted(**{**plain, **members})


def choose(index: Index, **preferences: Any) -> tuple[Plan, Decision]:
    """The plan for a plain request with these preferences."""
    return plan_auto(index, make_wanted(preferences=Preferences(**preferences)))


def ranked(decision: Decision) -> list[str]:
    """The models of a decision, in order."""
    return [alternative.model for alternative in decision.alternatives]


def promising(**promises: Any) -> Promises:
    """Promises of a host."""
    return Promises(**promises)
