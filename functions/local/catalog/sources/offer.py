"""What a source says of one host's offer of a model; prices are US dollars per million tokens, as stated."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Final, Protocol, TypeAlias

Rates: TypeAlias = Mapping[str, Decimal]
"""Price per class of token, under the names of `core.money.Rates`; what is not stated is absent."""

_WHOLE_PICO: Final = Decimal("0.000001")


def to_pico(usd_per_million: Decimal) -> Decimal:
    """A price, rounded half up to whole pico-dollars a token: vendors charge no finer, sources divide at times."""
    return usd_per_million.quantize(_WHOLE_PICO, ROUND_HALF_UP).normalize()


@dataclass(frozen=True, slots=True)
class Tier:
    """Rates of the whole request once its input is more than `above` tokens."""

    above: int
    rates: Rates


@dataclass(frozen=True, slots=True)
class PriceList:
    """Base rates and those of larger requests, by rising threshold."""

    rates: Rates
    tiers: tuple[Tier, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """A price list that holds from a day on, or within hours (each window as a catalog file writes it)."""

    listed: PriceList
    since: str | None = None
    windows: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class Quote:
    """All that a source says about a price: the standard list, service tiers by name, and what holds at other times."""

    standard: PriceList
    services: Mapping[str, PriceList] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """One entry of a source.

    `source` names it and its version, `date` is the day on which it was read or made. `states` holds what it says
    about abilities, by the names of `core.catalog.model.Abilities` and a few more (see `states.py`); what it does not
    mention is absent. `zeros` names prices that it states as 0 and that are therefore taken as unknown.
    """

    source: str
    date: str
    key: str
    url: str | None = None
    quote: Quote | None = None
    context_tokens: int | None = None
    max_output_tokens: int | None = None
    released: str | None = None
    deprecated: str | None = None
    states: Mapping[str, bool] = field(default_factory=dict)
    efforts: tuple[str, ...] | None = None
    zeros: tuple[str, ...] = ()


class Source(Protocol):
    """A collection of offers."""

    def find(self, vendor: str, upstream_model: str) -> Offer | None:
        """What it says of a vendor's offer of a model, under the vendor's name for it."""
