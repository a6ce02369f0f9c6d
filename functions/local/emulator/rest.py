"""An HTTP request as the event that a REST API's proxy integration makes of it (payload format 1.0).

API Gateway developer guide, "Input format of a Lambda function for proxy integration" (read 2026-11-30).
"""

import base64
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

ACCOUNT = "123456789012"
API = "localemulator"


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """What a caller sent.

    Args:
        method: In capitals.
        path: Without the stage, percent signs as they came.
        query: Without its question mark.
        headers: Names and values in order, as they came.
        body: All of it.
        caller: The caller's address.
        secure: Whether it came over TLS.
    """

    method: str
    path: str
    query: str
    headers: Iterable[tuple[str, str]]
    body: bytes
    caller: str
    secure: bool = False


def rest_event(request: HttpRequest, stage: str, request_id: str, now: float) -> dict[str, Any]:
    """The event.

    Args:
        request: What was asked.
        stage: The stage that it was asked of.
        request_id: API Gateway's own id of it.
        now: Unix seconds.
    """
    headers = _values([*request.headers, *_forwarded(request)])
    query = _values(parse_qsl(request.query, keep_blank_values=True))
    body, is_base64 = _text(request.body)
    return {
        "resource": "/{proxy+}",
        "path": request.path,
        "httpMethod": request.method,
        "headers": {name: values[-1] for name, values in headers.items()},
        "multiValueHeaders": headers,
        "queryStringParameters": {name: values[-1] for name, values in query.items()} or None,
        "multiValueQueryStringParameters": query or None,
        "pathParameters": {"proxy": request.path.removeprefix("/")},
        "stageVariables": None,
        "requestContext": _context(request, headers, stage, request_id, now),
        "body": body,
        "isBase64Encoded": is_base64,
    }


def _context(
    request: HttpRequest, headers: dict[str, list[str]], stage: str, request_id: str, now: float
) -> dict[str, Any]:
    host = headers.get("host", [""])[-1]
    return {
        "accountId": ACCOUNT,
        "apiId": API,
        "domainName": host,
        "domainPrefix": host.partition(".")[0],
        "httpMethod": request.method,
        "identity": {"sourceIp": request.caller, "userAgent": headers.get("user-agent", [None])[-1]},
        "path": f"/{stage}{request.path}",
        "protocol": "HTTP/1.1",
        "requestId": request_id,
        "requestTime": time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(now)),
        "requestTimeEpoch": round(now * 1000),
        "resourceId": "proxy",
        "resourcePath": "/{proxy+}",
        "stage": stage,
    }


def _forwarded(request: HttpRequest) -> list[tuple[str, str]]:
    return [("X-Forwarded-For", request.caller), ("X-Forwarded-Proto", "https" if request.secure else "http")]


def _values(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return values


def _text(body: bytes) -> tuple[str | None, bool]:
    """The body as JSON can hold it, and whether that is base64."""
    if not body:
        return None, False
    try:
        return body.decode("utf-8"), False
    except UnicodeDecodeError:
        return base64.b64encode(body).decode("ascii"), True
