"""Prices that hold at some times only: announced changes, and hours of the day. The time is always an argument."""

from dataclasses import dataclass
from datetime import UTC, datetime

from core.money import Prices

EVERY_DAY = frozenset(range(1, 8))


@dataclass(frozen=True, slots=True)
class Window:
    """Hours on some days of the week, in UTC.

    Minutes count from midnight; the end is not part of it. Days run from 1 (Monday) to 7.
    """

    start_minute: int
    end_minute: int
    days: frozenset[int] = EVERY_DAY

    def holds(self, at: datetime) -> bool:
        """Whether a time, given in UTC, lies within."""
        minute = at.hour * 60 + at.minute
        return at.isoweekday() in self.days and self.start_minute <= minute < self.end_minute


@dataclass(frozen=True, slots=True)
class PriceChange:
    """Prices that hold instead of a host's own: from a day on (`YYYY-MM-DD`, UTC), within hours, or both."""

    prices: Prices
    since: str | None = None
    windows: tuple[Window, ...] = ()

    def holds(self, at: datetime) -> bool:
        """Whether they hold at a time, given in UTC."""
        if self.since is not None and at.date().isoformat() < self.since:
            return False
        return not self.windows or any(window.holds(at) for window in self.windows)


def prices_at(base: Prices | None, changes: tuple[PriceChange, ...], at: float) -> Prices | None:
    """The prices at a Unix time in seconds: those of the last change that holds then, else `base`."""
    moment = datetime.fromtimestamp(at, UTC)
    for change in reversed(changes):
        if change.holds(moment):
            return change.prices
    return base
