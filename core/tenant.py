"""Who calls: organisations, their keys and plans, as values."""

from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction


class Scope(Enum):
    """What a key may be used for; the list of models is open to every key."""

    INFERENCE = "inference"
    """Chat completions, and asking what would be decided."""

    DECISIONS = "decisions"
    """Reading decisions, and saying how good their answers were."""

    USAGE = "usage"
    """Reading usage and credits."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what a key or an organisation may use; None is no bound.

    Money is in micro-dollars. Days and months are those of UTC, minutes whole ones. `parallel` counts requests that are
    under way.
    """

    day_micros: int | None = None
    month_micros: int | None = None
    day_requests: int | None = None
    month_requests: int | None = None
    minute_requests: int | None = None
    minute_tokens: int | None = None
    parallel: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What an organisation has agreed on.

    `limits` hold for the organisation beside its own. On a free plan nothing is charged; on a prepaid one requests are
    refused once the credits are spent, else usage is invoiced by the month. `max_input_tokens` and `max_output_tokens`
    bound one request, None being no bound.
    """

    id: str
    name: str
    limits: Limits = Limits()
    is_free: bool = False
    is_prepaid: bool = False
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None


STANDARD_PLAN = Plan(id="standard", name="Monthly invoice, no limits")
PREPAID_PLAN = Plan(id="prepaid", name="Prepaid credits", is_prepaid=True)
FREE_PLAN = Plan(
    id="free",
    name="Free",
    limits=Limits(day_requests=100, month_requests=1_000, minute_requests=10, parallel=2),
    is_free=True,
    max_input_tokens=32_768,
    max_output_tokens=4_096,
)
BUILT_IN_PLANS = (STANDARD_PLAN, PREPAID_PLAN, FREE_PLAN)
"""Plans that are there without being stored; a stored one of the same id takes its place."""


@dataclass(frozen=True, slots=True)
class Organisation:
    """A paying party.

    `markup` and `discount` are exact shares of the provider's price. `plan` is a plan's id. `credit_micros` is all that
    was ever paid in, in micro-dollars; only a prepaid plan looks at it.
    """

    id: str
    name: str
    created_ms: int
    markup: Fraction = Fraction(0)
    discount: Fraction = Fraction(0)
    plan: str = STANDARD_PLAN.id
    limits: Limits = Limits()
    credit_micros: int = 0


@dataclass(frozen=True, slots=True)
class Key:
    """A caller's key. Only its SHA-256 (`digest`, hex) is kept; `hint` is its last four characters.

    Times are Unix milliseconds, None while they do not apply; `last_used_ms` may lag by an hour. `policies` names the
    routing policies it may use, the first being its default; `models` the only models it may name, None for all.
    `counted_as` is the id of the key that its use is counted with under limits, None for its own: one that took another
    one's place counts on where that one stood. `successor` is the id of the key that took its place.
    """

    digest: str
    id: str
    org: str
    name: str
    hint: str
    created_ms: int
    expires_ms: int | None = None
    revoked_ms: int | None = None
    policies: tuple[str, ...] = ("default",)
    models: tuple[str, ...] | None = None
    scopes: tuple[Scope, ...] = tuple(Scope)
    limits: Limits = Limits()
    last_used_ms: int | None = None
    counted_as: str | None = None
    successor: str | None = None

    def is_as(self, other: "Key") -> bool:
        """Whether nothing differs but when they were last used, which is noted beside all other changes."""
        return replace(self, last_used_ms=other.last_used_ms) == other

    @property
    def counter_id(self) -> str:
        """The id of the key that its use is counted with."""
        return self.counted_as or self.id

    def is_live(self, now_ms: int) -> bool:
        """Whether the key may be used at that time."""
        return self.revoked_ms is None and (self.expires_ms is None or now_ms < self.expires_ms)


@dataclass(frozen=True, slots=True)
class OwnKey:
    """An organisation's own key at a vendor. `sealed` is the key as the sealing of this deployment wrote it; `hint` its
    last four characters."""

    org: str
    vendor: str
    sealed: str
    hint: str
    created_ms: int
