"""`headrace usage`: what an organisation used, as a table with bars."""

import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import orjson
import typer
from rich.bar import Bar
from rich.console import Console
from rich.text import Text

from core.administration.office import Office
from core.errors import InvalidRequest
from core.surfaces.query import Parameters
from core.surfaces.usage_question import LARGEST_LIMIT, parse_usage_question
from core.usage import usage_report
from functions.gateway.usage import csv_table, zone_of
from functions.local.office import DEFAULT_ORG, Org, in_office
from functions.local.output import Refusal, plain_table, print_table

BAR_WIDTH: Final = 24
COLUMNS: Final = {
    "requests": "requests",
    "errors": "errors",
    "prompt_tokens": "tokens in",
    "completion_tokens": "tokens out",
}


def usage(
    org: Org = DEFAULT_ORG,
    group_by: Annotated[
        str, typer.Option("--group-by", help="One or more of model, key, day, hour, task, separated by commas.")
    ] = "day",
    from_: Annotated[
        str | None,
        typer.Option("--from", help="An ISO date or time, or Unix seconds; the month's beginning if left out."),
    ] = None,
    to: Annotated[str | None, typer.Option("--to", help="The same; now if left out. It is not part of it.")] = None,
    tz: Annotated[str, typer.Option("--tz", help="The time zone whose days and hours are meant.")] = "UTC",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
) -> None:
    """Show what an organisation used and was charged."""
    if as_json and as_csv:
        raise Refusal("Give --json or --csv, not both.")
    asked = {"group_by": group_by, "from": from_, "to": to, "tz": tz, "limit": str(LARGEST_LIMIT)}
    parameters = {name: [value] for name, value in asked.items() if value is not None}
    found = in_office(lambda office: _whole(office, org, parameters))
    if as_json:
        print(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
    elif as_csv:
        print(csv_table(found), end="")
    else:
        _print(found)


async def _whole(office: Office, org: str, parameters: Parameters) -> dict[str, Any]:
    """All pages as one."""
    store = office.store
    now_ns = time.time_ns()
    try:
        question = parse_usage_question(parameters, now_ns / 1e9, zone_of)
        page = dict(await usage_report(store, org, question, now_ns // 1_000_000))
        rows = [*page["data"]]
        while page["next_cursor"] is not None:
            more: Parameters = {"cursor": [page["next_cursor"]], "limit": [str(LARGEST_LIMIT)]}
            question = parse_usage_question(more, now_ns / 1e9, zone_of)
            page = dict(await usage_report(store, org, question, now_ns // 1_000_000))
            rows += page["data"]
    except InvalidRequest as wrong:
        raise Refusal(f"{wrong.message} (--{str(wrong.param).replace('_', '-')})") from None
    if not rows:
        await office.organisation(org)
    return {**page, "data": rows}


def _print(found: Mapping[str, Any]) -> None:
    console = Console()
    rows: Sequence[Mapping[str, Any]] = found["data"]
    if not rows:
        console.print("Nothing was used in that time.")
        return
    table = plain_table()
    for name in found["group_by"]:
        table.add_column(name)
    for header in (*COLUMNS.values(), "cost"):
        table.add_column(header, justify="right")
    table.add_column("", min_width=BAR_WIDTH)
    most = max(1, *(row["cost_micros"] for row in rows))
    for row in rows:
        named = [Text(row[name] or "-") for name in found["group_by"]]
        counts = [f"{row[name]:,}" for name in COLUMNS]
        bar = Bar(most, 0, max(0, row["cost_micros"]), width=BAR_WIDTH, color="cyan")
        table.add_row(*named, *counts, _dollars(row), bar)
    table.add_section()
    total = {name: sum(row[name] for row in rows) for name in (*COLUMNS, "cost_micros", "unpriced_requests")}
    heads = ["total", *[""] * (len(found["group_by"]) - 1)]
    table.add_row(*heads, *[f"{total[name]:,}" for name in COLUMNS], _dollars(total), "", style="bold")
    print_table(table, spare=1)  # the bar
    if total["unpriced_requests"]:
        console.print("* some requests had no known price, and are in no sum", markup=False)


def _dollars(row: Mapping[str, Any]) -> str:
    return f"${row['cost_micros'] / 1_000_000:,.6f}{'*' if row['unpriced_requests'] else ''}"
