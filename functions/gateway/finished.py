"""What observers are told of a request when it is over; never a prompt, an answer, a key or what a caller typed."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Protocol

from core.errors import (
    ContextTooLong,
    DeadlineExceeded,
    GatewayError,
    Overloaded,
    OwnKeyFailure,
    PaymentRequired,
    RateLimited,
    StoreUnavailable,
    UpstreamFailure,
    UpstreamRejected,
)
from core.record import AttemptRow, Record
from core.settlement import Outcome

# Whose a failure is, the first that fits: an upstream's verdict on the request is about the request.
_CLASSES: Final = (
    (RateLimited | PaymentRequired, "limit"),
    (UpstreamRejected | ContextTooLong | OwnKeyFailure, "caller"),
    (StoreUnavailable, "gateway"),
    (UpstreamFailure | DeadlineExceeded | Overloaded, "upstream"),
)


@dataclass(frozen=True, slots=True)
class Finished:
    """A request that is over.

    `route` is its endpoint's path as declared, None where there is no such endpoint; `method` is `_OTHER` where it is
    none of HTTP's own. `status` is what the answer began with, None where none began. Times are Unix seconds. `org` is
    None until the key was known; `error` is what the caller was told of last. `outcome` is there where models were to
    be called, `replay_of` where an answer under an idempotency key was given again: the request that made it.
    `traceparent` is the caller's header of W3C Trace Context as it came; what beside it may hold any text is not kept.
    """

    request_id: str
    method: str
    route: str | None
    status: int | None
    started: float
    ended: float
    surface: str | None = None
    org: str | None = None
    error: GatewayError | None = None
    outcome: Outcome | None = None
    replay_of: str | None = None
    traceparent: str | None = None

    @property
    def record(self) -> Record | None:
        """Its record, settled; None where there is none."""
        return None if self.outcome is None else self.outcome.record

    @property
    def result(self) -> str:
        """One word for how it ended: the record's outcome, or what came instead of one."""
        if self.error is not None and (self.record is None or self.record.error_code is None):
            return "refused" if self.record is None else "failed"
        if self.record is not None:
            return self.record.outcome
        if self.status is None:
            return "caller_left"
        return "answered" if self.replay_of is None else "replayed"

    @property
    def error_class(self) -> str | None:
        """Who has to do something about its failure: `caller`, `limit`, `upstream` or `gateway`; None without one."""
        return None if self.error is None else class_of(self.error)

    @property
    def fallbacks(self) -> int:
        """How often the next host, or account, took over from one that failed."""
        rows = () if self.record is None else self.record.attempts
        return sum(_place(one) != _place(other) for one, other in pairwise(rows))


class Observer(Protocol):
    """Told of each request, once, when it is over and its answer is out; nothing waits for it."""

    def finished(self, request: Finished) -> None:
        """Note it."""
        ...


def class_of(error: GatewayError) -> str:
    """Whose a failure is."""
    for kinds, name in _CLASSES:
        if isinstance(error, kinds):
            return name
    return "caller" if error.status < 500 else "gateway"


def _place(row: AttemptRow) -> tuple[str, str, bool]:
    return row.model, row.host, row.own_key
