"""Makes the plan for `model: "auto"`: who can serve, in which order, and why; it calls nothing and knows no format."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.catalog.model import Target
from core.chat import ChatRequest
from core.decision import Alternative, Decision, Objective, Plan
from core.errors import Overloaded, Unprocessable
from core.routing import sieves
from core.routing.advice import advice, sentence
from core.routing.board import HealthView
from core.routing.chain import make_plan
from core.routing.conversations import Served
from core.routing.estimate import Ask, Costs, ask_of
from core.routing.explain import Told, reasoning
from core.routing.index import Index
from core.routing.policy import Effective
from core.routing.quality import Qualities, qualities
from core.routing.reading import Reading
from core.routing.score import Hosts, Race, Ranking, rank
from core.routing.spelled import Named, Spelled
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
        raise _nothing_left(able.excluded, wanted.effective)
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
    eligible = pinned or rows
    ranking = rank(race, eligible)
    place = 0 if pinned else _staying(ranking, wanted)
    order = [ranking.rows[place], *ranking.rows[:place], *ranking.rows[place + 1 :]]
    scores = [ranking.scores[place], *ranking.scores[:place], *ranking.scores[place + 1 :]]
    pick = ranking.entrant(order[0])
    told = Told(
        pick=pick,
        score=scores[0],
        second=ranking.entrant(order[1]) if len(order) > 1 else None,
        best=ranking.entrant(ranking.rows[0]),
        best_score=ranking.scores[0],
        eligible=ranking.eligible,
        enough=ranking.enough,
        cramped=index.runs.count(ranking.cramped),
        objective=wanted.effective.optimize,
        task=wanted.reading.task,
        max_tokens=ask.max_tokens,
        stand_ins=found.stand_ins,
        is_loop=bool(pinned),
        is_doubtful=not well.rows,
    )
    decision = Decision(
        pick=pick.model,
        policy=wanted.effective.policy.name,
        optimize=wanted.effective.optimize,
        alternatives=Spelled(len(order), lambda: _alternatives(ranking, order, scores)),
        reasoning=reasoning(told),
        task=wanted.reading.task,
        task_confidence=wanted.reading.confidence,
        complexity=wanted.reading.complexity,
        decisiveness=_decisiveness(scores),
        excluded=excluded,
    )
    targets = _chain(ranking.hosts, eligible, order, wanted.effective.max_attempts)
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


def _staying(ranking: Ranking, wanted: Wanted) -> int:
    """The place of who served the conversation and goes on, unless another is better: then the first."""
    if wanted.before is None:
        return 0
    start, count = ranking.hosts.index.spans.get(wanted.before.model, (0, 0))
    place = next((at for at, row in enumerate(ranking.rows) if start <= row < start + count), 0)
    one, best = ranking.entrant(ranking.rows[place]), ranking.entrant(ranking.rows[0])
    is_like = (one.is_cramped, one.is_measured) == (best.is_cramped, best.is_measured)
    is_near = ranking.scores[place] >= ranking.scores[0] * (1 - STAY[wanted.effective.optimize])
    return place if is_like and is_near else 0


def _chain(hosts: Hosts, eligible: int, order: Sequence[int], attempts: int) -> list[Target]:
    """The hosts of as many models as there are attempts, and of one with a larger window, should the prompt not fit."""
    index = hosts.index
    spans = [index.span(index.ids[row]) for row in order[:attempts]]
    targets = [index.target(row) for span in spans for row in hosts.ordered(eligible & span)]
    widest = max(target.context_tokens for target in targets)
    wider = eligible & index.contexts.rows(widest + 1) if attempts > 1 else 0
    if wider:
        others = (wider & index.span(index.ids[row]) for row in order[attempts:])
        targets += map(index.target, hosts.ordered(next(filter(None, others), 0)))
    return targets


def _decisiveness(scores: Sequence[float]) -> float:
    """How clearly the first beat the second."""
    if len(scores) == 1:
        return 1.0
    return _four_digits(max(0.0, 1 - scores[1] / scores[0])) if scores[0] else 0.0


def _alternatives(ranking: Ranking, order: Sequence[int], scores: Sequence[float]) -> Iterator[Alternative]:
    ids, numbers, measured = ranking.hosts.index.ids, ranking.numbers, ranking.measured
    for row, score in zip(order, scores, strict=True):
        micros, ttft_ms = numbers.micros.get(row), numbers.ttft_ms.get(row)
        yield Alternative(
            ids[row],
            _four_digits(score),
            _four_digits(numbers.values[row]) if measured >> row & 1 else None,
            None if micros is None else int(micros + 0.5),
            None if ttft_ms is None else int(ttft_ms + 0.5),
        )


def _four_digits(value: float) -> float:
    # `round` takes several times as long, and this is done for every model.
    return int(value * 10_000 + 0.5) / 10_000


def _nothing_left(excluded: Mapping[str, Named], effective: Effective) -> Unprocessable:
    """The failure that says what to change, and names every model with the reason, as far as there is room."""
    counts = {code: len(models) for code, models in excluded.items()}
    helps = advice(counts, is_narrowed=effective.is_narrowed) or ("ask for less",)
    left = MOST_NAMED
    reasons: list[str] = []
    for code, models in excluded.items():
        named = models[:left]
        left -= len(named)
        more = len(models) - len(named)
        names = [*named, f"{more} more"] if more else [*named]
        reasons.append(f"{code}: {', '.join(names)}")
    return Unprocessable(
        f"No model can serve this request. {sentence(helps)} Ruled out: {'; '.join(reasons)}.",
        code="no_eligible_model",
    )
