"""The web application: routes to use cases, failures to envelopes; no logic of its own."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

import orjson
from fastapi import FastAPI, Request
from fastapi.responses import Response
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from core.administration.office import Office
from core.errors import GatewayError, InternalError, MethodNotAllowed, NotFound
from core.idempotency import HEADER
from core.ports import Clock, Journal
from core.service import Service
from core.surfaces.errors import error_answer
from core.surfaces.surface import PLAIN, SURFACES, Surface
from core.tenant import Scope
from functions.gateway.admin import add_admin
from functions.gateway.deadline import DEADLINE
from functions.gateway.decisions import add_decisions
from functions.gateway.head import answer_head
from functions.gateway.incoming import body_of, caller_of
from functions.gateway.listing import SupportedFields, add_models
from functions.gateway.reference import add_reference
from functions.gateway.respond import BrokenOff, DeliveryOptions, ExchangeResponse
from functions.gateway.usage import add_usage

# FastAPI's own spans and logs hold addresses as they were asked for, and exceptions in their own words.
_UNTOLD: Final[TelemetryConfig] = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}


def create_app(
    service: Callable[[], Service],
    journal: Journal,
    clock: Clock,
    connect: Callable[[], Awaitable[None]],
    close: Callable[[], Awaitable[None]],
    delivery: DeliveryOptions,
    office: Callable[[], Office],
    operator_sha256: str | None = None,
) -> FastAPI:
    """The application over a service.

    Args:
        service: Gives the service; called for each request, after `connect`.
        journal: For faults of our own.
        clock: For heartbeats.
        connect: Run when the application starts.
        close: Run when it stops.
        delivery: How chat completions are delivered.
        office: Gives what the operator's use cases work with.
        operator_sha256: The SHA-256 of the operator's key, in hex, or None.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await connect()
        yield
        await close()

    # FastAPI's own document and pages are off: ours describe the contract, and load nothing from elsewhere.
    app = FastAPI(lifespan=lifespan, redirect_slashes=False, openapi_url=None, telemetry=_UNTOLD)
    _add_failures(app, journal, delivery)
    # First, since routes are tried in their order.
    for surface in SURFACES:
        _add_chat(app, surface, service, journal, clock, delivery)
    _add_health(app, service)
    add_reference(app, lambda: service().parts.header_prefix)
    supported = SupportedFields(lambda: service().parts.catalog)
    for surface in SURFACES:
        add_models(app, surface, service, supported)
        add_decisions(app, surface, service)
        add_usage(app, surface, service)
    add_admin(app, office, operator_sha256)
    answer_head(app.routes)
    return app


def _add_chat(
    app: FastAPI,
    surface: Surface,
    service: Callable[[], Service],
    journal: Journal,
    clock: Clock,
    delivery: DeliveryOptions,
) -> None:
    async def chat_completions(request: Request) -> Response:
        gateway = service()
        request.state.surface = surface.name
        key = await caller_of(request, gateway, Scope.INFERENCE)
        body, ends_at = await body_of(request), request.scope.get(DEADLINE)
        named = request.headers.get(HEADER)
        request_id = request.state.request_id
        exchange = gateway.chat(surface, key, request_id, body, ends_at, idempotency_key=named)
        request.state.exchange = exchange
        return ExchangeResponse(exchange, clock, journal, delivery)

    # Starlette's own route: FastAPI's looks for parameters to check, which there are none of.
    app.add_route(f"{surface.prefix}/chat/completions", chat_completions, methods=["POST"])


def _add_health(app: FastAPI, service: Callable[[], Service]) -> None:
    async def healthz() -> Response:
        return _json({"status": "ok"})

    async def readyz() -> Response:
        await service().ready()
        return _json({"status": "ok"})

    app.add_api_route("/healthz", healthz, methods=["GET"])
    app.add_api_route("/readyz", readyz, methods=["GET"])


def _add_failures(app: FastAPI, journal: Journal, delivery: DeliveryOptions) -> None:
    def answer(request: Request, error: GatewayError, more: Mapping[str, str] | None = None) -> Response:
        request.state.error = error
        status, headers, envelope = error_answer(error, request.state.request_id, delivery.header_prefix)
        return Response(orjson.dumps(envelope), status, {**headers, **(more or {})}, "application/json")

    async def failed(request: Request, error: Exception) -> Response:
        assert isinstance(error, GatewayError)
        return answer(request, error)

    async def no_route(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException) and error.status_code == 405:
            allowed = _methods(request)
            wrong = MethodNotAllowed(f"{request.url.path} does not take {request.method}. It takes {allowed}.")
            return answer(request, wrong, {"Allow": allowed})
        path = request.url.path
        meant = _with_prefix(request)
        hint = f" Did you mean {meant}?" if meant else ""
        wrong_path = f"There is no endpoint {path}.{hint} See /docs for those there are."
        return answer(request, NotFound(wrong_path, code="endpoint_not_found"))

    async def fault(request: Request, error: Exception) -> Response:
        if isinstance(error, BrokenOff):  # its answer has begun, and what it failed of is known
            return Response()
        journal.fault(request.state.request_id, error)
        return answer(request, InternalError("The gateway failed. The fault was logged under the request id."))

    app.add_exception_handler(GatewayError, failed)
    app.add_exception_handler(HTTPException, no_route)
    app.add_exception_handler(Exception, fault)


def _methods(request: Request) -> str:
    """The methods that the path takes; the router itself names those of one route."""
    routes = (route for route in request.app.routes if isinstance(route, Route))
    taking = (route for route in routes if route.matches(request.scope)[0] is Match.PARTIAL)
    return ", ".join(sorted({method for route in taking for method in route.methods or ()}))


def _with_prefix(request: Request) -> str | None:
    """The endpoint that a client asks for whose base URL lacks `/v1`, if there is one."""
    path = PLAIN.prefix + request.url.path
    is_there = any(route.matches({**request.scope, "path": path})[0] is Match.FULL for route in request.app.routes)
    return path if is_there else None


def _json(value: object) -> Response:
    return Response(orjson.dumps(value), media_type="application/json")
