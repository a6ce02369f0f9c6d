"""Takes the most promising of thousands of hosts, roughly but fast, so that only these are ranked exactly.

A rough cost leaves out context tiers and limits; whoever is left out is far behind.
"""

from heapq import nlargest, nsmallest
from typing import Final

from core.decision import Objective
from core.routing.bits import chosen
from core.routing.board import HealthView
from core.routing.estimate import Costs
from core.routing.index import Index
from core.routing.quality import Qualities

MOST: Final = 64
"""How many are taken of many."""

FEW: Final = 600
"""Up to so many hosts all are ranked."""


def shortlisted(
    index: Index, rows: int, costs: Costs, found: Qualities, floor: int, objective: Objective, view: HealthView
) -> int:
    """The rows of the models to rank; all of them while they are few.

    Args:
        index: Where the rows are.
        rows: Those to take from.
        costs: What answers are expected to cost.
        found: The expected qualities.
        floor: The sum from which on quality is good enough.
        objective: What counts.
        view: Measured first-token times.
    """
    if rows.bit_count() <= FEW:
        return rows
    taken = _best(index, rows, costs, found, floor, objective, view)
    return index.rows_of({index.ids[row] for row in taken}) & rows


def _best(
    index: Index, rows: int, costs: Costs, found: Qualities, floor: int, objective: Objective, view: HealthView
) -> list[int]:
    sums = found.sums
    if objective is Objective.QUALITY:
        return nlargest(MOST, chosen(rows, range(index.size)), key=sums.__getitem__)
    if objective is Objective.LATENCY:
        timed = _timed(index, rows, view)
        if len(timed) >= MOST:
            return nsmallest(MOST, timed, key=timed.__getitem__)
        taken = [*timed]
    else:
        taken = []
    cheap = chosen(rows & index.priced, range(index.size))
    if objective is not Objective.COST:
        cheap = (row for row in cheap if sums[row] >= floor)
    taken += nsmallest(MOST - len(taken), cheap, key=costs.rough)
    if len(taken) < MOST:
        taken += nlargest(MOST, chosen(rows, range(index.size)), key=sums.__getitem__)
    return taken


def _timed(index: Index, rows: int, view: HealthView) -> dict[int, float]:
    """The rows whose first-token time is known."""
    timed: dict[int, float] = {}
    for row in chosen(rows, range(index.size)):
        told = index.first_token_ms[row]
        measured = view.ttft_ms(index.hosts[row]) if view.known else None
        if measured is not None:
            timed[row] = measured
        elif told is not None:
            timed[row] = told
    return timed
