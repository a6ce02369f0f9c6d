"""What requests hold of limits, as values, and the pure transitions that both stores carry out.

A subject (an organisation, or one of its keys) has counters. Each is the sum of what was used and of what requests
under way hold; so a request fits where adding the most that it can use stays within the bound. What it holds is
settled to what it used. A lease bounds how long it may hold anything: it is not renewed, and who finds it expired looks
at the request's record.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from core.counters import MICROS, PARALLEL, REQUESTS, TOKENS, has_lapsed, unit_of

Counters: TypeAlias = Mapping[str, int]
"""Numbers by the names of counters (`core.counters`)."""

ORGANISATION: Final = "org"
"""The subject that an organisation itself is."""

LEASE_S: Final = 90
"""How long what a process holds stays taken after it has died."""


def key_subject(key_id: str) -> str:
    """The subject that a key is."""
    return f"key:{key_id}"


@dataclass(frozen=True, slots=True)
class Amount:
    """What requests use: money in micro-dollars, tokens (input and output together), and how many requests they are."""

    micros: int = 0
    tokens: int = 0
    requests: int = 1


@dataclass(frozen=True, slots=True)
class Held:
    """What a request holds at one subject, by counter, and until when (Unix milliseconds) nobody else may end that."""

    amounts: Counters
    expires_ms: int


@dataclass(frozen=True, slots=True)
class Reservation:
    """What a request holds at every subject that has limits."""

    org: str
    request_id: str
    expires_ms: int
    amounts: Mapping[str, Counters]

    def held(self, subject: str) -> Held:
        """What it holds at a subject."""
        return Held(self.amounts[subject], self.expires_ms)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a subject stands: its counters, and what each request under way holds of them, by request id."""

    counters: Counters = field(default_factory=dict)
    held: Mapping[str, Held] = field(default_factory=dict)

    def expired(self, now_ms: int) -> Sequence[str]:
        """The requests whose lease has passed, the longest passed first."""
        found = [(held.expires_ms, request_id) for request_id, held in self.held.items() if held.expires_ms <= now_ms]
        return [request_id for _, request_id in sorted(found)]

    def lapsed(self, now_ms: int) -> Sequence[str]:
        """The counters that nobody asks for any more."""
        return sorted(name for name in self.counters if has_lapsed(name, now_ms))


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether a reservation was taken, and where its subjects stand after that; None where nobody looked."""

    is_taken: bool
    standings: Mapping[str, Standing | None]


@dataclass(frozen=True, slots=True)
class Window:
    """How much of a limit is left, and after how many seconds it starts anew."""

    limit: int
    remaining: int
    reset_s: float


@dataclass(frozen=True, slots=True)
class Change:
    """What is written of a subject for one request: what is added to counters and which are dropped, and what it holds
    from then on (None: nothing)."""

    added: Counters
    dropped: Sequence[str]
    held: Held | None


def taking(before: Held | None, after: Held) -> Change:
    """Hold `after` in place of what was held before."""
    had = {} if before is None else before.amounts
    added = {name: amount - had.get(name, 0) for name, amount in after.amounts.items()}
    return Change({name: amount for name, amount in added.items() if amount}, (), after)


def settling(before: Held, used: Amount, now_ms: int, *, lapsed: Sequence[str] = (), keep_until_ms: int = 0) -> Change:
    """Count what was used in place of what was held.

    Args:
        before: What is held.
        used: What was used.
        now_ms: Unix time in milliseconds.
        lapsed: Other counters that nobody asks for any more.
        keep_until_ms: Until when what was used may still be corrected, by another settling; 0 if it is final.
    """
    came_to = settled_amounts(before.amounts, used)
    added = {name: came_to[name] - amount for name, amount in before.amounts.items()}
    dropped = {*lapsed, *(name for name in before.amounts if has_lapsed(name, now_ms))}
    return Change(
        {name: amount for name, amount in added.items() if amount and name not in dropped},
        sorted(dropped),
        Held(came_to, keep_until_ms) if keep_until_ms else None,
    )


def settled_amounts(amounts: Counters, used: Amount) -> Counters:
    """What a request counts for in the end, at the counters that it held something of; it is under way no more."""
    by_unit = {MICROS: used.micros, TOKENS: used.tokens, REQUESTS: used.requests, PARALLEL: 0}
    return {name: by_unit[unit_of(name)] for name in amounts}


def applied(standing: Standing, request_id: str, change: Change) -> Standing:
    """Where a subject stands after a change."""
    counters = {name: value for name, value in standing.counters.items() if name not in change.dropped}
    for name, amount in change.added.items():
        counters[name] = counters.get(name, 0) + amount
    held = {name: value for name, value in standing.held.items() if name != request_id}
    if change.held is not None:
        held[request_id] = change.held
    return replace(standing, counters=counters, held=held)


def exceeded(standing: Standing, change: Change, bounds: Counters) -> Sequence[str]:
    """The counters that a change would bring beyond their bound; what does not grow is never one of them."""
    return [
        name
        for name, amount in change.added.items()
        if amount > 0 and name in bounds and standing.counters.get(name, 0) + amount > bounds[name]
    ]


def admitted(
    standings: Mapping[str, Standing], reservation: Reservation, bounds: Mapping[str, Counters]
) -> Mapping[str, Standing] | None:
    """Where the subjects stand once a reservation is taken, or None where one of them has no room.

    What the request holds already is part of it: taking the same a second time changes nothing, taking more adds the
    difference.
    """
    after: dict[str, Standing] = {}
    for subject, standing in standings.items():
        change = taking(standing.held.get(reservation.request_id), reservation.held(subject))
        if exceeded(standing, change, bounds.get(subject, {})):
            return None
        after[subject] = applied(standing, reservation.request_id, change)
    return after
