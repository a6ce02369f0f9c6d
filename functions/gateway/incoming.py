"""What every endpoint reads of a request, and how it answers with JSON; it knows no endpoint."""

import orjson
from fastapi import Request
from fastapi.responses import Response
from starlette.requests import ClientDisconnect

from core.errors import InvalidRequest, RequestTooLarge
from core.service import Service
from core.surfaces.query import Parameters
from core.tenant import Key, Scope

LARGEST_BODY = 6 * 1024 * 1024


def token_of(request: Request) -> str | None:
    """The caller's key, from either header."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return request.headers.get("x-api-key")


def asked_of(request: Request) -> Parameters:
    """The query string: the values of each name, in order."""
    asked = request.query_params
    return {name: asked.getlist(name) for name in asked}


async def body_of(request: Request) -> bytes:
    """The body, refused as soon as it is known to be too large.

    Raises:
        RequestTooLarge: It is.
        InvalidRequest: It is compressed, or broke off.
    """
    encoding = request.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity"):
        raise InvalidRequest(f"Bodies compressed with {encoding[:20]} are not taken. Send the JSON as it is.")
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > LARGEST_BODY:
        raise _too_large()
    parts: list[bytes] = []
    size = 0
    try:
        async for part in request.stream():
            parts.append(part)
            size += len(part)
            if size > LARGEST_BODY:
                raise _too_large()
    except ClientDisconnect:
        # Nobody hears of it any more but our own log: it is the caller's doing.
        raise InvalidRequest("The body broke off before its end. Send it whole.", code="invalid_json") from None
    return b"".join(parts)


def _too_large() -> RequestTooLarge:
    return RequestTooLarge(
        f"The body is larger than {LARGEST_BODY // 1024 // 1024} MB. Send images and files by URL, or fewer of them."
    )


async def caller_of(request: Request, gateway: Service, scope: Scope | None = None) -> Key:
    """The key that a request was sent with.

    Raises:
        PermissionDenied: It does not have the scope.
        AuthenticationFailed: There is none, or none that is known and live.
        StoreUnavailable: It cannot be looked up.
    """
    key = await gateway.authenticate(token_of(request), scope)
    request.state.org = key.org
    return key


def json_answer(value: object) -> Response:
    """A value as a JSON answer."""
    return Response(orjson.dumps(value), media_type="application/json")
