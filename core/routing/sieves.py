"""The stages of `auto`: each tells, for all hosts of the catalog at once, which it lets pass, and its reason code.

A stage knows nothing of the others; a model is ruled out by the stage at which its last host fell.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeAlias, TypeVar

from core.catalog.model import Target
from core.chat import ChatRequest
from core.routing.bits import union
from core.routing.board import HealthView
from core.routing.estimate import Ask
from core.routing.index import Index
from core.routing.policy import Effective
from core.routing.quality import Qualities
from core.routing.spelled import Named
from core.routing.stages import host_code, promise_code
from core.routing.worst import Worst, free_rows, within_cap

K = TypeVar("K")

Sieve: TypeAlias = tuple[str, int]
"""A reason code, and the rows that it does not concern."""

Refusal: TypeAlias = Callable[[Target], str | None]
"""Why a target refuses a field of the request, as a reason code, or None."""


@dataclass(frozen=True, slots=True)
class Passed:
    """The rows that passed every stage, and the models that did not, by reason code."""

    rows: int
    excluded: Mapping[str, Named]


def passed(index: Index, sieves: Iterable[Sieve], rows: int | None = None) -> Passed:
    """Put the rows (all, unless they are given) through the stages, in order."""
    left = index.everything if rows is None else rows
    gone: dict[str, int] = {}
    for code, passing in sieves:
        kept = left & passing
        if kept != left:
            lost = index.runs.touched(left) & ~index.runs.touched(kept)
            if lost:
                gone[code] = gone.get(code, 0) | lost
            left = kept
    return Passed(left, {code: Named(models, index.ids) for code, models in gone.items()})


def policy(index: Index, effective: Effective, key_models: tuple[str, ...] | None) -> Iterator[Sieve]:
    """What key, policy and request allow: models, hosts, and what these promise about data."""
    for models in (key_models, effective.models):
        if models is not None:
            yield "policy", index.rows_of(models)
    if effective.exclude:
        yield "policy", index.everything & ~index.rows_of(effective.exclude)
    yield from _grouped(index.vendors.items(), lambda vendor: host_code(effective.hosts, vendor), index)
    yield from _grouped(index.promises.items(), lambda promises: promise_code(effective.data, promises), index)


def offered(index: Index, at_s: float) -> Iterator[Sieve]:
    """What its vendor still offers at that time."""
    today = datetime.fromtimestamp(at_s, UTC).date().isoformat()
    yield from _grouped(index.ends.items(), lambda day: "deprecated" if day <= today else None, index)


def abilities(index: Index, request: ChatRequest, refusal: Refusal | None) -> Iterator[Sieve]:
    """Who can do what the request asks for; None for `refusal` when there is nothing that anybody refuses."""
    if refusal is not None:
        yield from _grouped(index.refusals, refusal, index)
    if any(message.tool_calls for message in request.messages):
        yield "no_tools", index.tools
    wanted = request.response_format
    if wanted is not None and wanted.type == "json_schema":
        yield "no_structured_output", index.schemas
    elif wanted is not None and wanted.type == "json_object":
        yield "no_structured_output", index.schemas | index.json_mode


def sizes(index: Index, ask: Ask) -> Iterator[Sieve]:
    """Who has room for the prompt and for the answer."""
    if ask.max_tokens is not None:
        yield "output_too_small", index.outputs.rows(ask.max_tokens)
    answer = ask.answer_tokens if ask.max_tokens is None else ask.max_tokens
    yield "context_too_small", index.contexts.rows(ask.prompt_tokens + answer)


def cost(index: Index, worst: Worst | None) -> Iterator[Sieve]:
    """Who cannot be dearer than the cap, None for no cap."""
    if worst is not None:
        free = free_rows(index, worst)
        yield "price_unknown", index.priced | free
        yield "cost_cap", within_cap(index, worst) | free


def quality(found: Qualities, least: float | None) -> Iterator[Sieve]:
    """Who is expected to be good enough; a model that was not evaluated cannot be."""
    if least is not None:
        yield "quality_unknown", found.measured
        yield "min_quality", found.sums.at_least(found.bar(least))


def health(index: Index, view: HealthView) -> Iterator[Sieve]:
    """Who is not out of use at the moment."""
    cooling = view.cooling()
    if cooling:
        yield "unhealthy", index.everything & ~union(map(index.named, cooling))


def _grouped(groups: Iterable[tuple[K, int]], code: Callable[[K], str | None], index: Index) -> Iterator[Sieve]:
    """Ask once for all rows that are alike; one sieve for each code."""
    ruled_out: dict[str, int] = {}
    for value, rows in groups:
        found = code(value)
        if found is not None:
            ruled_out[found] = ruled_out.get(found, 0) | rows
    for found, rows in ruled_out.items():
        yield found, index.everything & ~rows


CODES: Final = (
    *("policy", "region", "data_promises", "deprecated"),
    *("no_tools", "no_vision", "no_documents", "no_audio", "no_structured_output", "no_choices"),
    *("unsupported_parameter", "output_too_small", "context_too_small"),
    *("price_unknown", "cost_cap", "quality_unknown", "min_quality", "unhealthy"),
)
"""Every reason code; stable."""
