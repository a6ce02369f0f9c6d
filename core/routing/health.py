"""How hosts have been doing, as values and transitions: nothing here asks a host or reads a clock.

A host that fails is left alone until a deadline, which only ever moves further away; after it one request may try the
host again, and what becomes of that decides. A cooldown of a vendor's account is kept under the vendor's own name.
"""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from core.errors import (
    AccountFailure,
    BadReply,
    ContentRefused,
    ContextTooLong,
    FirstTokenTimeout,
    GatewayError,
    Interrupted,
    ModelUnavailable,
    SilentUpstream,
    UpstreamRateLimited,
    UpstreamRejected,
    UpstreamUnavailable,
)

FAILURES_TO_COOL: Final = 3
"""How many failures in a row put a host out of use."""

RATE_TO_COOL: Final = 0.5
CALLS_TO_KNOW: Final = 8
SHAKY: Final = 0.2
"""A host whose error rate is above this stands behind others of its model."""

FIRST_COOLDOWN_S: Final = 10.0
LONGEST_COOLDOWN_S: Final = 300.0
OUT_OF_ROTATION_S: Final = 300.0
LONGEST_RETRY_AFTER_S: Final = 3_600.0
PROBE_S: Final = 30.0
"""How long the one request that tries a host again keeps others from doing so."""

LEAST_WAIT_MS: Final = 10_000
"""A first token that was waited for less than this was the caller's haste, not the host's fault."""

_WEIGHT: Final = 0.2


class State(Enum):
    """Whether a host may be used."""

    READY = "ready"
    PROBE = "probe"  # one request may find out
    COOLING = "cooling"


@dataclass(frozen=True, slots=True)
class HostHealth:
    """What is known of a host. `error_rate` and `ttft_ms` are moving averages; deadlines are Unix seconds, 0 for none.

    `calls` were counted up to now, `failures` came in a row since the last good answer, `cooldowns` since the host was
    last found well.
    """

    error_rate: float = 0.0
    calls: int = 0
    failures: int = 0
    cooldowns: int = 0
    ttft_ms: float | None = None
    cooling_until: float = 0.0
    probing_until: float = 0.0

    def state(self, now: float) -> State:
        """Whether it may be used at that time."""
        if now < self.cooling_until or now < self.probing_until:
            return State.COOLING
        return State.PROBE if self.cooling_until else State.READY


class Lesson(Enum):
    """What an attempt teaches about its host."""

    NOTHING = "nothing"
    WELL = "well"
    FAILED = "failed"
    TOLD_TO_WAIT = "told_to_wait"
    ACCOUNT = "account"


_LESSONS: Final[tuple[tuple[type[GatewayError], Lesson], ...]] = (
    (UpstreamRateLimited, Lesson.TOLD_TO_WAIT),
    (AccountFailure, Lesson.ACCOUNT),
    # It may be the caller's file that is not there, so that one such failure proves nothing.
    (ModelUnavailable, Lesson.FAILED),
    # A host that judges a request is there and works.
    (UpstreamRejected, Lesson.WELL),
    (ContextTooLong, Lesson.WELL),
    (ContentRefused, Lesson.WELL),
    (FirstTokenTimeout, Lesson.FAILED),
    (SilentUpstream, Lesson.FAILED),
    (Interrupted, Lesson.FAILED),
    (BadReply, Lesson.FAILED),
    (UpstreamUnavailable, Lesson.FAILED),
)


def lesson(error: GatewayError | None, ms: int) -> Lesson:
    """What an attempt of `ms` milliseconds teaches; the request's own faults and ours teach nothing."""
    if error is None:
        return Lesson.WELL
    if isinstance(error, FirstTokenTimeout) and ms < LEAST_WAIT_MS:
        return Lesson.NOTHING
    if isinstance(error, AccountFailure) and error.upstream_status == 403:
        return Lesson.FAILED  # what is forbidden may be this model alone
    return next((taught for kind, taught in _LESSONS if isinstance(error, kind)), Lesson.NOTHING)


def found_well(health: HostHealth, ttft_ms: float | None, now: float) -> HostHealth:
    """After an answer. One that was under way before a cooldown does not end it."""
    average = health.ttft_ms
    if ttft_ms is not None:
        average = ttft_ms if average is None else average + _WEIGHT * (ttft_ms - average)
    noted = replace(
        health,
        error_rate=health.error_rate * (1 - _WEIGHT),
        calls=health.calls + 1,
        failures=0,
        ttft_ms=average,
    )
    if now < health.cooling_until:
        return noted
    return replace(noted, cooldowns=0, cooling_until=0.0, probing_until=0.0)


def failed(health: HostHealth, now: float, retry_after_s: float | None = None) -> HostHealth:
    """After a failure of the host's own; several of them, or the host's own word, put it out of use for a while."""
    noted = replace(
        health,
        error_rate=health.error_rate + _WEIGHT * (1 - health.error_rate),
        calls=health.calls + 1,
        failures=health.failures + 1,
    )
    is_bad = noted.failures >= FAILURES_TO_COOL or (noted.calls >= CALLS_TO_KNOW and noted.error_rate > RATE_TO_COOL)
    failed_again = health.cooldowns > 0 and now >= health.cooling_until
    if retry_after_s is not None:
        return cooled(noted, now, retry_after_s)
    return cooled(noted, now) if is_bad or failed_again else noted


def cooled(health: HostHealth, now: float, seconds: float | None = None) -> HostHealth:
    """Out of use: for `seconds`, or for longer each time in a row."""
    if seconds is None:
        seconds = min(LONGEST_COOLDOWN_S, FIRST_COOLDOWN_S * 2.0 ** min(health.cooldowns, 16))
    until = now + min(max(seconds, 0.0), LONGEST_RETRY_AFTER_S)
    is_new = now >= health.cooling_until
    return replace(
        health,
        cooldowns=health.cooldowns + is_new,
        cooling_until=max(health.cooling_until, until),
        probing_until=0.0,
    )


def probed(health: HostHealth, now: float) -> HostHealth:
    """While the one request is under way that finds out whether the host is well again."""
    return replace(health, probing_until=now + PROBE_S)
