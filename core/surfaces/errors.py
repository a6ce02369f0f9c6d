"""What a caller sees of a failure: status, headers and envelope, or the error object of a stream's last frame."""

import math
from typing import Final

from core.chat import Json
from core.errors import GatewayError, UpstreamFailure
from core.masking import masked
from core.surfaces.headers import answer_headers

# A conflict that ends by itself: a repeat then gets the answer.
_PASSING: Final = frozenset({"idempotency_in_progress"})

# SDKs pass over a longer `Retry-After` and repeat within seconds (openai: 120 s since 3.x, 60 s before, as other SDKs;
# openai 3.57.0, `_constants.py`, read 2026-12-01).
_LONGEST_WAIT_S: Final = 60.0


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
    if error.retry_after_s is not None and _may_pass(error):
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after_s)))
    if not should_repeat(error):
        headers["x-should-retry"] = "false"
    return error.status, headers, {"error": error_object(error), "request_id": request_id}


def error_object(error: GatewayError) -> dict[str, Json]:
    """The `error` of an envelope or of a stream's last frame; keys that were sent in the wrong place are masked."""
    param = None if error.param is None else masked(error.param)
    return {"message": masked(error.message), "type": error.type, "param": param, "code": error.code}


def should_repeat(error: GatewayError) -> bool:
    """Whether a client should send the same request again by itself; SDKs repeat 409, 429 and 5xx unless they are told.

    Not where that cannot mend it, nor within a minute, nor after the gateway itself made every attempt at the hosts.
    """
    is_near = error.retry_after_s is None or error.retry_after_s <= _LONGEST_WAIT_S
    return _may_pass(error) and is_near and not isinstance(error, UpstreamFailure)


def _may_pass(error: GatewayError) -> bool:
    """Whether the same request can succeed later."""
    return error.repeatable or error.code in _PASSING
