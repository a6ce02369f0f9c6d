"""A mixed day of traffic, planned with the catalog that ships as if every vendor could be called.

The day is made of the held-out prompts, but for those of tasks that few models were evaluated for: no quality could be
told of them. Qualities are those that the catalog expects and costs are estimates at list prices; nothing here asks a
model.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from bench.routing.prompts import read_prompts
from core.catalog.loader import load_catalog
from core.chat import ChatRequest, Message, Role
from core.decision import BUILT_IN_POLICY, Alternative, Decision, Objective, Preferences
from core.errors import Unprocessable
from core.providers.refusals import refusal_traits
from core.routing.auto import Wanted, plan_auto
from core.routing.board import NOTHING_KNOWN
from core.routing.index import Index
from core.routing.indexing import build_index
from core.routing.policy import narrow
from core.routing.reading import Reading, read
from core.routing.weights import shipped_weights

# Prices change with time, so the day is a fixed one.
AT_S: Final = 1_796_083_200.0
PER_DAY: Final = 10_000

WELL_KNOWN: Final = 0.9
"""A task counts when at least this share was evaluated for it of those that were for the best known one."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt as the gateway reads it."""

    request: ChatRequest
    reading: Reading


@dataclass(frozen=True, slots=True)
class Outcome:
    """What serving all prompts comes to, for a day of `PER_DAY` requests like them.

    `dollars` is what it costs, `quality` the mean that is expected, `models` how many were picked.
    """

    dollars: float
    quality: float
    models: int


@cache
def shipped_index() -> Index:
    """The catalog that ships, all vendors of it."""
    return build_index(load_catalog(), refusal_traits)


def ask(text: str) -> Asked:
    """A prompt as a request of its own."""
    request = ChatRequest(model="auto", messages=(Message(Role.USER, text, {}),), written={})
    return Asked(request, read(request, shipped_weights()))


def decide(asked: Asked, preferences: Preferences) -> Decision:
    """What the gateway decides."""
    effective = narrow(BUILT_IN_POLICY, preferences)
    wanted = Wanted(asked.request, asked.reading, effective, None, None, None, NOTHING_KNOWN, AT_S)
    return plan_auto(shipped_index(), wanted)[1]


def traffic() -> list[Asked]:
    """The prompts of the day."""
    tasks = known_tasks()
    return [asked for asked in (ask(prompt.text) for prompt in read_prompts("held_out")) if asked.reading.task in tasks]


def known_tasks() -> list[str]:
    """The tasks that count."""
    scored = {task: rows.bit_count() for task, rows in shipped_index().scored.items()}
    return sorted(task for task, rows in scored.items() if rows >= WELL_KNOWN * max(scored.values()))


def by_objective(day: Sequence[Asked]) -> dict[Objective, Outcome]:
    """What each objective comes to."""
    return {
        objective: outcome([decide(asked, Preferences(optimize=objective)).alternatives[0] for asked in day])
        for objective in Objective
    }


def by_floor(day: Sequence[Asked], floors: Sequence[float]) -> Iterator[tuple[float, Outcome]]:
    """What `optimize: "cost"` with a `min_quality` comes to; where nobody reaches it, the best model is asked."""
    for floor in floors:
        yield floor, outcome([_cheapest_above(asked, floor) for asked in day])


def by_model(day: Sequence[Asked]) -> dict[str, Outcome]:
    """What each model alone comes to, of those that can serve all, are priced and were evaluated for every task."""
    known = [{each.model: each for each in decide(asked, Preferences()).alternatives} for asked in day]
    models = set.intersection(*(set(_comparable(alternatives.values())) for alternatives in known))
    return {model: outcome([alternatives[model] for alternatives in known]) for model in sorted(models)}


def outcome(picks: Sequence[Alternative]) -> Outcome:
    """What these picks come to."""
    micros = sum(each.estimated_cost_micros or 0 for each in picks) * PER_DAY / len(picks)
    qualities = [each.quality for each in picks if each.quality is not None]
    return Outcome(micros / 1_000_000, sum(qualities) / len(qualities), len({each.model for each in picks}))


def _cheapest_above(asked: Asked, floor: float) -> Alternative:
    try:
        return decide(asked, Preferences(optimize=Objective.COST, min_quality=floor)).alternatives[0]
    except Unprocessable:
        return decide(asked, Preferences(optimize=Objective.QUALITY)).alternatives[0]


def _comparable(alternatives: Iterable[Alternative]) -> Iterator[str]:
    for each in alternatives:
        if each.estimated_cost_micros is not None and each.quality is not None:
            yield each.model
