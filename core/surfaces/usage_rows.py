"""The usage report: totals grouped as they were asked for, in an order that pages can rely on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from typing import Final

from core.chat import Json
from core.surfaces.usage_question import Group, UsageQuestion, cursor_of
from core.totals import NOTHING, QUARTER_MS, Bucket, By, Counts, Total

COLUMNS: Final = {
    "requests": "requests",
    "errors": "errors",
    "unpriced_requests": "unpriced",
    "prompt_tokens": "input_tokens",
    "cached_tokens": "cached_tokens",
    "cache_write_tokens": "cache_write_tokens",
    "prompt_audio_tokens": "input_audio_tokens",
    "prompt_image_tokens": "input_image_tokens",
    "completion_tokens": "output_tokens",
    "reasoning_tokens": "reasoning_tokens",
    "completion_audio_tokens": "output_audio_tokens",
    "cost_micros": "cost_micros",
}
"""What a row counts: the member's name, and that of the count behind it."""

_BY: Final = {Group.MODEL: By.MODEL, Group.KEY: By.KEY, Group.TASK: By.TASK, Group.DAY: By.TIME, Group.HOUR: By.TIME}
_QUARTER_S: Final = QUARTER_MS // 1_000

GroupKey = tuple[str | int, ...]
"""What a group is sorted by: names as they are, days by their number in the calendar, hours by the Unix second that
they begin with."""


@dataclass(frozen=True, slots=True)
class Report:
    """A page: its rows in order, and the cursor of the next one, None on the last page."""

    rows: Sequence[Mapping[str, Json]]
    next_cursor: str | None


def needed(groups: Iterable[Group]) -> frozenset[By]:
    """What totals must be told apart by, to be grouped like this."""
    return frozenset(_BY[group] for group in groups)


def report(question: UsageQuestion, totals: Iterable[Total]) -> Report:
    """The page that was asked for."""
    sums: dict[GroupKey, Counts] = {}
    for total in totals:
        key = tuple(_value(group, total.bucket, question.zone) for group in question.groups)
        sums[key] = sums.get(key, NOTHING) + total.counts
    keys = sorted(key for key in sums if question.after is None or key > question.after)
    shown = keys[: question.limit]
    rows = [_row(question, key, sums[key]) for key in shown]
    return Report(rows, cursor_of(question, shown[-1]) if len(keys) > len(shown) else None)


def usage_list(question: UsageQuestion, page: Report, complete_until_ms: int | None) -> dict[str, Json]:
    """A page as it is answered.

    Args:
        question: What was asked.
        page: What was found.
        complete_until_ms: Unix milliseconds before which every request is counted, or None.
    """
    return {
        "object": "list",
        "from": question.quarters.start * _QUARTER_S,
        "to": question.quarters.stop * _QUARTER_S,
        "group_by": [group.value for group in question.groups],
        "tz": question.zone_name,
        "data": page.rows,
        "complete_until": None if complete_until_ms is None else complete_until_ms // 1_000,
        "has_more": page.next_cursor is not None,
        "next_cursor": page.next_cursor,
    }


def _value(group: Group, bucket: Bucket, zone: tzinfo) -> str | int:
    if group is Group.MODEL:
        return bucket.model
    if group is Group.KEY:
        return bucket.key_id
    if group is Group.TASK:
        return bucket.task
    local = datetime.fromtimestamp(bucket.quarter * _QUARTER_S, zone)
    if group is Group.DAY:
        return local.toordinal()
    return int(local.replace(minute=0).timestamp())


def _row(question: UsageQuestion, key: GroupKey, counts: Counts) -> dict[str, Json]:
    named = {
        group.value: _shown(group, value, question.zone) for group, value in zip(question.groups, key, strict=True)
    }
    return {**named, **{name: getattr(counts, count) for name, count in COLUMNS.items()}}


def _shown(group: Group, value: str | int, zone: tzinfo) -> str | None:
    if isinstance(value, str):
        return value or None
    if group is Group.DAY:
        return date.fromordinal(value).isoformat()
    return datetime.fromtimestamp(value, UTC).astimezone(zone).isoformat(timespec="minutes")
