"""How good an answer is expected to be, from the tasks a request may be and the catalog's scores for them."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from core.routing.index import SCORE_SCALE, Index
from core.routing.lanes import Sums, weighted_sum
from core.routing.reading import LIKE, Reading, levelled

STEEPNESS: Final = 2.0
"""How far complexity moves a quality, in logits from the easiest request to the hardest."""

LEAST_CHANCE: Final = 0.2
"""Tasks that are less likely than this do not count: small rewordings move the chances of unlikely ones most."""

_WEIGHT_SCALE: Final = 4_096


@dataclass(frozen=True, slots=True)
class Qualities:
    """The expected quality of every row.

    `sums` are in units of `unit`, `measured` are the rows that were evaluated for the task. `stand_ins` names the tasks
    looked at instead, when nobody was evaluated for the task: then nothing is measured, and the numbers give no more
    than an order.
    """

    sums: Sums
    unit: float
    complexity: float
    measured: int
    stand_ins: tuple[str, ...] = ()
    _odds: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_odds", _odds(0.5 - self.complexity))

    def values(self, rows: Sequence[int]) -> dict[int, float]:
        """The expected quality at each of these rows, 0..1, for a request of this complexity."""
        unit, odds = self.unit, self._odds
        totals = map(self.sums.values.__getitem__, rows)
        return {row: total / (total + (unit - total) * odds) for row, total in zip(rows, totals, strict=True)}

    def value(self, total: int) -> float:
        """The expected quality that a sum stands for."""
        return total / (total + (self.unit - total) * self._odds)

    def best(self, rows: int) -> float:
        """The best expected quality of these rows, of which there is at least one."""
        return self.value(self.sums.values[self.sums.largest(rows, 1)[0]])

    def bar(self, quality: float) -> int:
        """The sum from which on a row reaches a quality."""
        return math.ceil(unshifted(quality, self.complexity) * self.unit)


def qualities(index: Index, reading: Reading) -> Qualities:
    """The expected quality of every row: the mean of its scores for the plausible tasks, by how likely each is."""
    likely = max(reading.tasks.get(reading.task, 0.0), LEAST_CHANCE)
    weights = _weights({**reading.tasks, reading.task: likely}, index.scored)
    stand_ins: tuple[str, ...] = ()
    if reading.task not in index.scored:
        found = _weights({task: 1.0 for task in LIKE.get(reading.task, ())}, index.scored)
        stand_ins = tuple(found)
        weights = found or weights or dict.fromkeys(index.scored, max(1, _WEIGHT_SCALE // (len(index.scored) or 1)))
    if not weights:
        return Qualities(Sums(0, index.size, 4), 1.0, levelled(reading.complexity), 0)
    return Qualities(
        sums=weighted_sum([(weight, index.scores[task]) for task, weight in weights.items()]),
        unit=float(SCORE_SCALE * sum(weights.values())),
        complexity=levelled(reading.complexity),
        measured=index.scored.get(reading.task, 0),
        stand_ins=stand_ins,
    )


def shifted(quality: float, complexity: float) -> float:
    """A quality for a request that is easier or harder than usual; differences grow with complexity.

    The order of models never changes by it.
    """
    return _moved(quality, _odds(0.5 - complexity))


def unshifted(quality: float, complexity: float) -> float:
    """The usual quality that is shifted to this one."""
    return _moved(quality, _odds(complexity - 0.5))


def _odds(ease: float) -> float:
    return math.exp(-STEEPNESS * ease)


def _moved(quality: float, odds: float) -> float:
    return quality / (quality + (1 - quality) * odds)


def _weights(chances: Mapping[str, float], known: Collection[str]) -> dict[str, int]:
    """Whole weights of the tasks that count, those of one catalog alone."""
    return {
        task: round(chance * _WEIGHT_SCALE)
        for task, chance in chances.items()
        if chance >= LEAST_CHANCE and task in known
    }
