"""The endpoints of decisions: what would be decided for a request, and what was."""

from collections.abc import Callable

from fastapi import FastAPI, Request
from fastapi.responses import Response

from core.service import Service
from core.surfaces.decisions_question import parse_decisions_question
from core.surfaces.surface import Surface
from core.tenant import Scope
from functions.gateway.incoming import asked_of, body_of, json_answer, token_of


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
        return json_answer(gateway, await gateway.decisions(key, parse_decisions_question(asked_of(request))))

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
