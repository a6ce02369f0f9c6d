"""The operator's endpoints: who may call them, and how each is served; what they do is in `core/administration`."""

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request
from fastapi.responses import Response

from core.accounts.operator import check_operator
from core.administration.office import Office
from functions.gateway.admin_call import ADMIN, Call, Endpoint
from functions.gateway.admin_keys import KEY_ENDPOINTS
from functions.gateway.admin_organisations import ORGANISATION_ENDPOINTS
from functions.gateway.admin_setup import SETUP_ENDPOINTS
from functions.gateway.incoming import body_of, json_answer, token_of


def add_admin(app: FastAPI, office: Callable[[], Office], operator_sha256: str | None) -> None:
    """Add the endpoints.

    Args:
        app: The application.
        office: Gives what the use cases work with.
        operator_sha256: The SHA-256 of the operator's key, in hex; without one all endpoints answer that they are not
            there.
    """

    def served(endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        async def serve(request: Request) -> Response:
            check_operator(token_of(request), operator_sha256)
            call = Call(office(), request.path_params, await body_of(request))
            return json_answer(await endpoint(call))

        return serve

    for method, path, endpoint in (*ORGANISATION_ENDPOINTS, *KEY_ENDPOINTS, *SETUP_ENDPOINTS):
        app.add_api_route(f"{ADMIN}{path}", served(endpoint), methods=[method])
