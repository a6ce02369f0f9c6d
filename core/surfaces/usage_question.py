"""What is asked of the usage report: which time, grouped how, which page; read from a query string."""

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from enum import Enum
from typing import Any, Final

import orjson

from core.errors import InvalidRequest
from core.surfaces.query import Parameters, check_names, only_value, page_limit
from core.totals import QUARTER_MS

USUAL_LIMIT: Final = 100
LARGEST_LIMIT: Final = 1_000
UTC_NAME: Final = "UTC"

# Longer ones would be read in full for every page.
LONGEST_DAYS: Final = {"hour": 62, "day": 800}

_QUARTER_S: Final = QUARTER_MS // 1_000
_SECONDS: Final = re.compile(r"\d{1,11}")
_LAST: Final = datetime(9999, 1, 1, tzinfo=UTC).timestamp()

PARAMETERS: Final = ("from", "to", "group_by", "tz", "cursor", "limit")
"""The parameters that there are."""


class Group(Enum):
    """What the rows of a report are grouped by."""

    MODEL = "model"
    KEY = "key"
    DAY = "day"
    HOUR = "hour"
    TASK = "task"


@dataclass(frozen=True, slots=True)
class UsageQuestion:
    """A page of a report.

    `quarters` are numbers of quarter hours since 1970. Days and hours are those of `zone`, whose IANA name is
    `zone_name`. `after` is the group that the page before ended with.
    """

    quarters: range
    groups: tuple[Group, ...]
    zone: tzinfo
    zone_name: str
    limit: int = USUAL_LIMIT
    after: tuple[str | int, ...] | None = None


def parse_usage_question(
    parameters: Parameters, now_s: float, zone_of: Callable[[str], tzinfo | None]
) -> UsageQuestion:
    """Read a query string; the current month by day unless it says otherwise.

    Args:
        parameters: Those of `PARAMETERS`.
        now_s: Unix time in seconds.
        zone_of: The time zone of an IANA name, or None where there is none.

    Raises:
        InvalidRequest: A value is wrong, or there is no such parameter; the parameter is named.
    """
    check_names(parameters, PARAMETERS)
    cursor = only_value(parameters, "cursor")
    # A page belongs to the report that the first page began, also when that one ended "now".
    told = parameters if cursor is None else _continued(parameters, cursor)
    name = only_value(told, "tz") or UTC_NAME
    zone = zone_of(name)
    if zone is None:
        raise InvalidRequest(
            f"'tz' must be the IANA name of a time zone, like Europe/Berlin, not {name!r}.", param="tz"
        )
    groups = _groups(told)
    to_s = _moment(told, "to", zone)
    end = -(-_whole(now_s if to_s is None else to_s) // _QUARTER_S)
    from_s = _moment(told, "from", zone)
    first = (_month_before(end * _QUARTER_S, zone) if from_s is None else from_s) // _QUARTER_S
    if first >= end:
        raise InvalidRequest("'from' must be before 'to'.", param="from")
    _check_length(end - first, groups)
    after = None if cursor is None else _after(cursor, groups)
    return UsageQuestion(
        range(first, end), groups, zone, name, page_limit(parameters, USUAL_LIMIT, LARGEST_LIMIT), after
    )


def cursor_of(question: UsageQuestion, last: Sequence[str | int]) -> str:
    """The cursor of the page that follows one whose last group is given."""
    told = {
        "from": str(question.quarters.start * _QUARTER_S),
        "to": str(question.quarters.stop * _QUARTER_S),
        "group_by": ",".join(group.value for group in question.groups),
        "tz": question.zone_name,
        "after": [*last],
    }
    return base64.urlsafe_b64encode(orjson.dumps(told)).decode().rstrip("=")


def _continued(parameters: Parameters, cursor: str) -> Parameters:
    """What the cursor says, which parameters beside it may only repeat."""
    told = _read(cursor)
    said: dict[str, Sequence[str]] = {name: [told[name]] for name in ("from", "to", "group_by", "tz")}
    for name in ("group_by", "tz"):
        if name in parameters and ",".join(parameters[name]) != said[name][0]:
            raise InvalidRequest(
                f"The cursor is of a report with another '{name}'. Leave {name!r} out, or begin anew without a cursor.",
                param=name,
            )
    return said


def _read(cursor: str) -> Mapping[str, Any]:
    try:
        told = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error):
        raise _wrong_cursor() from None
    names = ("from", "to", "group_by", "tz")
    if not (isinstance(told, dict) and all(isinstance(told.get(name), str) for name in names)):
        raise _wrong_cursor()
    return told


def _after(cursor: str, groups: Sequence[Group]) -> tuple[str | int, ...]:
    last = _read(cursor).get("after")
    kinds = [int if group in (Group.DAY, Group.HOUR) else str for group in groups]
    if not (isinstance(last, list) and [type(value) for value in last] == kinds):
        raise _wrong_cursor()
    return tuple(last)


def _wrong_cursor() -> InvalidRequest:
    return InvalidRequest("'cursor' must be the 'next_cursor' of the page before.", param="cursor")


def _groups(parameters: Parameters) -> tuple[Group, ...]:
    names = [name.strip() for value in parameters.get("group_by", ()) for name in value.split(",") if name.strip()]
    known = {group.value: group for group in Group}
    for name in names:
        if name not in known:
            raise InvalidRequest(
                f"'group_by' must be one or more of {', '.join(known)}, separated by commas, not {name!r}.",
                param="group_by",
            )
    return tuple(known[name] for name in dict.fromkeys(names)) or (Group.DAY,)


def _moment(parameters: Parameters, name: str, zone: tzinfo) -> int | None:
    """Unix seconds: given as such, as an ISO date (its beginning in the zone) or as an ISO date and time."""
    text = only_value(parameters, name)
    if text is None:
        return None
    if _SECONDS.fullmatch(text):
        seconds = float(text)
    else:
        try:
            moment = datetime.fromisoformat(text)
            seconds = (moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp()
        except (ValueError, OverflowError):
            seconds = -1
    if not 0 <= seconds < _LAST:
        raise InvalidRequest(
            f"{name!r} must be an ISO date (2026-11-30), a date and time (2026-11-30T12:00:00Z) or Unix seconds.",
            param=name,
        )
    return _whole(seconds)


def _month_before(moment_s: int, zone: tzinfo) -> int:
    """The beginning of the month that the last instant before a moment lies in."""
    last = datetime.fromtimestamp(moment_s, UTC) - timedelta(seconds=1)
    month = last.astimezone(zone).replace(day=1, hour=0, minute=0, second=0, microsecond=0, fold=0)
    return _whole(month.timestamp())


def _check_length(quarters: int, groups: Sequence[Group]) -> None:
    days = min((LONGEST_DAYS[group.value] for group in groups if group.value in LONGEST_DAYS), default=None)
    if days is not None and quarters * QUARTER_MS > days * 86_400_000:
        raise InvalidRequest(
            f"A report grouped like this covers at most {days} days. Ask for a shorter time, or group by something "
            "longer.",
            param="from",
        )


def _whole(seconds: float) -> int:
    return int(seconds // 1)
