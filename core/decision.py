"""Values of routing: what a request prefers, what a policy allows, what was planned, and what is told about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from core.catalog.model import Target


class OwnKeyUse(Enum):
    """When an organisation's own key at a vendor is used for its requests to that vendor."""

    FIRST = "own_first"
    ONLY = "own_only"
    LAST = "managed_first"


class Objective(Enum):
    """What `auto` optimises for."""

    QUALITY = "quality"
    COST = "cost"
    LATENCY = "latency"
    BALANCED = "balanced"


@dataclass(frozen=True, slots=True)
class DataRules:
    """Promises that hosts must make about data; `regions` is None when any will do."""

    regions: tuple[str, ...] | None = None
    no_training: bool = False
    zero_retention: bool = False


@dataclass(frozen=True, slots=True)
class HostRules:
    """Which hosts may serve; names are the operator's."""

    only: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    order: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Preferences:
    """The `routing` object of a request: each member narrows the policy, None leaves it as it is.

    Times are in milliseconds, `max_cost_micros` in micro-dollars, `min_quality` from 0 to 1.
    """

    policy: str | None = None
    optimize: Objective | None = None
    models: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    providers: HostRules = HostRules()
    max_cost_micros: int | None = None
    min_quality: float | None = None
    first_token_ms: int | None = None
    deadline_ms: int | None = None
    fallback: bool | None = None
    data: DataRules = DataRules()


@dataclass(frozen=True, slots=True)
class Policy:
    """An organisation's envelope for routing; None means no bound. Times are in milliseconds.

    `use_opinions` lets the scores that callers gave move the quality that models are expected to have.
    """

    name: str = "default"
    allow_models: tuple[str, ...] | None = None
    allow_providers: tuple[str, ...] | None = None
    allow_optimize: tuple[Objective, ...] = tuple(Objective)
    optimize: Objective = Objective.BALANCED
    first_token_ms: int = 12_000
    deadline_ms: int = 120_000
    max_attempts: int = 3
    max_cost_micros: int | None = None
    min_quality: float | None = None
    data: DataRules = DataRules()
    named_model_fallbacks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    extract_json: bool = True
    reask_json: bool = False
    extended_thinking: bool | None = None
    reasoning_effort: str | None = None
    max_tokens_default: int = 8_192
    sticky: bool = True
    own_keys: OwnKeyUse = OwnKeyUse.FIRST
    use_opinions: bool = False


BUILT_IN_POLICY = Policy()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A target that might serve; `refused` holds the request's fields that it cannot, each with the reason."""

    target: Target
    refused: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Budgets:
    """How long one attempt may take, in seconds.

    `first_token_s` runs to its first token (None: only silence counts), `silence_s` between two reads once a token was
    there or, with `silence_before_token`, from the start.
    """

    first_token_s: float | None
    silence_s: float
    silence_before_token: bool = False


@dataclass(frozen=True, slots=True)
class Leg:
    """One place in the chain: where to, and how long it may take."""

    target: Target
    budgets: Budgets


@dataclass(frozen=True, slots=True)
class Plan:
    """The chain to walk, in order; times are seconds from the request's start.

    `deadline_s` bounds the request until an attempt commits; `thinking_deadline_s` takes its place once a model was
    seen to think. A `whole` answer commits when it is complete. `hold_reasoning` keeps thinking back until the answer
    itself begins. `max_attempts` counts over all legs. `ends_s` is when everything is over, whatever was sent by then:
    the platform's own limit, less what it takes to say so; None where there is none. `may_be_empty` tells that a blank
    answer is a good one: it met one of the caller's stop sequences at once.
    """

    legs: tuple[Leg, ...]
    deadline_s: float
    thinking_deadline_s: float
    whole: bool = False
    hold_reasoning: bool = False
    max_attempts: int = 3
    ends_s: float | None = None
    may_be_empty: bool = False


class Alternative(NamedTuple):
    """A ranked model; scores from 0 to 1, None where nothing is known.

    A tuple, since each decision has one for every model of the catalog, and it is made in a quarter of the time.
    """

    model: str
    score: float | None = None
    quality: float | None = None
    estimated_cost_micros: int | None = None
    estimated_ttft_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Why a model was chosen: everything that is known before the first attempt.

    `excluded` maps a stable reason code to the models that it ruled out.
    """

    pick: str
    policy: str
    optimize: Objective
    alternatives: Sequence[Alternative]
    reasoning: str
    task: str | None = None
    task_confidence: float | None = None
    complexity: float | None = None
    decisiveness: float = 1.0
    excluded: Mapping[str, Sequence[str]] = field(default_factory=dict)
    thinking: str | None = None
    thinking_reason: str | None = None
    structured_output: str | None = None
    tool_memory: str | None = None
