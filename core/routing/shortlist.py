"""Takes the most promising of thousands of hosts, roughly but fast, so that only these are ranked exactly.

A rough cost leaves out limits and context tiers; whoever is left out is far behind.
"""

from collections.abc import Sequence
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
    index: Index, rows: int, good: int, costs: Costs, found: Qualities, objective: Objective, view: HealthView
) -> int:
    """The rows of the models to rank; all of them while they are few.

    Args:
        index: Where the rows are.
        rows: Those to take from.
        good: Those of them whose quality is good enough.
        costs: What answers are expected to cost.
        found: The expected qualities.
        objective: What counts.
        view: Measured first-token times.
    """
    if rows.bit_count() <= FEW:
        return rows
    taken: list[int] = []
    if objective is Objective.LATENCY:
        called = bits_of((row for host in view.known for row in index.rows_by_host.get(host, ())), index.size)
        timed = first_token_ms(index, view, places(rows & (called | index.timed)))
        taken = nsmallest(MOST, timed, key=timed.__getitem__)
    if objective is not Objective.QUALITY:
        cheap = (rows if objective is Objective.COST else good) & index.priced
        taken += costs.rough().smallest(cheap, MOST - len(taken))
    if len(taken) < MOST:
        taken += found.sums.largest(rows, MOST)
    return index.rows_of({index.ids[row] for row in taken}) & rows


def first_token_ms(index: Index, view: HealthView, rows: Sequence[int]) -> dict[int, float]:
    """The usual times to the first token where they are known: as measured, else as the catalog has them."""
    times: dict[int, float] = {row: ms for row in rows if (ms := index.first_token_ms[row]) is not None}
    if view.known:
        called = [(row, health.ttft_ms) for row in rows if (health := view.known.get(index.hosts[row])) is not None]
        times.update([(row, ms) for row, ms in called if ms is not None])
    return times
