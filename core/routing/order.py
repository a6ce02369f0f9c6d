"""The order of models by objective, with scores that say how clear it is; the numbers were made elsewhere.

A ranking is a list of parts: each part is in order, and every model of a part stands before those of the next.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from core.decision import Objective


@dataclass(frozen=True, slots=True)
class Numbers:
    """What models are ordered by, each at the row of the host that would be asked first.

    `values` are expected qualities from 0 to 1; `micros` (costs in micro-dollars) and `ttft_ms` lack
    those that are not known.
    """

    values: Mapping[int, float]
    micros: Mapping[int, float]
    ttft_ms: Mapping[int, float]


Part: TypeAlias = tuple[Sequence[int], Sequence[float]]
"""Rows in order, and their scores."""

_FREE_MICROS: Final = 0.01  # below this, prices are as good as equal


def ordered(rows: Sequence[int], numbers: Numbers, objective: Objective, bar: float) -> list[Part]:
    """Put models of one kind in order.

    Args:
        rows: All measured or all not, all with room or all without; of equals the first stays first.
        numbers: What is known of them.
        objective: What counts.
        bar: The quality from which on a model is good enough for `balanced`.
    """
    return _ORDERS[objective](rows, numbers, bar)


def stacked(parts: Iterable[Part]) -> tuple[list[int], list[float]]:
    """One ranking from parts; no score rises along it."""
    rows: list[int] = []
    scores: list[float] = []
    ceiling = 1.0
    for some, found in parts:
        if some:
            rows += some
            scores += [ceiling * score for score in found]
            ceiling *= found[-1]
    return rows, scores


def cheap_first(rows: Sequence[int], micros: Mapping[int, float]) -> list[int]:
    """Rows by their prices, those without a known one last; of equals the first stays first."""
    priced = sorted(filter(micros.__contains__, rows), key=micros.__getitem__)
    return priced if len(priced) == len(rows) else [*priced, *(row for row in rows if row not in micros)]


def _by_quality(rows: Sequence[int], numbers: Numbers, bar: float) -> list[Part]:
    best_first = _best_first(cheap_first(rows, numbers.micros), numbers)
    return [(best_first, [numbers.values[row] for row in best_first])]


def _by_cost(rows: Sequence[int], numbers: Numbers, bar: float) -> list[Part]:
    micros = numbers.micros
    priced = sorted(_best_first([row for row in rows if row in micros], numbers), key=micros.__getitem__)
    least = micros[priced[0]] + _FREE_MICROS if priced else 0.0
    cheap: Part = priced, [least / (micros[row] + _FREE_MICROS) for row in priced]
    return [cheap, *_by_quality([row for row in rows if row not in micros], numbers, bar)]


def _by_latency(rows: Sequence[int], numbers: Numbers, bar: float) -> list[Part]:
    times = numbers.ttft_ms
    timed = sorted(cheap_first([row for row in rows if row in times], numbers.micros), key=times.__getitem__)
    least = times[timed[0]] + 1 if timed else 0.0
    quick: Part = timed, [least / (times[row] + 1) for row in timed]
    return [quick, *_balanced([row for row in rows if row not in times], numbers, bar)]


def _balanced(rows: Sequence[int], numbers: Numbers, bar: float) -> list[Part]:
    values = numbers.values
    enough = [row for row in rows if values[row] >= bar]
    short = _best_first(cheap_first([row for row in rows if values[row] < bar], numbers.micros), numbers)
    best = max([values[row] for row in rows], default=0.0) or 1.0
    return [*_by_cost(enough, numbers, bar), (short, [values[row] / best for row in short])]


_ORDERS: Final[Mapping[Objective, Callable[[Sequence[int], Numbers, float], list[Part]]]] = {
    Objective.QUALITY: _by_quality,
    Objective.COST: _by_cost,
    Objective.LATENCY: _by_latency,
    Objective.BALANCED: _balanced,
}


def _best_first(rows: Sequence[int], numbers: Numbers) -> list[int]:
    return sorted(rows, key=numbers.values.__getitem__, reverse=True)
