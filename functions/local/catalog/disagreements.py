"""Finds where sources say different things of one host: prices, tiers and limits, with each source's word and date."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from functions.local.catalog.limits import windows
from functions.local.catalog.pricing import normal
from functions.local.catalog.sources.offer import Offer, PriceList


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two or more words on one number. `said` has, in the order of the sources, source, date and number as text."""

    model: str
    vendor: str
    field: str
    said: tuple[tuple[str, str, str], ...]

    @property
    def words(self) -> str:
        """What each source says."""
        return "; ".join(f"{number} ({source}, {date})" for source, date, number in self.said)

    def __str__(self) -> str:
        return f"{self.model} on {self.vendor}: {self.field}: {self.words}"


def disagreements(model: str, vendor: str, offers: Sequence[Offer]) -> Iterable[Disagreement]:
    """Every number that at least two sources state, and not all alike.

    A source that does not name a price says nothing about it, but one that has no tier says that there is none. Limits
    are compared where a source has one.
    """
    means = dict(zip((offer.source for offer in offers if offer.context_tokens), windows(offers), strict=True))
    stated = [(offer, _numbers(offer, means.get(offer.source))) for offer in offers]
    for field in dict.fromkeys(name for _, numbers in stated for name in numbers):
        said = tuple((offer.source, offer.date, numbers[field]) for offer, numbers in stated if field in numbers)
        if len({number for _, _, number in said}) > 1:
            yield Disagreement(model, vendor, field, said)


def _numbers(offer: Offer, window: int | None) -> Mapping[str, str]:
    numbers: dict[str, str] = {} if window is None else {"context_tokens": str(window)}
    if offer.quote is not None:
        numbers |= _prices("", offer.quote.standard)
        tiers = normal(offer.quote.standard).tiers
        numbers["tiers"] = ", ".join(f"above {tier.above}" for tier in tiers) or "none"
        for service, listed in offer.quote.services.items():
            numbers |= _prices(f"{service}.", listed)
    if offer.max_output_tokens is not None:
        numbers["max_output_tokens"] = str(offer.max_output_tokens)
    if offer.deprecated is not None:
        numbers["deprecated"] = offer.deprecated
    return numbers


def _prices(prefix: str, listed: PriceList) -> Mapping[str, str]:
    listed = normal(listed)
    numbers = {f"{prefix}{name}": f"{rate:f}" for name, rate in listed.rates.items()}
    for tier in listed.tiers:
        numbers |= {f"{prefix}{name} above {tier.above}": f"{rate:f}" for name, rate in tier.rates.items()}
    return numbers
