"""The endpoints of usage and credits, as JSON and as a table for spreadsheets."""

import csv
import io
from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from fastapi import FastAPI, Request
from fastapi.responses import Response

from core.service import Service
from core.surfaces.headers import answer_headers
from core.surfaces.surface import Surface
from core.surfaces.usage_question import parse_usage_question
from core.surfaces.usage_rows import COLUMNS
from core.tenant import Scope
from functions.gateway.incoming import json_answer, token_of

JSON_TYPE = "application/json"
CSV_TYPE = "text/csv"


def add_usage(app: FastAPI, surface: Surface, service: Callable[[], Service]) -> None:
    """Add the endpoints of one surface."""

    async def usage(request: Request) -> Response:
        gateway = service()
        key = await gateway.authenticate(token_of(request), Scope.USAGE)
        asked = request.query_params
        parameters = {name: asked.getlist(name) for name in asked}
        question = parse_usage_question(parameters, gateway.parts.clock.now(), zone_of)
        page = await gateway.usage(key, question)
        if _wants_table(request.headers.get("accept", "")):
            return _table(gateway, page)
        return json_answer(gateway, page)

    async def credits(request: Request) -> Response:
        gateway = service()
        key = await gateway.authenticate(token_of(request), Scope.USAGE)
        return json_answer(gateway, await gateway.credits(key))

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
    """Whether CSV is named before JSON, or alone."""
    kinds = [kind.partition(";")[0].strip().lower() for kind in accept.split(",")]
    return next((kind for kind in kinds if kind in (JSON_TYPE, CSV_TYPE)), JSON_TYPE) == CSV_TYPE


def _table(gateway: Service, page: Mapping[str, Any]) -> Response:
    """What a table has no room for is in headers."""
    prefix = gateway.parts.header_prefix
    headers = answer_headers(prefix, gateway.parts.new_request_id())
    for name, member in (("Next-Cursor", "next_cursor"), ("Complete-Until", "complete_until")):
        if page[member] is not None:
            headers[f"{prefix}{name}"] = str(page[member])
    return Response(csv_table(page), headers=headers, media_type=CSV_TYPE)
