"""Lays a catalog out as an `Index`: once, model by model, none of which is kept."""

import sys
from array import array
from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import inf
from typing import Final, TypeVar

from core.catalog.loader import Catalog
from core.catalog.model import Abilities, Host, StructuredOutput, Target
from core.money import Rates
from core.routing.bits import Runs, bits_of, span
from core.routing.index import SCORE_SCALE, AtLeast, Index
from core.routing.lanes import Lanes
from core.routing.thought import ThinkingMode, thinking_trait
from core.routing.worst import read_rate, written_rate

MOST_RATE: Final = 2**32
"""The dearest rate that the columns hold, in pico-dollars a token: four thousand dollars for a million tokens."""

_MOST_REASONING: Final = 2**20

_NEVER: Final = "9999-12-31"
_NO_RATES: Final = Rates(0, 0)

V = TypeVar("V")
H = TypeVar("H", bound=Hashable)


@dataclass(slots=True)
class _Rows:
    """What is noted of each row, column by column."""

    targets_seen: dict[Hashable, Target] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    vendors: list[str] = field(default_factory=list)
    first_token_ms: list[int | None] = field(default_factory=list)
    offers: list[Host] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    abilities: list[Abilities] = field(default_factory=list)
    contexts: list[int] = field(default_factory=list)
    limits: list[int] = field(default_factory=list)
    traits: list[Hashable] = field(default_factory=list)
    scores: dict[str, dict[int, int]] = field(default_factory=dict)

    def add(self, target: Target, trait: Hashable) -> None:
        model, host = target.model, target.host
        for task, score in model.quality.items():
            self.scores.setdefault(task, {})[len(self.ids)] = round(score.value * SCORE_SCALE)
        self.ids.append(model.id)
        self.hosts.append(target.name)
        self.vendors.append(host.vendor)
        self.first_token_ms.append(model.first_token_ms)
        self.ends.append(min(host.deprecated or _NEVER, model.deprecated or _NEVER))
        self.contexts.append(target.context_tokens)
        self.limits.append(target.max_output_tokens)
        self.abilities.append(model.abilities)
        self.offers.append(host)
        self.traits.append(trait)
        self.targets_seen.setdefault(trait, target)


def build_index(catalog: Catalog, refusal_traits: Callable[[Target], Hashable]) -> Index:
    """Lay a catalog out.

    Args:
        catalog: What is laid out.
        refusal_traits: All that decides which fields of a request a target refuses.
    """
    rows = _Rows()
    spans: dict[str, tuple[int, int]] = {}
    for model in catalog.scan():
        spans[model.id] = (len(rows.ids), len(model.hosts))
        for target in catalog.targets(model):
            rows.add(target, refusal_traits(target))
    return _index(catalog, rows, spans)


def _index(catalog: Catalog, rows: _Rows, spans: Mapping[str, tuple[int, int]]) -> Index:
    size = len(rows.ids)
    rates = [_NO_RATES if host.prices is None else host.prices.base for host in rows.offers]
    thinking = [thinking_trait(abilities) for abilities in rows.abilities]
    output = Lanes(min(each.output, MOST_RATE) for each in rates)
    reasoning = {
        mode: array("L", [min(trait.tokens(mode), _MOST_REASONING) for trait in thinking]) for mode in ThinkingMode
    }
    tiers = {row: first for row, host in enumerate(rows.offers) if (first := _first_tier(host)) is not None}
    by_trait = _grouped(rows.traits)
    changing = {row: host for row, host in enumerate(rows.offers) if host.price_changes or _is_unlike(host)}
    asked = [(inf, inf) if host.prices is None else _asked(host.prices.base) for host in rows.offers]
    contenders = [_contenders(run, asked, changing) for run in spans.values()]
    return Index(
        catalog=catalog,
        ids=rows.ids,
        hosts=rows.hosts,
        rows_by_host=_places(rows.hosts),
        first_token_ms=rows.first_token_ms,
        is_priced=bytes(map(_is_priced, rows.offers)),
        output_limits=rows.limits,
        spans=spans,
        runs=Runs(count for _, count in spans.values()),
        everything=span(0, size),
        vendors=_grouped(rows.vendors),
        promises=_grouped([host.promises for host in rows.offers]),
        ends=_grouped(rows.ends),
        reasoning=reasoning,
        thinking=_grouped(thinking),
        refusals=[(rows.targets_seen[trait], found) for trait, found in by_trait.items()],
        tools=_where(rows.abilities, lambda each: each.tools),
        schemas=_where(rows.abilities, lambda each: each.structured_output is StructuredOutput.VERIFIED),
        json_mode=_where(rows.abilities, lambda each: each.json_mode),
        contexts=AtLeast(_grouped(rows.contexts)),
        outputs=AtLeast(_grouped(rows.limits)),
        priced=_where(rows.offers, _is_priced),
        contenders=bits_of(chain(*contenders), size),
        cheapest=bits_of((rows[0] for rows in contenders if len(rows) == 1), size),
        timed=_where(rows.first_token_ms, lambda known: known is not None),
        changing=changing,
        tiered={row: rows.offers[row] for row in tiers},
        first_tier=min(tiers.values(), default=sys.maxsize),
        serviced={row: host for row, host in enumerate(rows.offers) if _is_serviced(host)},
        input=Lanes(min(each.input, MOST_RATE) for each in rates),
        output=output,
        thought={
            mode: Lanes(rate * tokens for rate, tokens in zip(output.values, thought, strict=True))
            for mode, thought in reasoning.items()
        },
        worst_input=Lanes(min(read_rate(each, unusual=False), MOST_RATE) for each in rates),
        worst_unusual_input=Lanes(min(read_rate(each, unusual=True), MOST_RATE) for each in rates),
        worst_output=Lanes(min(written_rate(each), MOST_RATE) for each in rates),
        scored={task: bits_of(known, size) for task, known in rows.scores.items()},
        scores={task: filled(known, size) for task, known in rows.scores.items()},
    )


def _asked(rates: Rates) -> tuple[float, float]:
    return rates.input, rates.output


def _contenders(run: tuple[int, int], asked: Sequence[tuple[float, float]], changing: Container[int]) -> Sequence[int]:
    """The hosts of a model that can be its cheapest: no other asks less, or as much and stands before."""
    rows = range(run[0], sum(run))
    if len(rows) == 1:
        return rows
    rivals = [(asked[row], row) for row in rows if row not in changing]

    def is_undercut(row: int) -> bool:
        own = (asked[row], row)
        return any(rival < own and rival[0][1] <= asked[row][1] for rival in rivals)

    return [row for row in rows if row in changing or not is_undercut(row)]


def _is_priced(host: Host) -> bool:
    return host.prices is not None or bool(host.price_changes)


def _is_unlike(host: Host) -> bool:
    """Whether it asks what the columns cannot hold: something for a request itself, or very much for a token."""
    if host.prices is None:
        return False
    rates = host.prices.base
    is_dear = max(read_rate(rates, unusual=True), written_rate(rates)) > MOST_RATE
    return is_dear or bool(host.prices.per_request or host.prices.minimum)


def _first_tier(host: Host) -> int | None:
    return None if host.prices is None else min((tier.threshold for tier in host.prices.tiers), default=None)


def _is_serviced(host: Host) -> bool:
    return host.prices is not None and bool(host.prices.service_tiers or host.prices.service_prices)


def filled(known: Mapping[int, int], size: int) -> Lanes:
    """A column of scores from those that are known, by row; the others stand at the lowest of them."""
    lowest = min(known.values())
    return Lanes((known.get(row, lowest) for row in range(size)), width=4)


def _where(values: Sequence[V], holds: Callable[[V], bool]) -> int:
    return bits_of((row for row, value in enumerate(values) if holds(value)), len(values))


def _grouped(values: Sequence[H]) -> dict[H, int]:
    rows: dict[H, list[int]] = {}
    for row, value in enumerate(values):
        rows.setdefault(value, []).append(row)
    return {value: bits_of(found, len(values)) for value, found in rows.items()}


def _places(values: Sequence[str]) -> dict[str, tuple[int, ...]]:
    rows: dict[str, tuple[int, ...]] = {}
    for row, value in enumerate(values):
        rows[value] = (*rows.get(value, ()), row)
    return rows
