"""Lambda events to ASGI scopes, by Mangum's handlers; never runs anything."""

from dataclasses import dataclass
from typing import Any

import orjson
from mangum.handlers import APIGateway, HTTPGateway
from mangum.types import LambdaConfig, LambdaContext, LambdaHandler, Scope

from functions.gateway.deadline import DEADLINE
from functions.gateway.streaming.invocation import Invocation
from functions.gateway.streaming.prelude import Payload

# ALB and Lambda@Edge, which Mangum knows too, cannot take a response stream.
_STREAMABLE: tuple[type[LambdaHandler], ...] = (HTTPGateway, APIGateway)
_CONFIG = LambdaConfig(api_gateway_base_path="/", text_mime_types=[], exclude_headers=[])

# From this version on an app is told of a broken connection by `send`, and need not watch `receive` for it.
_SPEC_VERSION = "2.4"


class UnsupportedEvent(ValueError):
    """An event that is no HTTP request of a REST API, an HTTP API or a function URL."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """An event as ASGI sees it.

    Args:
        scope: The connection scope, with the deadline under `DEADLINE`.
        body: The whole request body, decoded.
        payload: The format in which the response goes back.
    """

    scope: Scope
    body: bytes
    payload: Payload


def http_request(invocation: Invocation, context: LambdaContext, state: dict[str, Any]) -> HttpRequest:
    """Read an event.

    Args:
        invocation: The invocation that it came with.
        context: What `scope["aws.context"]` is to be.
        state: What the app's lifespan left for its requests; a shallow copy goes into the scope.

    Raises:
        UnsupportedEvent: It is no HTTP request, or a broken one. The message quotes nothing of it.
    """
    event = _event(invocation.event)
    for handler in _STREAMABLE:
        if handler.infer(event, context, _CONFIG):
            return _request(handler(event, context, _CONFIG), event, invocation.deadline, state)
    raise UnsupportedEvent(
        "only HTTP events of REST APIs, HTTP APIs and function URLs can be answered by this function"
    )


def _event(data: bytes) -> dict[str, Any]:
    try:
        event = orjson.loads(data)
    except ValueError:
        raise UnsupportedEvent("the event is no JSON") from None
    if not isinstance(event, dict):
        raise UnsupportedEvent("the event is no JSON object")
    return event


def _request(handler: LambdaHandler, event: dict[str, Any], deadline: float, state: dict[str, Any]) -> HttpRequest:
    try:
        scope, body = handler.scope, handler.body
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UnsupportedEvent(f"the HTTP event is malformed ({type(error).__name__})") from None
    # Nobody reads it there, and a request of several megabytes would be held twice as long as a stream lasts.
    event.pop("body", None)
    if scope["client"][0] is None:
        scope["client"] = None
    scope["asgi"] = {"version": "3.0", "spec_version": _SPEC_VERSION}
    scope["state"] = state.copy()
    scope[DEADLINE] = deadline
    payload = Payload.V2 if event.get("version") == Payload.V2.value else Payload.V1
    return HttpRequest(scope, body, payload)
