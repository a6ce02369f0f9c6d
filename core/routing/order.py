"""The order of models by objective, with scores that say how clear it is; the numbers were made elsewhere.

A ranking is a list of parts: each part is in order, and every model of a part stands before those of the next.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import Final, NamedTuple, TypeAlias

from core.decision import Objective


class Entrant(NamedTuple):
    """One model: what it is expected to be good for, and to cost and take at the host that would be asked first.

    `rows` are its hosts, in the order to ask them. `value` is the expected quality from 0 to 1; `is_measured` tells
    whether it was evaluated for the task, or stands where its other scores put it. `micros` and `ttft_ms` are None
    while unknown. `is_cramped` tells that the answer's limit leaves it no room to think.
    """

    model: str
    rows: tuple[int, ...]
    value: float
    is_measured: bool
    is_cramped: bool
    micros: float | None
    ttft_ms: float | None


Part: TypeAlias = tuple[Sequence[Entrant], Sequence[float]]
"""Entrants in order, and their scores."""

_FREE_MICROS: Final = 0.01  # below this, prices are as good as equal


def ordered(entrants: Sequence[Entrant], objective: Objective, bar: float) -> list[Part]:
    """Put entrants of one kind in order.

    Args:
        entrants: All measured or all not, all with room or all without.
        objective: What counts.
        bar: The quality from which on a model is good enough for `balanced`.
    """
    return _ORDERS[objective](entrants, bar)


def stacked(parts: Iterable[Part]) -> tuple[list[Entrant], list[float]]:
    """One ranking from parts; no score rises along it."""
    models: list[Entrant] = []
    scores: list[float] = []
    ceiling = 1.0
    for entrants, found in parts:
        if entrants:
            models += entrants
            scores += [ceiling * score for score in found]
            ceiling *= found[-1]
    return models, scores


def _by_quality(entrants: Sequence[Entrant], bar: float) -> list[Part]:
    best_first = sorted(entrants, key=_best)
    return [(best_first, [each.value for each in best_first])]


def _by_cost(entrants: Sequence[Entrant], bar: float) -> list[Part]:
    priced = sorted([(each.micros, -each.value, each.rows, each) for each in entrants if each.micros is not None])
    least = priced[0][0] + _FREE_MICROS if priced else 0.0
    cheap: Part = [each for *_, each in priced], [least / (micros + _FREE_MICROS) for micros, *_ in priced]
    return [cheap, *_by_quality([each for each in entrants if each.micros is None], bar)]


def _by_latency(entrants: Sequence[Entrant], bar: float) -> list[Part]:
    timed = sorted([(each.ttft_ms, _micros(each), each.rows, each) for each in entrants if each.ttft_ms is not None])
    least = timed[0][0] + 1 if timed else 0.0
    quick: Part = [each for *_, each in timed], [least / (ttft_ms + 1) for ttft_ms, *_ in timed]
    return [quick, *_balanced([each for each in entrants if each.ttft_ms is None], bar)]


def _balanced(entrants: Sequence[Entrant], bar: float) -> list[Part]:
    enough = [each for each in entrants if each.value >= bar]
    short = sorted([each for each in entrants if each.value < bar], key=_best)
    best = max([each.value for each in entrants], default=1.0)
    return [*_by_cost(enough, bar), (short, [each.value / best for each in short])]


_ORDERS: Final[Mapping[Objective, Callable[[Sequence[Entrant], float], list[Part]]]] = {
    Objective.QUALITY: _by_quality,
    Objective.COST: _by_cost,
    Objective.LATENCY: _by_latency,
    Objective.BALANCED: _balanced,
}


def _best(entrant: Entrant) -> tuple[float, float, tuple[int, ...]]:
    return -entrant.value, _micros(entrant), entrant.rows


def _micros(entrant: Entrant) -> float:
    return inf if entrant.micros is None else entrant.micros
