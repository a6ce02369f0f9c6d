"""Ranks the models that can serve, from their numbers at each host.

Unknown quality stands behind every measured one, whatever the objective, and a model without room to think behind all.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf
from typing import Any, Final

from core.decision import Objective
from core.routing.bits import places, union
from core.routing.board import HealthView
from core.routing.estimate import Ask, Costs
from core.routing.index import Index
from core.routing.lanes import FEW
from core.routing.order import Entrant, Part, ordered, stacked
from core.routing.quality import Qualities
from core.routing.shortlist import MOST, shortlisted

BAND: Final = 0.1
"""Models whose expected quality is this near to the best one's are good enough for `balanced`: price decides."""

_BY_BAND: Final = (Objective.BALANCED, Objective.LATENCY)


@dataclass(frozen=True, slots=True)
class Race:
    """What a ranking is made from: what is asked, and all that is known of quality and health.

    `order` names the vendors that the request wants first; `host` is a target that comes before all others of its
    model.
    """

    index: Index
    ask: Ask
    costs: Costs
    found: Qualities
    objective: Objective
    view: HealthView
    order: tuple[str, ...] = ()
    host: str | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """The models in order, and their scores; of thousands only the most promising.

    `eligible` counts the models that can serve, `enough` those of them whose quality is good enough (all, where the
    objective does not ask), `cramped` those that have no room to think.
    """

    models: Sequence[Entrant]
    scores: Sequence[float]
    eligible: int
    enough: int
    cramped: int


def rank(race: Race, rows: int) -> Ranking:
    """Rank the models of these rows; the same facts give the same order."""
    index, found = race.index, race.found
    cramped = rows & _cramped(index, race.ask)
    roomy = rows & ~cramped
    measured = found.measured
    is_large = rows.bit_count() > FEW
    parts: list[Part] = []
    enough = 0
    for tier in (roomy & measured, roomy & ~measured, cramped & measured, cramped & ~measured):
        if not tier or (is_large and sum(len(models) for models, _ in parts) >= MOST):
            continue
        floor = found.bar(found.best(tier) - BAND) if race.objective in _BY_BAND else 0
        taken = shortlisted(index, tier, race.costs, found, floor, race.objective, race.view)
        bar = found.value(floor)
        entrants = [*_entrants(race, taken, is_measured=bool(tier & measured), is_cramped=bool(tier & cramped))]
        if not parts:
            enough = sum([each.value >= bar for each in entrants])
        parts += ordered(entrants, race.objective, bar)
    models, scores = stacked(parts)
    return Ranking(models, scores, _count(index, rows), enough, _count(index, cramped))


def _entrants(race: Race, rows: int, *, is_measured: bool, is_cramped: bool) -> Iterator[Entrant]:
    index, known = race.index, race.view.known
    costs = race.costs.micros(places(rows))
    host_order = _host_order(race, costs)
    for model, hosts in groupby(costs, key=index.ids.__getitem__):
        order = tuple(hosts)
        if len(order) > 1:
            order = tuple(sorted(order, key=host_order))
        first = order[0]
        measured_ms = race.view.ttft_ms(index.hosts[first]) if known else None
        ttft_ms = index.first_token_ms[first] if measured_ms is None else measured_ms
        yield Entrant(model, order, race.found.of(first), is_measured, is_cramped, costs[first], ttft_ms)


def _host_order(race: Race, costs: Mapping[int, float | None]) -> Callable[[int], Any]:
    """The host that is wanted first, then by health, the request's order, price and the catalog's order."""
    hosts, view, wishes = race.index.hosts, race.view, race.order
    prices = {row: inf if micros is None else micros for row, micros in costs.items()}

    def by_all(row: int) -> tuple[bool, int, int, float]:
        host = hosts[row]
        vendor = host.partition("/")[0]
        wish = wishes.index(vendor) if vendor in wishes else len(wishes)
        return host != race.host, view.rank(host, vendor), wish, prices[row]

    # The sort is stable, so that the catalog's order is the last to count.
    return by_all if view.known or wishes or race.host else prices.__getitem__


def _cramped(index: Index, ask: Ask) -> int:
    """The rows of models that will think, and usually do so for longer than the limit leaves room for."""
    room = ask.room
    if room is None:
        return 0
    return union(rows for trait, rows in index.thinking.items() if trait.tokens(ask.mode) > max(room, 0))


def _count(index: Index, rows: int) -> int:
    return index.runs.touched(rows).bit_count()
