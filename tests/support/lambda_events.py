"""Events as API Gateway and function URLs send them (AWS documentation of the payload formats, read 2026-11-30)."""

import base64
from typing import Any

CHAT = "/v1/chat/completions"


def rest_event(
    body: bytes | None = b"{}", *, method: str = "POST", path: str = CHAT, headers: dict[str, list[str]] | None = None
) -> dict[str, Any]:
    """A proxy event of a REST API (payload format 1.0)."""
    multi = {"Host": ["api.example.com"], "Content-Type": ["application/json"], **(headers or {})}
    return {
        "resource": "/{proxy+}",
        "path": path,
        "httpMethod": method,
        "headers": {name: values[-1] for name, values in multi.items()},
        "multiValueHeaders": multi,
        "queryStringParameters": {"tag": "b"},
        "multiValueQueryStringParameters": {"tag": ["a", "b"]},
        "pathParameters": {"proxy": path.lstrip("/")},
        "stageVariables": None,
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "abcdefghij",
            "stage": "live",
            "path": f"/live{path}",
            "httpMethod": method,
            "protocol": "HTTP/1.1",
            "requestId": "11111111-2222-3333-4444-555555555555",
            "identity": {"sourceIp": "203.0.113.9", "userAgent": "test"},
        },
        "body": None if body is None else body.decode(),
        "isBase64Encoded": False,
    }


def url_event(
    body: bytes | None = b"{}", *, method: str = "POST", path: str = CHAT, cookies: tuple[str, ...] = ()
) -> dict[str, Any]:
    """An event of a function URL (payload format 2.0)."""
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "tag=a&tag=b",
        "headers": {"host": "abc.lambda-url.eu-central-1.on.aws", "content-type": "application/json"},
        "requestContext": {
            "accountId": "anonymous",
            "apiId": "abc",
            "domainName": "abc.lambda-url.eu-central-1.on.aws",
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "203.0.113.9",
                "userAgent": "test",
            },
            "requestId": "11111111-2222-3333-4444-555555555555",
            "routeKey": "$default",
            "stage": "$default",
            "time": "30/Nov/2026:00:00:00 +0000",
            "timeEpoch": 1_795_996_800_000,
        },
        "isBase64Encoded": body is not None,
    }
    if body is not None:
        event["body"] = base64.b64encode(body).decode()
    if cookies:
        event["cookies"] = list(cookies)
    return event
