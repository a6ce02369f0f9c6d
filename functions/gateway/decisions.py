"""The endpoints of decisions: what would be decided for a request, and what was."""

from collections.abc import Callable

from fastapi import FastAPI, Request
from fastapi.responses import Response

from core.service import Service
from core.surfaces.decisions_question import parse_decisions_question
from core.surfaces.surface import Surface
from core.tenant import Scope
from functions.gateway.incoming import asked_of, body_of, caller_of, json_answer


def add_decisions(app: FastAPI, surface: Surface, service: Callable[[], Service]) -> None:
    """Add the endpoints of one surface."""

    async def route(request: Request) -> Response:
        gateway = service()
        key = await caller_of(request, gateway, Scope.INFERENCE)
        asked = request.state.request_id, await body_of(request)
        return json_answer(await gateway.route(surface, key, *asked))

    async def decisions(request: Request) -> Response:
        gateway = service()
        key = await caller_of(request, gateway, Scope.DECISIONS)
        return json_answer(await gateway.decisions(key, parse_decisions_question(asked_of(request))))

    async def decision(request: Request) -> Response:
        gateway = service()
        key = await caller_of(request, gateway, Scope.DECISIONS)
        return json_answer(await gateway.decision(key, request.path_params["response_id"]))

    async def feedback(request: Request) -> Response:
        gateway = service()
        key = await caller_of(request, gateway, Scope.DECISIONS)
        return json_answer(await gateway.feedback(key, request.path_params["response_id"], await body_of(request)))

    app.add_api_route(f"{surface.prefix}/route", route, methods=["POST"])
    app.add_api_route(f"{surface.prefix}/routing-decisions", decisions, methods=["GET"])
    app.add_api_route(f"{surface.prefix}/routing-decisions/{{response_id}}", decision, methods=["GET"])
    app.add_api_route(f"{surface.prefix}/routing-decisions/{{response_id}}/feedback", feedback, methods=["POST"])
