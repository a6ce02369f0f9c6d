"""What is kept sealed, as values: where a sealed value belongs, and who holds a caller's idempotency key."""

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sealed value belongs; it opens nowhere else. `purpose` is what it is kept for, `name` which one it is."""

    org: str
    purpose: str
    name: str


class Phase(Enum):
    """How far a request with an idempotency key is."""

    RUNNING = "running"
    KEPT = "kept"
    TOO_LARGE = "too_large"
    """It was answered, and the answer was too large to be kept."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A request's hold on an idempotency key.

    `name` is the hash of the key that the caller sent, within its organisation and API key; `body` the hash of what was
    asked. The hold ends at `lease_until_ms` if the request has not ended by then, and before where its record tells
    that its process has died; at `expires_ms` all is forgotten.
    """

    org: str
    key_id: str
    name: str
    body: str
    request_id: str
    lease_until_ms: int
    expires_ms: int


@dataclass(frozen=True, slots=True)
class Held:
    """What another request left under an idempotency key.

    `answer` is the sealed answer. It is None unless one is kept, and also where it lies in several `pieces`, which take
    a look-up of their own.
    """

    body: str
    request_id: str
    phase: Phase
    answer: str | None = None
    pieces: int = 0
