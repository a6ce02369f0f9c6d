"""What this process knows of its hosts' health: fed by attempts that have ended, read when a request is planned.

It starts blind, and knows nothing of other processes.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Final

from core.catalog.model import Target
from core.errors import GatewayError
from core.routing.health import (
    OUT_OF_ROTATION_S,
    SHAKY,
    HostHealth,
    Lesson,
    State,
    cooled,
    failed,
    found_well,
    lesson,
    probed,
)

_UNKNOWN: Final = HostHealth()


@dataclass(frozen=True, slots=True)
class HealthView:
    """What is known at one moment (`now`, Unix seconds), by the names of targets, and of vendors for their accounts.

    `doubtful` are the names with a cooldown that no good answer has ended.
    """

    now: float = 0.0
    known: Mapping[str, HostHealth] = field(default_factory=dict)
    doubtful: Set[str] = frozenset()

    def cooling(self) -> list[str]:
        """The names that are out of use."""
        return [name for name in sorted(self.doubtful) if self.known[name].state(self.now) is State.COOLING]

    def rank(self, host: str, vendor: str) -> int:
        """How a host stands: 0 well, 1 shaky, 2 to be tried again, 3 out of use."""
        states = [self.known[name].state(self.now) for name in (host, vendor) if name in self.doubtful]
        if State.COOLING in states:
            return 3
        if State.PROBE in states:
            return 2
        return int(self.known.get(host, _UNKNOWN).error_rate > SHAKY)

    def ttft_ms(self, host: str) -> float | None:
        """The host's usual time to the first token, None where it was not measured."""
        return self.known.get(host, _UNKNOWN).ttft_ms


NOTHING_KNOWN: Final = HealthView()


class HealthBoard:
    """The health of every host that was called."""

    def __init__(self) -> None:
        self._known: dict[str, HostHealth] = {}
        self._doubtful: set[str] = set()

    def view(self, now: float) -> HealthView:
        """What is known now."""
        return HealthView(now, self._known, frozenset(self._doubtful))

    def note(self, target: Target, error: GatewayError | None, ms: int, ttft_ms: int | None, now: float) -> None:
        """Learn from an attempt.

        Args:
            target: Where it went.
            error: How it failed, None when it did not.
            ms: How long it took.
            ttft_ms: The time to its first token, None when none came or nobody looked.
            now: Unix time in seconds.
        """
        host, vendor = target.name, target.vendor.name
        health = self._known.get(host, _UNKNOWN)
        retry_after_s = None if error is None else error.retry_after_s
        match lesson(error, ms):
            case Lesson.WELL:
                self._keep(host, found_well(health, ttft_ms, now))
                if vendor in self._doubtful:
                    self._keep(vendor, found_well(self._known[vendor], None, now))
            case Lesson.FAILED:
                self._keep(host, failed(health, now, retry_after_s))
            case Lesson.TOLD_TO_WAIT:
                self._keep(host, cooled(health, now, retry_after_s))
            case Lesson.ACCOUNT:
                self._keep(vendor, cooled(self._known.get(vendor, _UNKNOWN), now, OUT_OF_ROTATION_S))
            case _:
                pass  # nothing is learnt

    def probe(self, target: Target, now: float) -> None:
        """A request is about to find out whether a doubtful host is well again."""
        for name in (target.name, target.vendor.name):
            if name in self._doubtful and self._known[name].state(now) is State.PROBE:
                self._keep(name, probed(self._known[name], now))

    def _keep(self, name: str, health: HostHealth) -> None:
        self._known[name] = health
        if health.cooling_until:
            self._doubtful.add(name)
        else:
            self._doubtful.discard(name)
