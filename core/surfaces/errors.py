"""What a caller sees of a failure: status, headers and envelope, or the error object of a stream's last frame."""

import math
from typing import Final

from core.chat import Json
from core.errors import GatewayError
from core.surfaces.headers import answer_headers

# A conflict that ends by itself: a repeat then gets the answer.
_PASSING: Final = frozenset({"idempotency_in_progress"})


def error_answer(
    error: GatewayError, request_id: str, header_prefix: str
) -> tuple[int, dict[str, str], dict[str, Json]]:
    """Status, headers and body of a failure before the first byte.

    Args:
        error: What failed.
        request_id: In the `req-` form.
        header_prefix: What our own headers begin with.
    """
    headers = {**answer_headers(header_prefix, request_id), **error.headers}
    # Elsewhere it is a host's wish, and SDKs would wait in vain.
    if error.retry_after_s is not None and may_repeat(error):
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after_s)))
    if not may_repeat(error):
        headers["x-should-retry"] = "false"
    return error.status, headers, {"error": error_object(error), "request_id": request_id}


def error_object(error: GatewayError) -> dict[str, Json]:
    """The `error` of an envelope or of a stream's last frame."""
    return {"message": error.message, "type": error.type, "param": error.param, "code": error.code}


def may_repeat(error: GatewayError) -> bool:
    """Whether the same request can succeed later; SDKs repeat 409, 429 and 5xx unless they are told."""
    return error.repeatable or error.code in _PASSING
