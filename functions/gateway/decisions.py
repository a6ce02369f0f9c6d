"""The endpoints of decisions: what would be decided for a request, and what was."""

from collections.abc import Callable

from fastapi import FastAPI, Request
from fastapi.responses import Response

from core.errors import InvalidRequest
from core.service import Service
from core.surfaces.surface import Surface
from core.tenant import Scope
from functions.gateway.incoming import body_of, json_answer, token_of

USUAL_LIST = 20
LONGEST_LIST = 100


def add_decisions(app: FastAPI, surface: Surface, service: Callable[[], Service]) -> None:
    """Add the endpoints of one surface."""

    async def route(request: Request) -> Response:
        gateway = service()
        request.state.request_id = request_id = gateway.parts.new_request_id()
        key = await gateway.authenticate(token_of(request), Scope.INFERENCE)
        return json_answer(gateway, await gateway.route(surface, key, request_id, await body_of(request)), request_id)

    async def decisions(request: Request) -> Response:
        gateway = service()
        key = await gateway.authenticate(token_of(request), Scope.DECISIONS)
        return json_answer(gateway, await gateway.decisions(key, _limit(request)))

    async def decision(request: Request, response_id: str) -> Response:
        gateway = service()
        key = await gateway.authenticate(token_of(request), Scope.DECISIONS)
        return json_answer(gateway, await gateway.decision(key, response_id))

    async def feedback(request: Request, response_id: str) -> Response:
        gateway = service()
        key = await gateway.authenticate(token_of(request), Scope.DECISIONS)
        return json_answer(gateway, await gateway.feedback(key, response_id, await body_of(request)))

    app.add_api_route(f"{surface.prefix}/route", route, methods=["POST"])
    app.add_api_route(f"{surface.prefix}/routing-decisions", decisions, methods=["GET"])
    app.add_api_route(f"{surface.prefix}/routing-decisions/{{response_id}}", decision, methods=["GET"])
    app.add_api_route(f"{surface.prefix}/routing-decisions/{{response_id}}/feedback", feedback, methods=["POST"])


def _limit(request: Request) -> int:
    asked = request.query_params.get("limit")
    if asked is None:
        return USUAL_LIST
    # Python refuses to read thousands of digits.
    if not (asked.isascii() and asked.isdigit() and len(asked) < 9 and 1 <= int(asked) <= LONGEST_LIST):
        raise InvalidRequest(f"'limit' must be a whole number from 1 to {LONGEST_LIST}.", param="limit")
    return int(asked)
