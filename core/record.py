"""The record of one request: opened before the first byte goes out, settled once; values and pure transitions."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from core.chat import Json, Usage
from core.money import Charge, Cost
from core.reservation import Reservation

RECORD_VERSION = 1
LOST = "lost"
"""The outcome of a record whose process died; the only one that may still be replaced, once, by what really came."""


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One attempt at one host.

    `usage` is what the host reported, None when it reported nothing; `cost` prices it, exactly, None while the host's
    price is unknown. `charged` says whether the caller pays for it. `ms` is how long it took.
    `own_key` tells that the organisation's own key was used: it pays the host itself, and nothing here.
    `likely_pico` is what the host probably asks for a call that was under way when our process died; it is never
    charged.
    """

    model: str
    host: str
    outcome: str
    ms: int
    usage: Usage | None = None
    cost: Cost | None = None
    charged: bool = False
    upstream_status: int | None = None
    upstream_code: str | None = None
    likely_pico: Fraction | None = None
    own_key: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """Everything kept about a request; no prompt and no answer.

    Times are Unix milliseconds. An open record is owned by a live process until `lease_until_ms`; after that it may be
    swept. `decision` is the decision object as it was shown. `charge` is None while open, and stays None when a price
    is unknown. `reservation` is what the request holds of limits from its start, None where nothing limits it.
    `upstream_finish_reason` is the host's own word for the end of the first answer: `finish_reason` says what it means.
    It is for operators, since hosts can be told by their words.
    """

    org: str
    request_id: str
    key_id: str
    created_ms: int
    lease_until_ms: int
    requested_model: str
    surface: str
    stream: bool
    decision: Mapping[str, Json] = field(default_factory=dict)
    model: str | None = None
    attempts: tuple[AttemptRow, ...] = ()
    outcome: str = "open"
    usage: Usage | None = None
    charge: Charge | None = None
    settled_ms: int | None = None
    latency_ms: int | None = None
    ttft_ms: int | None = None
    finish_reason: str | None = None
    error_code: str | None = None
    version: int = RECORD_VERSION
    reservation: Reservation | None = None
    upstream_finish_reason: str | None = None

    @property
    def is_settled(self) -> bool:
        """Whether the record is final."""
        return self.settled_ms is not None


def settled(
    record: Record,
    *,
    outcome: str,
    attempts: tuple[AttemptRow, ...],
    usage: Usage | None,
    charge: Charge | None,
    settled_ms: int,
    ttft_ms: int | None = None,
    model: str | None = None,
    finish_reason: str | None = None,
    upstream_finish_reason: str | None = None,
    error_code: str | None = None,
    decision: Mapping[str, Json] | None = None,
) -> Record:
    """The record in its final form; `latency_ms` is the time since it was opened."""
    return replace(
        record,
        outcome=outcome,
        attempts=attempts,
        usage=usage,
        charge=charge,
        settled_ms=settled_ms,
        latency_ms=settled_ms - record.created_ms,
        ttft_ms=ttft_ms,
        model=model or record.model,
        finish_reason=finish_reason,
        upstream_finish_reason=upstream_finish_reason,
        error_code=error_code,
        decision=record.decision if decision is None else decision,
    )
