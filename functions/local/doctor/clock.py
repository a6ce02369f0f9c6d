"""Does this machine's clock agree with others'? AWS refuses signatures that are five minutes off; leases need it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from functions.local.doctor.finding import Finding, fail, fine, warn

ABOUT = "clock"
# A Date header tells whole seconds, and is as old as its answer.
LITTLE_S = 5.0
MUCH_S = 60.0
_DO = "Let the clock be set by a time service (NTP): leases, limits and AWS signatures depend on it."


def check_clock(whose: str, told: str | None, now: float) -> Sequence[Finding]:
    """What a `Date` header says of our clock.

    Args:
        whose: Who sent it.
        told: The header, or None.
        now: Unix time here when it came, in seconds.
    """
    if told is None:
        return [warn(ABOUT, f"{whose} did not tell the time", "Nothing, unless all others do not tell it either.")]
    try:
        moment = parsedate_to_datetime(told)
    except ValueError:
        return [warn(ABOUT, f"{whose} told a time that cannot be read", "Nothing, unless all others do so too.")]
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    off_s = (datetime.fromtimestamp(now, UTC) - moment).total_seconds()
    says = f"{abs(off_s):.0f} s {'ahead of' if off_s > 0 else 'behind'} {whose}"
    if abs(off_s) > MUCH_S:
        return [fail(ABOUT, says, _DO)]
    if abs(off_s) > LITTLE_S:
        return [warn(ABOUT, says, _DO)]
    return [fine(ABOUT, f"agrees with {whose}")]
