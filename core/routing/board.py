"""What this process knows of its hosts' health: fed by attempts that have ended, read when a request is planned.

It starts blind. What other processes have to tell is handed to it, and what it has to tell them is kept until it was
told; it never asks anybody.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Final

from core.catalog.model import Target
from core.errors import AccountFailure, GatewayError, ModelUnavailable, UpstreamRateLimited
from core.ports import HostNews
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

CHANGED: Final = 0.25
"""By what share a first-token time must have changed to be told again."""

CHANGED_MS: Final = 20
"""And by how many milliseconds: less decides nothing, and a near host's times would be told after every answer."""

_UNKNOWN: Final = HostHealth()
_NO_NEWS: Final = HostNews()


@dataclass(frozen=True, slots=True)
class HealthView:
    """What is known at one moment (`now`, Unix seconds), by the names of targets, and of vendors for their accounts.

    `doubtful` are the names that fail often, or have a cooldown that no good answer has ended.
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
        self._changed: set[str] = set()
        self._told: dict[str, HostNews] = {}

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
        if target.owner is not None and isinstance(error, AccountFailure | UpstreamRateLimited | ModelUnavailable):
            return  # an organisation's own account says nothing of the gateway's
        host, vendor = target.name, target.vendor.name
        health = self._known.get(host, _UNKNOWN)
        retry_after_s = None if error is None else error.retry_after_s
        match lesson(error, ms):
            case Lesson.WELL:
                self._keep(host, found_well(health, ttft_ms, now))
                if vendor in self._doubtful and target.owner is None:
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
        for name in (target.name, target.vendor.name) if target.owner is None else (target.name,):
            if name in self._doubtful and self._known[name].state(now) is State.PROBE:
                self._keep(name, probed(self._known[name], now))

    def news(self) -> Mapping[str, HostNews]:
        """What others may not know yet, by name."""
        found = {name: self._news_of(name) for name in self._changed}
        news = {name: one for name, one in found.items() if one != _NO_NEWS}
        self._changed = {*news}
        return news

    def told(self, news: Mapping[str, HostNews]) -> None:
        """Those news are where others find them."""
        for name, one in news.items():
            before = self._told.get(name, _NO_NEWS)
            self._told[name] = HostNews(
                cooling_until_ms=max(before.cooling_until_ms, one.cooling_until_ms),
                ttft_ms=before.ttft_ms if one.ttft_ms is None else one.ttft_ms,
            )

    def learn(self, told: Mapping[str, HostNews]) -> None:
        """Take over what others have to tell: of two deadlines the later one, and times that nobody measured here.

        Args:
            told: All that is told at present; a time that is not in it may be told again.
        """
        for name in self._told.keys() - told.keys():
            self._told[name] = replace(self._told[name], ttft_ms=None)
        for name, one in told.items():
            health = self._known.get(name, _UNKNOWN)
            until = one.cooling_until_ms / 1000
            if until > health.cooling_until:
                cooldowns = max(health.cooldowns, one.cooldowns)
                health = replace(health, cooling_until=until, cooldowns=cooldowns, probing_until=0.0)
            if health.ttft_ms is None and one.ttft_ms is not None:
                health = replace(health, ttft_ms=float(one.ttft_ms))
            self._keep(name, health)
        self.told(told)

    def _news_of(self, name: str) -> HostNews:
        health, told = self._known[name], self._told.get(name, _NO_NEWS)
        until_ms = int(health.cooling_until * 1000)
        is_later = until_ms > told.cooling_until_ms
        ttft_ms = None if health.ttft_ms is None else round(health.ttft_ms)
        if ttft_ms is not None and told.ttft_ms is not None:
            is_other = abs(ttft_ms - told.ttft_ms) > max(CHANGED * told.ttft_ms, CHANGED_MS)
            ttft_ms = ttft_ms if is_other else None
        return HostNews(until_ms if is_later else 0, health.cooldowns if is_later else 0, ttft_ms)

    def _keep(self, name: str, health: HostHealth) -> None:
        self._known[name] = health
        self._changed.add(name)
        if health.cooling_until or health.error_rate > SHAKY:
            self._doubtful.add(name)
        else:
            self._doubtful.discard(name)
