"""Usage and credits, as operations, schemas and examples; those are made by the code that makes the real ones."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final

from core.surfaces.credits import credits_object
from core.surfaces.surface import Surface
from core.surfaces.usage_question import LARGEST_LIMIT, LONGEST_DAYS, USUAL_LIMIT, Group, UsageQuestion, cursor_of
from core.surfaces.usage_rows import report, usage_list
from core.tenant import PREPAID_PLAN, Limits, Organisation
from core.totals import QUARTER_MS, Bucket, Counts, Total
from core.workspace import Workspace
from functions.gateway.openapi.shapes import Schema, array, flag, nullable, record, ref, text, whole, words
from functions.gateway.usage import csv_table

USAGE: Final = "Reports"
USAGE_TAG: Final = (USAGE, "What was used and charged, and what is left.")

_FIRST: Final = datetime(2026, 11, 1, tzinfo=UTC)
_QUARTER: Final = int(_FIRST.timestamp()) * 1000 // QUARTER_MS
_QUESTION: Final = UsageQuestion(range(_QUARTER, _QUARTER + 30 * 96), (Group.DAY, Group.MODEL), UTC, "UTC")
_COMPLETE_MS: Final = (_QUARTER + 8) * QUARTER_MS
_COUNTS: Final = {
    "requests": "All requests, those that failed among them.",
    "errors": "Requests that failed, broke off or were lost.",
    "unpriced_requests": "Requests of unknown price; their charge is in no sum.",
    "prompt_tokens": "All input that was charged.",
    "cached_tokens": "Of it, read from a cache.",
    "cache_write_tokens": "Of it, written to one.",
    "prompt_audio_tokens": "Of it, audio.",
    "prompt_image_tokens": "Of it, images.",
    "completion_tokens": "All output that was charged.",
    "reasoning_tokens": "Of it, thinking.",
    "completion_audio_tokens": "Of it, audio.",
    "cost_micros": "What was charged, in micro-dollars.",
}
_LIMITS: Final = {
    "day_micros": "Micro-dollars in a day of UTC.",
    "month_micros": "Micro-dollars in a month of UTC.",
    "day_requests": "Requests in a day.",
    "month_requests": "Requests in a month.",
    "minute_requests": "Requests in a minute.",
    "minute_tokens": "Tokens in a minute, input and output together.",
    "parallel": "Requests at the same time.",
}
_COMPLETE: Final = nullable(
    whole(
        "Unix seconds. Of requests that came in before, the costs in the answers add up to exactly what is shown here, "
        "but for requests that were answered while the store was away: their records wait in the gateway's log, and "
        "are in no sum until the operator replays them. Null while that is not known.",
        low=0,
    )
)
_TIME: Final = (
    "An ISO date (its beginning, in `tz`), a date and time, or Unix seconds. Times within a quarter of an hour stand "
    "for all of it."
)


def usage_operation(
    surface: Surface, prefix: str, headers: Mapping[str, Any], security: Sequence[Any], failed: Mapping[str, Any]
) -> dict[str, Any]:
    """`GET /usage`.

    Args:
        surface: Where it stands.
        prefix: What our own response headers begin with.
        headers: Those of every answer.
        security: What it needs.
        failed: Its failures.
    """
    groups = ", ".join(f"`{group.value}`" for group in Group)
    asked = {
        "from": (text(f"The first moment: {_TIME} Default: the beginning of the month."), "2026-11-01"),
        "to": (text("The first moment that is not meant any more, in the same forms. Default: now."), "2026-12-01"),
        "group_by": (
            text(
                f"One or more of {groups}, separated by commas. Default: `day`. By `hour` a report covers at most "
                f"{LONGEST_DAYS['hour']} days, by `day` {LONGEST_DAYS['day']}."
            ),
            "day,model",
        ),
        "tz": (text("The IANA name of the time zone whose days and hours are meant. Default: `UTC`."), "Europe/Berlin"),
        "limit": (whole(f"How many rows. Default: {USUAL_LIMIT}.", low=1, high=LARGEST_LIMIT), 50),
        "cursor": (text("The `next_cursor` of the page before; it stands for `from` and `to`."), example_cursor()),
    }
    table = (
        "The same rows as a table, for `Accept: text/csv`; the first line names the columns. It ends after `limit` "
        f"rows, as JSON does: the header `{prefix}Next-Cursor` has the cursor of the next page where there is one."
    )
    return {
        "operationId": f"{surface.name}GetUsage",
        "tags": [USAGE],
        "summary": "What was used",
        "description": "Of the key's organisation, on both surfaces together. Rows are in the order of what they are "
        "grouped by.",
        "security": [*security],
        "parameters": [
            {"name": name, "in": "query", "schema": shape, "example": example}
            for name, (shape, example) in asked.items()
        ],
        "responses": {
            "200": {
                "description": "A page of the report.",
                "headers": {
                    **headers,
                    f"{prefix}Next-Cursor": {
                        "schema": text("With a table: the cursor of the next page; without it this was the last.")
                    },
                    f"{prefix}Complete-Until": {"schema": whole("With a table: what `complete_until` says.", low=0)},
                },
                "content": {
                    "application/json": {"schema": ref("UsageReport"), "example": example_usage()},
                    "text/csv": {"schema": text(table), "example": csv_table(example_usage())},
                },
            },
            **failed,
        },
    }


def credits_operation(
    surface: Surface, headers: Mapping[str, Any], security: Sequence[Any], failed: Mapping[str, Any]
) -> dict[str, Any]:
    """`GET /credits`; see `usage_operation`."""
    return {
        "operationId": f"{surface.name}GetCredits",
        "tags": [USAGE],
        "summary": "What is left",
        "description": "Of the key's organisation. Months are those of UTC.",
        "security": [*security],
        "responses": {
            "200": {
                "description": "Credits, plan and limits.",
                "headers": {**headers},
                "content": {"application/json": {"schema": ref("Credits"), "example": example_credits()}},
            },
            **failed,
        },
    }


def usage_schemas() -> dict[str, Schema]:
    """The components that describe usage and credits."""
    groups = {
        "model": nullable(text("The catalog id of the model that served, else of the one that was ranked first.")),
        "key": text("The id of the key."),
        "day": text("A date.", pattern=r"^\d{4}-\d\d-\d\d$"),
        "hour": text("When an hour begins, with its distance from UTC.", pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d[+-]"),
        "task": nullable(text("What was asked for; null when that did not matter.")),
    }
    # What a late correction takes back may be counted elsewhere than what it puts in its place.
    counts = {name: whole(about) for name, about in _COUNTS.items()}
    page = {
        "object": words("list"),
        "from": whole("Unix seconds.", low=0),
        "to": whole("Unix seconds.", low=0),
        "group_by": array(words(*(group.value for group in Group)), least=1),
        "tz": text("The IANA name of the time zone."),
        "data": array(ref("UsageRow"), "In the order of what they are grouped by."),
        "complete_until": _COMPLETE,
        "has_more": flag("Whether there is another page."),
        "next_cursor": nullable(text("What to send as `cursor` for it.")),
    }
    bounds = {name: nullable(whole(about, low=0)) for name, about in _LIMITS.items()}
    plan = {
        "id": text(),
        "name": text(),
        "free": flag("Whether nothing is charged."),
        "prepaid": flag("Whether requests are refused once the credits are spent."),
        "max_input_tokens": nullable(whole("The most that one request may send.", low=0)),
        "max_output_tokens": nullable(whole("The longest answer that it may ask for.", low=0)),
        "limits": ref("Limits"),
    }
    left = {
        "object": words("credits"),
        "balance_micros": nullable(
            whole(
                "What can still be spent of what was paid in, in micro-dollars; what running requests may use is taken "
                "off. Null unless the plan is prepaid."
            )
        ),
        "month": text("The month of `spent_micros`.", pattern=r"^\d{4}-\d\d$"),
        "spent_micros": whole("What was charged in this month, in micro-dollars."),
        "complete_until": _COMPLETE,
        "plan": record(plan, list(plan), "What the organisation has agreed on."),
        "limits": ref("Limits", "Its own, beside those of the plan."),
    }
    return {
        "UsageReport": record(page, list(page), "A page of a usage report."),
        "UsageRow": record({**groups, **counts}, list(counts), "What one group of requests used."),
        "Credits": record(left, list(left), "What an organisation has left."),
        "Limits": record(bounds, list(bounds), "Bounds; null is none."),
    }


def example_cursor() -> str:
    """The cursor of a second page."""
    return cursor_of(_QUESTION, (date(2026, 11, 1).toordinal(), "google/gemma-4-31b-it"))


def example_usage() -> dict[str, Any]:
    """A page of a report."""
    counts = Counts(requests=2, input_tokens=48, cached_tokens=16, output_tokens=44, cost_micros=22)
    total = Total(Bucket(_QUARTER + 4, model="google/gemma-4-31b-it"), counts)
    return usage_list(_QUESTION, report(_QUESTION, [total]), _COMPLETE_MS)


def example_credits() -> dict[str, Any]:
    """What an organisation with credits is told."""
    organisation = Organisation("acme", "Acme", 0, plan=PREPAID_PLAN.id, limits=Limits(day_micros=5_000_000))
    return credits_object(
        Workspace(organisation, PREPAID_PLAN),
        month="2026-11",
        spent_micros=1_250_000,
        balance_micros=18_750_000,
        complete_until_ms=_COMPLETE_MS,
    )
