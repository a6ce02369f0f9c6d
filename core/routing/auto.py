"""Makes the plan for `model: "auto"`: who can serve, in which order, and why; it calls nothing and knows no format."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.catalog.model import Target
from core.chat import ChatRequest
from core.decision import Alternative, Decision, Objective, Plan
from core.errors import Overloaded, Unprocessable
from core.routing import sieves
from core.routing.bits import Named
from core.routing.board import HealthView
from core.routing.chain import make_plan
from core.routing.conversations import Served
from core.routing.estimate import Ask, Costs, ask_of
from core.routing.explain import Told, reasoning
from core.routing.index import Index
from core.routing.order import Entrant
from core.routing.policy import Effective
from core.routing.quality import Qualities, qualities
from core.routing.reading import Reading
from core.routing.score import Race, Ranking, rank
from core.routing.worst import Worst

STAY: Final[Mapping[Objective, float]] = {
    Objective.QUALITY: 0.05,
    Objective.COST: 0.25,
    Objective.LATENCY: 0.3,
    Objective.BALANCED: 0.25,
}
"""How much lower, as a share, the score of the model that served a conversation may be before another takes over."""

MOST_NAMED: Final = 200
"""How many models a refusal names."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Everything that is known of a request that leaves the choice to the gateway.

    `key_models` are the only models that its key may use, None for all. `refusal` tells why a target refuses a field,
    None where no field can be refused. `worst` bounds the charge, None without a cap. `caller` made the tool calls that
    are being answered, `before` served the conversation's last turn; None where that is not so, or not known. `now` is
    Unix time in seconds.
    """

    request: ChatRequest
    reading: Reading
    effective: Effective
    key_models: tuple[str, ...] | None
    refusal: sieves.Refusal | None
    worst: Worst | None
    view: HealthView
    now: float
    caller: Served | None = None
    before: Served | None = None


def plan_auto(index: Index, wanted: Wanted) -> tuple[Plan, Decision]:
    """Choose.

    Raises:
        Unprocessable: `no_eligible_model`: no model can serve the request; each is named with the reason.
        Overloaded: There is no model at all.
    """
    if not index.size:
        raise Overloaded("No model can be used at the moment. The operator has to give the gateway a vendor's key.")
    ask = ask_of(wanted.request, wanted.reading, wanted.now)
    found = qualities(index, wanted.reading)
    able = sieves.passed(index, _hard(index, wanted, ask, found))
    if not able.rows:
        raise _nothing_left(able.excluded)
    well = sieves.passed(index, sieves.health(index, wanted.view), able.rows)
    # Better a host that failed than none.
    rows = well.rows or able.rows
    excluded = {**able.excluded, **well.excluded} if well.rows else able.excluded
    pinned = _pinned(index, wanted.caller, able.rows)
    first = wanted.caller if pinned else wanted.before
    race = Race(
        index=index,
        ask=ask,
        costs=Costs(index, ask),
        found=found,
        objective=wanted.effective.optimize,
        view=wanted.view,
        order=wanted.effective.hosts.order,
        host=None if first is None else first.host,
    )
    ranking = rank(race, pinned or rows)
    order = [*range(len(ranking.models))] if pinned else _order(ranking, wanted)
    models = [ranking.models[place] for place in order]
    scores = [ranking.scores[place] for place in order]
    told = Told(
        models=models,
        scores=scores,
        objective=wanted.effective.optimize,
        task=wanted.reading.task,
        ranking=ranking,
        max_tokens=ask.max_tokens,
        stand_ins=found.stand_ins,
        is_loop=bool(pinned),
        is_doubtful=not well.rows,
    )
    decision = Decision(
        pick=models[0].model,
        policy=wanted.effective.policy.name,
        optimize=wanted.effective.optimize,
        alternatives=tuple(map(_alternative, models, scores)),
        reasoning=reasoning(told),
        task=wanted.reading.task,
        task_confidence=wanted.reading.confidence,
        complexity=wanted.reading.complexity,
        decisiveness=_decisiveness(scores),
        excluded=excluded,
    )
    targets = _chain(index, models, wanted.effective.max_attempts)
    return make_plan(wanted.request, targets, wanted.effective), decision


def _hard(index: Index, wanted: Wanted, ask: Ask, found: Qualities) -> Iterator[sieves.Sieve]:
    """The stages that no request passes by; health is none of them."""
    yield from sieves.policy(index, wanted.effective, wanted.key_models)
    yield from sieves.offered(index, wanted.now)
    yield from sieves.abilities(index, wanted.request, wanted.refusal)
    yield from sieves.sizes(index, ask)
    yield from sieves.cost(index, wanted.worst)
    yield from sieves.quality(found, wanted.effective.min_quality)


def _pinned(index: Index, caller: Served | None, rows: int) -> int:
    """The rows of the model that made the calls being answered; none where it cannot serve any more."""
    return 0 if caller is None else rows & index.span(caller.model)


def _order(ranking: Ranking, wanted: Wanted) -> list[int]:
    """The places of the ranking in the order to ask: who served the conversation first, unless another is better."""
    places = [*range(len(ranking.models))]
    if wanted.before is None:
        return places
    first = ranking.models[0]
    least = ranking.scores[0] * (1 - STAY[wanted.effective.optimize])
    for place, model in enumerate(ranking.models):
        if model.model == wanted.before.model:
            is_like = (model.is_cramped, model.is_measured) == (first.is_cramped, first.is_measured)
            if is_like and ranking.scores[place] >= least:
                return [place, *places[:place], *places[place + 1 :]]
            break
    return places


def _chain(index: Index, models: Sequence[Entrant], attempts: int) -> list[Target]:
    """The hosts of as many models as there are attempts, and of one with a larger window, should the prompt not fit."""
    targets = [index.target(row) for model in models[:attempts] for row in model.rows]
    widest = max(target.context_tokens for target in targets)
    for model in models[attempts:] if attempts > 1 else ():
        rows = [row for row in model.rows if index.windows[row] > widest]
        if rows:
            return [*targets, *map(index.target, rows)]
    return targets


def _decisiveness(scores: Sequence[float]) -> float:
    """How clearly the first beat the second."""
    if len(scores) == 1:
        return 1.0
    return _four_digits(max(0.0, 1 - scores[1] / scores[0])) if scores[0] else 0.0


def _alternative(entrant: Entrant, score: float) -> Alternative:
    return Alternative(
        entrant.model,
        _four_digits(score),
        _four_digits(entrant.value) if entrant.is_measured else None,
        None if entrant.micros is None else int(entrant.micros + 0.5),
        None if entrant.ttft_ms is None else int(entrant.ttft_ms + 0.5),
    )


def _four_digits(value: float) -> float:
    # `round` takes several times as long, and this is done for every model.
    return int(value * 10_000 + 0.5) / 10_000


def _nothing_left(excluded: Mapping[str, Named]) -> Unprocessable:
    """The failure that names every model with the reason, as far as there is room."""
    left = MOST_NAMED
    reasons: list[str] = []
    for code, models in excluded.items():
        named = models[:left]
        left -= len(named)
        more = len(models) - len(named)
        names = [*named, f"{more} more"] if more else [*named]
        reasons.append(f"{code}: {', '.join(names)}")
    return Unprocessable(
        f"No model can serve this request. {'; '.join(reasons)}. Ask for less, or widen the routing object.",
        code="no_eligible_model",
    )
