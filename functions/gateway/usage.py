"""The endpoints of usage and credits, as JSON and as a table for spreadsheets."""

import csv
import io
import re
from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo

from fastapi import FastAPI, Request
from fastapi.responses import Response

from core.service import Service
from core.surfaces.surface import Surface
from core.surfaces.usage_question import parse_usage_question
from core.surfaces.usage_rows import COLUMNS
from core.tenant import Scope
from functions.gateway.incoming import asked_of, caller_of, json_answer

JSON_TYPE = "application/json"
CSV_TYPE = "text/csv"

_WEIGHT: Final = re.compile(r"q=([0-9]{0,3}\.?[0-9]{1,9})\.?")


def add_usage(app: FastAPI, surface: Surface, service: Callable[[], Service]) -> None:
    """Add the endpoints of one surface."""

    async def usage(request: Request) -> Response:
        gateway = service()
        key = await caller_of(request, gateway, Scope.USAGE)
        question = parse_usage_question(asked_of(request), gateway.parts.clock.now(), zone_of)
        page = await gateway.usage(key, question)
        if _wants_table(request.headers.get("accept", "")):
            return _table(gateway.parts.header_prefix, page)
        return json_answer(page)

    async def credits(request: Request) -> Response:
        gateway = service()
        key = await caller_of(request, gateway, Scope.USAGE)
        return json_answer(await gateway.credits(key))

    app.add_api_route(f"{surface.prefix}/usage", usage, methods=["GET"])
    app.add_api_route(f"{surface.prefix}/credits", credits, methods=["GET"])


def zone_of(name: str) -> tzinfo | None:
    """The time zone of an IANA name, or None where there is none."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # names that are no file's, or a folder's
        return None


def csv_table(page: Mapping[str, Any]) -> str:
    """A page of the report as comma-separated values, with the names of its columns first."""
    written = io.StringIO()
    columns = [*page["group_by"], *COLUMNS]
    table = csv.DictWriter(written, columns)
    table.writeheader()
    table.writerows(page["data"])
    return written.getvalue()


def _wants_table(accept: str) -> bool:
    """Whether CSV is wanted by name, and JSON less than it or, with the same weight, after it (RFC 9110, 12.5.1)."""
    weights: dict[str, float] = {}
    for kind in accept.lower().split(","):
        name, *parameters = (part.strip() for part in kind.split(";"))
        weights.setdefault(name, min(map(_weight, parameters), default=1.0))
    table = weights.get(CSV_TYPE, 0.0)
    # What has no name of its own has the weight of its range.
    ranges = ("application/*", "*/*")
    plain = weights.get(JSON_TYPE, next((weights[name] for name in ranges if name in weights), 0.0))
    if table != plain:
        return table > plain
    return table > 0 and [*weights].index(CSV_TYPE) < [*weights, JSON_TYPE].index(JSON_TYPE)


def _weight(parameter: str) -> float:
    """The weight that a parameter of a media range says; 1 where it says none that can be read."""
    found = _WEIGHT.fullmatch(parameter)
    return 1.0 if found is None else min(1.0, float(found[1]))


def _table(prefix: str, page: Mapping[str, Any]) -> Response:
    """What a table has no room for is in headers."""
    headers: dict[str, str] = {}
    for name, member in (("Next-Cursor", "next_cursor"), ("Complete-Until", "complete_until")):
        if page[member] is not None:
            headers[f"{prefix}{name}"] = str(page[member])
    return Response(csv_table(page), headers=headers, media_type=CSV_TYPE)
