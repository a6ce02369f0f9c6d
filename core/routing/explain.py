"""Says in one or two plain sentences why a model was chosen, from the numbers that decided; it decides nothing."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from core.decision import Objective
from core.routing.score import Entrant

_Digits: TypeAlias = Callable[[float, int], str]
"""Writes a number as it usually is written, with so many digits more."""

_MORE_DIGITS: Final = 2


@dataclass(frozen=True, slots=True)
class Told:
    """What there is to tell: who is asked first, with the score, and then; `best` is who is first by numbers alone.

    `eligible` counts the models that can serve, `enough` those of them that are good enough, `cramped` those without
    room to think. `stand_ins` are the tasks that were looked at instead of `task`; `is_loop` tells that the first made
    the tool calls being answered, `is_doubtful` that every host has failed lately.
    """

    pick: Entrant
    score: float
    second: Entrant | None
    best: Entrant
    best_score: float
    eligible: int
    enough: int
    cramped: int
    objective: Objective
    task: str
    max_tokens: int | None
    stand_ins: tuple[str, ...]
    is_loop: bool
    is_doubtful: bool


def reasoning(told: Told) -> str:
    """The sentences."""
    return " ".join(sentence for sentence in (_why(told), _beside(told)) if sentence)


def _why(told: Told) -> str:
    pick, best = told.pick, told.best
    if told.is_loop:
        return f"{pick.model} made the tool calls that are being answered, so it goes on."
    if best != pick:
        scores = _apart(told.best_score, told.score, _hundredths)
        by = "" if scores is None else f" ({scores[0]} to {scores[1]})"
        return (
            f"{pick.model} served this conversation before, as far as this gateway remembers, and {best.model} "
            f"scores only a little higher{by}."
        )
    if told.second is None:
        return f"{pick.model} is the only model that can serve this request."
    return _BY_OBJECTIVE[told.objective](told, pick, told.second)


def _beside(told: Told) -> str:
    """The most important thing that has to be said as well, if there is one."""
    pick, cramped = told.pick, told.cramped
    if pick.is_cramped:
        return f"The limit of {told.max_tokens} tokens leaves little room for the thinking that it usually does."
    if cramped:
        thinkers = "One model that thinks was" if cramped == 1 else f"{cramped} models that think were"
        return (
            f"{thinkers} placed behind the others, since the limit of {told.max_tokens} tokens leaves too little room."
        )
    if told.is_doubtful:
        return "Every host that can serve it has failed lately; they are tried all the same."
    if not pick.is_measured and told.objective in (Objective.COST, Objective.LATENCY):
        return f"No model that can serve it was evaluated for {told.task}."
    return ""


def _by_quality(told: Told, pick: Entrant, second: Entrant) -> str:
    if not pick.is_measured:
        return _unmeasured(told, pick)
    if not second.is_measured:
        values = _hundredths(pick.value, 0)
    elif (pair := _apart(pick.value, second.value, _hundredths)) is None:
        values = f"{_hundredths(pick.value, 0)}, and {second.model} about as well"
    else:
        values = f"{pair[0]}, before {second.model} with {pair[1]}"
    return f"{pick.model} is expected to do this {told.task} request best of {told.eligible} models: {values}."


def _unmeasured(told: Told, pick: Entrant) -> str:
    by = f" by scores for {' and '.join(told.stand_ins)}" if told.stand_ins else ""
    return (
        f"No model that can serve it was evaluated for {told.task}; of {told.eligible}, {pick.model} comes first{by}."
    )


def _by_cost(told: Told, pick: Entrant, second: Entrant) -> str:
    count = told.eligible
    if pick.micros is None:
        return f"No price is known of the {count} models that can serve this request; {_promise(pick)}."
    return f"{pick.model} costs least of {count} models for this {told.task} request, {_costs(pick, second)}."


def _by_latency(told: Told, pick: Entrant, second: Entrant) -> str:
    count = told.eligible
    if pick.ttft_ms is None:
        return f"No first-token time is known of the {count} models that can serve this request; {_promise(pick)}."
    times = f"about {pick.ttft_ms:.0f} ms"
    if second.ttft_ms is not None:
        is_apart = round(pick.ttft_ms) != round(second.ttft_ms)
        then = f"before {second.model} with about {second.ttft_ms:.0f} ms" if is_apart else f"as is {second.model}"
        times = f"{times}, {then}"
    return f"{pick.model} is the quickest of {count} models to its first token: {times}."


def _balanced(told: Told, pick: Entrant, second: Entrant) -> str:
    enough, eligible = told.enough, told.eligible
    if enough == 1 or pick.micros is None or not pick.is_measured:
        return _by_quality(told, pick, second)
    return (
        f"{enough} of {eligible} models are expected to do this {told.task} request nearly as well as the best; "
        f"{pick.model} costs least of them, {_costs(pick, second)}."
    )


_BY_OBJECTIVE: Final[Mapping[Objective, Callable[[Told, Entrant, Entrant], str]]] = {
    Objective.QUALITY: _by_quality,
    Objective.COST: _by_cost,
    Objective.LATENCY: _by_latency,
    Objective.BALANCED: _balanced,
}


def _promise(pick: Entrant) -> str:
    return f"{pick.model} promises most for its quality and price"


def _costs(pick: Entrant, second: Entrant) -> str:
    micros = pick.micros or 0.0
    if second.micros is None:
        return f"about {_dollars(_two_digits(micros, 0))}"
    pair = _apart(micros, second.micros, _two_digits)
    if pair is None:
        return f"about {_dollars(_two_digits(micros, 0))}, about as much as {second.model}"
    return f"about {_dollars(pair[0])}, where {second.model} costs about {_dollars(pair[1])}"


def _apart(one: float, other: float, digits: _Digits) -> tuple[str, str] | None:
    """Both numbers, with no more digits than tell them apart; None where a few more do not."""
    pairs = ((digits(one, more), digits(other, more)) for more in range(_MORE_DIGITS + 1))
    return next((pair for pair in pairs if float(pair[0]) != float(pair[1])), None)


def _hundredths(value: float, more: int) -> str:
    return f"{value:.{2 + more}f}"


def _two_digits(micros: float, more: int) -> str:
    """Two digits that count, in dollars."""
    if micros <= 0:
        return "0"
    digits = max(2, 1 - math.floor(math.log10(micros / 1_000_000)))
    return f"{micros / 1_000_000:.{digits + more}f}"


def _dollars(digits: str) -> str:
    return "nothing" if digits == "0" else f"${digits}"
