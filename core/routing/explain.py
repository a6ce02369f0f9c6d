"""Says in one or two plain sentences why a model was chosen, from the numbers that decided; it decides nothing."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from core.decision import Objective
from core.routing.score import Entrant


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
        return (
            f"{pick.model} served this conversation before, as far as this gateway remembers, and {best.model} "
            f"scores only a little higher ({told.best_score:.2f} to {told.score:.2f})."
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
    then = f", before {second.model} with {second.value:.2f}" if second.is_measured else ""
    return (
        f"{pick.model} is expected to do this {told.task} request best of {told.eligible} models: "
        f"{pick.value:.2f}{then}."
    )


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
    then = "" if second.ttft_ms is None else f", before {second.model} with about {second.ttft_ms:.0f} ms"
    return f"{pick.model} is the quickest of {count} models to its first token: about {pick.ttft_ms:.0f} ms{then}."


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
    then = "" if second.micros is None else f", where {second.model} costs about {_dollars(second.micros)}"
    return f"about {_dollars(pick.micros or 0.0)}{then}"


def _dollars(micros: float) -> str:
    """Two digits that count, in dollars."""
    if micros <= 0:
        return "nothing"
    digits = max(2, 1 - math.floor(math.log10(micros / 1_000_000)))
    return f"${micros / 1_000_000:.{digits}f}"
