"""The web application: routes to use cases, failures to envelopes; no logic of its own."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

import orjson
from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from core.errors import GatewayError, InternalError, MethodNotAllowed, NotFound
from core.ports import Clock, Journal
from core.service import Service
from core.surfaces.errors import error_answer
from core.surfaces.models import Supported, model_list, model_object
from core.surfaces.surface import SURFACES, Surface
from core.tenant import Key
from functions.gateway.decisions import add_decisions
from functions.gateway.incoming import body_of, json_answer, token_of
from functions.gateway.listing import SupportedFields
from functions.gateway.reference import add_reference
from functions.gateway.respond import DeliveryOptions, ExchangeResponse

DEADLINE = "headrace.deadline"


def create_app(
    service: Callable[[], Service],
    journal: Journal,
    clock: Clock,
    connect: Callable[[], Awaitable[None]],
    close: Callable[[], Awaitable[None]],
    delivery: DeliveryOptions,
) -> FastAPI:
    """The application over a service.

    Args:
        service: Gives the service; called for each request, after `connect`.
        journal: For faults of our own.
        clock: For heartbeats.
        connect: Run when the application starts.
        close: Run when it stops.
        delivery: How chat completions are delivered.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await connect()
        yield
        await close()

    # FastAPI's own document and pages are off: ours describe the contract, and load nothing from elsewhere.
    app = FastAPI(lifespan=lifespan, redirect_slashes=False, openapi_url=None)
    _add_failures(app, service, journal)
    _add_health(app, service)
    add_reference(app, lambda: service().parts.header_prefix)
    supported = SupportedFields(service)
    for surface in SURFACES:
        _add_surface(app, surface, service, journal, clock, supported, delivery)
        add_decisions(app, surface, service)
    return app


def _add_surface(
    app: FastAPI,
    surface: Surface,
    service: Callable[[], Service],
    journal: Journal,
    clock: Clock,
    supported: Supported,
    delivery: DeliveryOptions,
) -> None:
    async def chat_completions(request: Request) -> Response:
        gateway = service()
        request.state.request_id = request_id = gateway.parts.new_request_id()
        key = await gateway.authenticate(token_of(request))
        exchange = gateway.chat(surface, key, request_id, await body_of(request), request.scope.get(DEADLINE))
        return ExchangeResponse(exchange, clock, journal, delivery)

    async def models(request: Request) -> Response:
        gateway = service()
        key = await _maybe_key(gateway, request)
        return json_answer(gateway, model_list(gateway.models(key), supported))

    async def model(request: Request, model_id: str) -> Response:
        gateway = service()
        key = await _maybe_key(gateway, request)
        return json_answer(gateway, model_object(gateway.model(key, model_id), supported))

    app.add_api_route(f"{surface.prefix}/chat/completions", chat_completions, methods=["POST"])
    app.add_api_route(f"{surface.prefix}/models", models, methods=["GET"])
    app.add_api_route(f"{surface.prefix}/models/{{model_id:path}}", model, methods=["GET"])


async def _maybe_key(gateway: Service, request: Request) -> Key | None:
    token = token_of(request)
    return await gateway.authenticate(token) if token else None


def _add_health(app: FastAPI, service: Callable[[], Service]) -> None:
    async def healthz() -> Response:
        return _json({"status": "ok"})

    async def readyz() -> Response:
        await service().ready()
        return _json({"status": "ok"})

    app.add_api_route("/healthz", healthz, methods=["GET"])
    app.add_api_route("/readyz", readyz, methods=["GET"])


def _add_failures(app: FastAPI, service: Callable[[], Service], journal: Journal) -> None:
    def answer(request: Request, error: GatewayError, more: Mapping[str, str] | None = None) -> Response:
        parts = service().parts
        request_id = getattr(request.state, "request_id", None) or parts.new_request_id()
        status, headers, envelope = error_answer(error, request_id, parts.header_prefix)
        return Response(orjson.dumps(envelope), status, {**headers, **(more or {})}, "application/json")

    async def failed(request: Request, error: Exception) -> Response:
        assert isinstance(error, GatewayError)
        return answer(request, error)

    async def no_route(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException) and error.status_code == 405:
            allowed = _methods(request)
            wrong = MethodNotAllowed(f"{request.url.path} does not take {request.method}. It takes {allowed}.")
            return answer(request, wrong, {"Allow": allowed})
        return answer(
            request,
            NotFound(
                f"There is no endpoint {request.url.path}. See /docs for those there are.", code="endpoint_not_found"
            ),
        )

    async def fault(request: Request, error: Exception) -> Response:
        request_id = service().parts.new_request_id()
        request.state.request_id = request_id
        journal.fault(request_id, error)
        return answer(request, InternalError("The gateway failed. The fault was logged under the request id."))

    app.add_exception_handler(GatewayError, failed)
    app.add_exception_handler(HTTPException, no_route)
    app.add_exception_handler(Exception, fault)


def _methods(request: Request) -> str:
    """The methods that the path takes; the router itself names those of one route."""
    routes = (route for route in request.app.routes if isinstance(route, Route))
    taking = (route for route in routes if route.matches(request.scope)[0] is Match.PARTIAL)
    return ", ".join(sorted({method for route in taking for method in route.methods or ()}))


def _json(value: object) -> Response:
    return Response(orjson.dumps(value), media_type="application/json")
