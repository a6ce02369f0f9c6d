"""Names the counters that limits are kept by: each is of one unit in one period, so that none is ever set back.

A request adds to the counters of the periods in which it began, and settles with the same ones: that midnight passes
meanwhile changes nothing. Periods are days, months and minutes of UTC; what was ever used has the period `ever`, and
what is under way has none.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

MICROS: Final = "micros"
"""What was charged, in micro-dollars."""

REQUESTS: Final = "requests"
TOKENS: Final = "tokens"

PARALLEL: Final = "parallel"
"""The counter of the requests that are under way."""

EVER: Final = "micros:ever"
"""The counter of all that was ever charged."""

LINGERS_MS: Final = 300_000
"""How long after the end of its period a counter is kept: longer than clocks differ."""

# The form of a period tells what it is: 2026-12, 2026-12-01, 2026-12-01T10:05.
_MONTH: Final = 7
_DAY: Final = 10


def month_counter(unit: str, at_ms: int) -> str:
    """The counter of a unit in the month of that Unix time, in milliseconds."""
    return f"{unit}:{_stamp(at_ms)[:_MONTH]}"


def day_counter(unit: str, at_ms: int) -> str:
    """The counter of a unit in the day of that Unix time, in milliseconds."""
    return f"{unit}:{_stamp(at_ms)[:_DAY]}"


def minute_counter(unit: str, at_ms: int) -> str:
    """The counter of a unit in the minute of that Unix time, in milliseconds."""
    return f"{unit}:{_stamp(at_ms)}"


def unit_of(counter: str) -> str:
    """What a counter counts."""
    return counter.partition(":")[0]


@lru_cache(maxsize=1024)
def ends_ms(counter: str) -> int | None:
    """When the period of a counter is over, in Unix milliseconds; None for those that count on and on."""
    period = counter.partition(":")[2]
    if counter in (PARALLEL, EVER):
        return None
    start = datetime.fromisoformat(f"{period}-01" if len(period) == _MONTH else period).replace(tzinfo=UTC)
    if len(period) == _MONTH:
        # The 32nd day after a month's first lies in the next one.
        end = (start + timedelta(days=32)).replace(day=1)
    else:
        end = start + (timedelta(days=1) if len(period) == _DAY else timedelta(minutes=1))
    return int(end.timestamp()) * 1000


def has_lapsed(counter: str, now_ms: int) -> bool:
    """Whether nobody asks for a counter any more."""
    end = ends_ms(counter)
    return end is not None and now_ms >= end + LINGERS_MS


def _stamp(at_ms: int) -> str:
    return _minute(at_ms // 60_000)


@lru_cache(maxsize=64)
def _minute(minute: int) -> str:
    return datetime.fromtimestamp(minute * 60, UTC).strftime("%Y-%m-%dT%H:%M")
