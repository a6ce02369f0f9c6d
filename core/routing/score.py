"""Ranks the models that can serve, from their numbers at each host.

Unknown quality stands behind every measured one, whatever the objective, and a model without room to think behind all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, NamedTuple

from core.decision import Objective
from core.routing.bits import places, union
from core.routing.board import HealthView
from core.routing.estimate import Ask, Costs
from core.routing.index import Index
from core.routing.lanes import FEW
from core.routing.order import Numbers, cheap_first, ordered, stacked
from core.routing.quality import Qualities
from core.routing.shortlist import MOST, first_token_ms, shortlisted

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


class Entrant(NamedTuple):
    """One model: what it is expected to be good for, and to cost and take at the host that would be asked first.

    `row` is that host. `value` is the expected quality from 0 to 1; `is_measured` tells whether it was evaluated for
    the task, or stands where its other scores put it. `micros` and `ttft_ms` are None while unknown. `is_cramped` tells
    that the answer's limit leaves it no room to think.
    """

    model: str
    row: int
    value: float
    is_measured: bool
    is_cramped: bool
    micros: float | None
    ttft_ms: float | None


@dataclass(frozen=True, slots=True)
class Hosts:
    """In which order the hosts of a model are asked: `host` first, then by health, by `order` (of vendors), and price.

    `ills` has those that are not simply well.
    """

    index: Index
    costs: Costs
    ills: Mapping[int, int]
    order: tuple[str, ...]
    host: str | None

    def ordered(self, rows: int) -> list[int]:
        """These rows; of equals the first of the catalog comes first."""
        found, names = places(rows), self.index.hosts
        if len(found) < 2:
            return found
        found = cheap_first(found, self.costs.micros(found))
        # Sorts are stable: the last one counts most.
        if self.order:
            wishes = {vendor: place for place, vendor in enumerate(self.order)}
            found.sort(key=lambda row: wishes.get(names[row].partition("/")[0], len(wishes)))
        if self.ills:
            found.sort(key=lambda row: self.ills.get(row, 0))
        if self.host:
            found.sort(key=lambda row: names[row] != self.host)
        return found

    def firsts(self, rows: int) -> list[int]:
        """The host of each model that would be asked first, in the catalog's order."""
        index, settled, left = self.index, 0, rows
        if self.costs.are_usual and not self.order:
            named = places(index.named(self.host)) if self.host else ()
            beside_price = rows & index.rows_of({index.ids[row] for row in (*self.ills, *named)})
            settled, left = index.leading(rows & ~beside_price)
            left |= beside_price
        firsts = {index.ids[row]: row for row in reversed(self.ordered(left))}
        return sorted([*places(settled), *firsts.values()]) if firsts else places(settled)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The models in order, each by the row of the host that would be asked first; of thousands the most promising.

    `scores` are theirs, `numbers` what decided, and `hosts` the order of each one's hosts. `eligible` counts the models
    that can serve, `enough` those of them whose quality is good enough (all, where the objective does not ask).
    `measured` and `cramped` are the rows that were evaluated for the task, and those without room to think.
    """

    rows: Sequence[int]
    scores: Sequence[float]
    numbers: Numbers
    hosts: Hosts
    eligible: int
    enough: int
    measured: int
    cramped: int

    def entrant(self, row: int) -> Entrant:
        """What is known of a model of the ranking."""
        numbers = self.numbers
        return Entrant(
            self.hosts.index.ids[row],
            row,
            numbers.values[row],
            bool(self.measured >> row & 1),
            bool(self.cramped >> row & 1),
            numbers.micros.get(row),
            numbers.ttft_ms.get(row),
        )


def rank(race: Race, rows: int) -> Ranking:
    """Rank the models of these rows; the same facts give the same order."""
    index, found, objective = race.index, race.found, race.objective
    cramped, measured = rows & _cramped(index, race.ask), found.measured
    roomy, is_large = rows & ~cramped, rows.bit_count() > FEW
    tiers: list[tuple[int, int]] = []
    enough = taken = 0
    for tier in (roomy & measured, roomy & ~measured, cramped & measured, cramped & ~measured):
        if not tier or (is_large and taken >= MOST):
            continue
        floor = found.bar(found.best(index.runs.touched(tier)) - BAND) if objective in _BY_BAND else 0
        good = tier & found.sums.at_least(floor) if floor else tier
        enough = enough or index.runs.count(good)
        some = shortlisted(index, tier, good, race.costs, found, objective, race.view)
        taken += index.runs.count(some)
        tiers.append((some, floor))
    every = union(some for some, _ in tiers)
    hosts = Hosts(index, race.costs, _ills(index, race.view, every), race.order, race.host)
    firsts = [hosts.firsts(some) for some, _ in tiers]
    every_first = [*chain(*firsts)]
    numbers = Numbers(
        values=found.values(every_first),
        micros=race.costs.micros(every_first),
        ttft_ms=first_token_ms(index, race.view, every_first),
    )
    bars = [found.value(floor) for _, floor in tiers]
    order, scores = stacked(
        chain(*(ordered(some, numbers, objective, bar) for some, bar in zip(firsts, bars, strict=True)))
    )
    return Ranking(order, scores, numbers, hosts, index.runs.count(rows), enough, measured, cramped)


def _ills(index: Index, view: HealthView, rows: int) -> dict[int, int]:
    """How those of these hosts stand that are not simply well."""
    doubtful = [row for name in view.doubtful for row in places(index.named(name) & rows)]
    return {row: view.rank(index.hosts[row], index.hosts[row].partition("/")[0]) for row in doubtful}


def _cramped(index: Index, ask: Ask) -> int:
    """The rows of models that will think, and usually do so for longer than the limit leaves room for."""
    room = ask.room
    if room is None:
        return 0
    return union(rows for trait, rows in index.thinking.items() if trait.tokens(ask.mode) > max(room, 0))
