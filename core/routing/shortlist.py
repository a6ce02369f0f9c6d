"""Takes the most promising of thousands of hosts, roughly but fast, so that only these are ranked exactly.

A rough cost leaves out limits and context tiers; whoever is left out is far behind.
"""

from heapq import nsmallest
from typing import Final

from core.decision import Objective
from core.routing.bits import bits_of, places
from core.routing.board import HealthView
from core.routing.estimate import Costs
from core.routing.index import Index
from core.routing.lanes import FEW
from core.routing.quality import Qualities

MOST: Final = 64
"""How many are taken of many."""


def shortlisted(
    index: Index, rows: int, costs: Costs, found: Qualities, bar: int, objective: Objective, view: HealthView
) -> int:
    """The rows of the models to rank; all of them while they are few.

    Args:
        index: Where the rows are.
        rows: Those to take from.
        costs: What answers are expected to cost.
        found: The expected qualities.
        bar: The sum from which on a quality is good enough.
        objective: What counts.
        view: Measured first-token times.
    """
    if rows.bit_count() <= FEW:
        return rows
    taken: list[int] = []
    if objective is Objective.LATENCY:
        timed = _timed(index, rows, view)
        taken = nsmallest(MOST, timed, key=timed.__getitem__)
    if objective is not Objective.QUALITY:
        cheap = rows & index.priced
        if objective is not Objective.COST:
            cheap &= found.sums.at_least(bar)
        taken += costs.rough().smallest(cheap, MOST - len(taken))
    if len(taken) < MOST:
        taken += found.sums.largest(rows, MOST)
    return index.rows_of({index.ids[row] for row in taken}) & rows


def _timed(index: Index, rows: int, view: HealthView) -> dict[int, float]:
    """The rows whose first-token time is known."""
    called = bits_of((row for host in view.known for row in index.rows_by_host.get(host, ())), index.size)
    timed: dict[int, float] = {}
    for row in places(rows & (called | index.timed)):
        measured = view.ttft_ms(index.hosts[row])
        known = index.first_token_ms[row] if measured is None else measured
        if known is not None:
            timed[row] = known
    return timed
