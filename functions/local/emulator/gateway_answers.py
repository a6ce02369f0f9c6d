"""What API Gateway answers by itself, in the words that the stack's template gives it (`GatewayResponses`)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GatewayAnswer:
    """One of them.

    Args:
        status: HTTP status.
        message: What the caller is told.
        type: The error's type, as in the gateway's own errors.
        code: Its code.
        retry: `x-should-retry`, or None.
        retry_after: `Retry-After` in seconds, or None.
    """

    status: int
    message: str
    type: str
    code: str
    retry: bool | None = None
    retry_after: int | None = None

    def body(self, request_id: str) -> bytes:
        """The envelope of an error."""
        error = {"message": self.message, "type": self.type, "param": None, "code": self.code}
        return json.dumps({"error": error, "request_id": request_id}, separators=(",", ":")).encode()

    def headers(self, request_id: str) -> Iterator[tuple[str, str]]:
        """Those that the template adds."""
        yield "x-request-id", request_id
        if self.retry is not None:
            yield "x-should-retry", str(self.retry).lower()
        if self.retry_after is not None:
            yield "Retry-After", str(self.retry_after)


DEFAULT_5XX = GatewayAnswer(
    500,
    "The gateway failed to answer. Try again; if it happens again, report the request id.",
    "internal_error",
    "internal_error",
)
MISSING_AUTHENTICATION_TOKEN = GatewayAnswer(
    404,
    "There is no such address. Chat completions are at /v1/chat/completions.",
    "not_found_error",
    "endpoint_not_found",
    retry=False,
)
REQUEST_TOO_LARGE = GatewayAnswer(
    413,
    "The request is larger than 6 MB. Shorten the history, or send images and files as URLs instead of base64.",
    "invalid_request_error",
    "request_too_large",
    retry=False,
)
THROTTLED = GatewayAnswer(
    429,
    "Too many requests at this moment. Wait a second and try again.",
    "rate_limit_error",
    "rate_limited",
    retry_after=1,
)
INTEGRATION_TIMEOUT = GatewayAnswer(
    504,
    "The answer took longer than the platform allows. Ask for a stream, or for fewer tokens.",
    "timeout_error",
    "deadline_exceeded",
)
