"""Every failure that the gateway knows, as a tree whose classes say what a caller sees and what may be tried next.

    GatewayError
    |- InvalidRequest            400  the caller's body is wrong
    |  |- RequestTooLarge        413
    |  `- Unprocessable          422  well formed, but not allowed or not possible
    |- AuthenticationFailed      401
    |- PaymentRequired           402
    |- PermissionDenied          403
    |- NotFound                  404
    |- MethodNotAllowed          405
    |- Conflict                  409
    |- RateLimited               429  the gateway's own limits
    |  `- LargerThanLimit             the request alone passes one: no wait helps
    |- InternalError             500
    |- Overloaded                503  no healthy host, or the store is away
    |- DeadlineExceeded          504  the request's own deadline
    `- UpstreamFailure           502  one attempt failed; `recovery` says what it allows
       |- UpstreamRejected       400  the upstream's verdict that the request itself is wrong
       |- ContextTooLong         400  the prompt does not fit; only a larger window may be tried
       |- ContentRefused              a content decision: an answer, never retried
       |- UpstreamRateLimited    429
       |- UpstreamUnavailable    502  5xx, overload, transport
       |- ModelUnavailable       502  the host does not have the model
       |- AccountFailure         502  the operator's key, billing or permission
       |  `- OwnKeyFailure       502  the caller's organisation's own
       |- BadReply               502  an answer that cannot be read
       |- NoContent              502  an answer with nothing in it
       |- FirstTokenTimeout      504
       |- SilentUpstream              stopped sending (in band: `silent_upstream`)
       `- Interrupted                 ended without its terminal event (in band: `interrupted`)

The default is the caller's fault or final: nothing is retried unless its class says so.
"""

from collections.abc import Mapping
from enum import Enum
from typing import ClassVar


class Recovery(Enum):
    """What a failed attempt allows next (the six classes of the wire reference, section 11.1)."""

    WAIT = "wait"  # the same host again, after a wait
    NEXT = "next"  # the next in the chain, at once
    RETRY_THEN_NEXT = "retry_then_next"  # one short retry, then the next
    CALLER = "caller"  # final: the request is wrong
    OPERATOR = "operator"  # next account or host; this one out of rotation
    CONTENT = "content"  # final: the model or its host declined


class GatewayError(Exception):
    """A failure with everything that its caller is told.

    Args:
        message: What was wrong and what to do; it never holds a key, a provider's name or another tenant's data.
        param: Dotted path of the field at fault, or None.
        code: Stable code; the class's default when left out.
        retry_after_s: Seconds after which a repeat can help, or None.

    `headers` is what its answer says beside that, by the names of headers.
    """

    status: ClassVar[int] = 500
    type: ClassVar[str] = "internal_error"
    default_code: ClassVar[str] = "internal_error"
    repeatable: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.code = code or self.default_code
        self.retry_after_s = retry_after_s
        self.headers: Mapping[str, str] = {}


class InvalidRequest(GatewayError):
    """The body is malformed, incomplete, or has a wrong type or value."""

    status = 400
    type = "invalid_request_error"
    default_code = "invalid_value"


class RequestTooLarge(InvalidRequest):
    """The body passes the size limit."""

    status = 413
    default_code = "request_too_large"


class Unprocessable(InvalidRequest):
    """Well formed, but unknown, outside the policy, or impossible to serve."""

    status = 422
    default_code = "unknown_field"


class AuthenticationFailed(GatewayError):
    """No key, a malformed key, or one that is not known."""

    status = 401
    type = "authentication_error"
    default_code = "invalid_api_key"


class PaymentRequired(GatewayError):
    """A budget, a credit balance or a free plan is used up."""

    status = 402
    type = "billing_error"
    default_code = "budget_exceeded"


class PermissionDenied(GatewayError):
    """The key may not do this."""

    status = 403
    type = "permission_error"
    default_code = "model_not_allowed"


class NotFound(GatewayError):
    """No such model, decision or endpoint."""

    status = 404
    type = "not_found_error"
    default_code = "model_not_found"


class MethodNotAllowed(GatewayError):
    """The endpoint exists, but not for this method."""

    status = 405
    type = "invalid_request_error"
    default_code = "method_not_allowed"


class Conflict(GatewayError):
    """An idempotency key is in use, or was used for something else."""

    status = 409
    type = "conflict_error"
    default_code = "idempotency_mismatch"


class RateLimited(GatewayError):
    """A limit of the key, the organisation or the plan is reached."""

    status = 429
    type = "rate_limit_error"
    default_code = "rate_limited"
    repeatable = True


class LargerThanLimit(RateLimited):
    """The request alone is larger than a limit, so that no wait helps."""

    repeatable = False


class InternalError(GatewayError):
    """Our own fault; logged with the request id."""


class Overloaded(GatewayError):
    """No healthy host, or the store cannot be reached."""

    status = 503
    type = "overloaded_error"
    default_code = "no_healthy_host"
    repeatable = True


class StoreUnavailable(Overloaded):
    """The store cannot be reached, or did not answer in time.

    Args:
        message: For the caller; names nothing of the operator's.
        detail: For the operator's log: what failed, and what to do about it.
    """

    default_code = "store_unavailable"

    def __init__(
        self,
        message: str = "The gateway cannot reach its records at the moment. Send the request again shortly.",
        *,
        param: str | None = None,
        code: str | None = None,
        retry_after_s: float | None = None,
        detail: str = "",
    ) -> None:
        super().__init__(message, param=param, code=code, retry_after_s=retry_after_s)
        self.detail = detail


class DeadlineExceeded(GatewayError):
    """The request's deadline passed before an attempt committed."""

    status = 504
    type = "timeout_error"
    default_code = "deadline_exceeded"


class UpstreamFailure(GatewayError):
    """One attempt failed.

    Args:
        message: For the caller; names no provider.
        detail: For the operator's log: status, code and class; never an upstream's own sentences, which may quote
            a prompt or a key.
        upstream_status: HTTP status of the upstream's answer, or None when there was none.
        upstream_code: The upstream's machine-readable code, as a string.
    """

    status = 502
    type = "upstream_error"
    default_code = "upstream_error"
    recovery: ClassVar[Recovery] = Recovery.CALLER
    outcome: ClassVar[str] = "upstream_error"

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        retry_after_s: float | None = None,
        detail: str = "",
        upstream_status: int | None = None,
        upstream_code: str | None = None,
    ) -> None:
        super().__init__(message, param=param, code=code, retry_after_s=retry_after_s)
        self.detail = detail
        self.upstream_status = upstream_status
        self.upstream_code = upstream_code


class UpstreamRejected(UpstreamFailure):
    """The upstream says that the request itself is wrong."""

    status = 400
    type = "invalid_request_error"
    default_code = "invalid_value"


class ContextTooLong(UpstreamFailure):
    """The prompt does not fit this model; only models with a larger window may be tried."""

    status = 400
    type = "invalid_request_error"
    default_code = "context_length_exceeded"
    recovery = Recovery.NEXT
    outcome = "context_too_long"


class ContentRefused(UpstreamFailure):
    """The upstream declined the content before it answered; the caller gets a `content_filter` answer."""

    recovery = Recovery.CONTENT
    outcome = "content_filter"


class UpstreamRateLimited(UpstreamFailure):
    """The upstream asks us to wait."""

    status = 429
    type = "rate_limit_error"
    default_code = "upstream_rate_limited"
    recovery = Recovery.WAIT
    outcome = "rate_limited"
    repeatable = True


class UpstreamUnavailable(UpstreamFailure):
    """The upstream failed, is overloaded, or cannot be reached."""

    recovery = Recovery.RETRY_THEN_NEXT


class ModelUnavailable(UpstreamFailure):
    """The host does not have the model, or not for us."""

    recovery = Recovery.NEXT


class AccountFailure(UpstreamFailure):
    """The operator's key, billing or permission at the host is at fault."""

    recovery = Recovery.OPERATOR


class OwnKeyFailure(AccountFailure):
    """The organisation's own key, or the account behind it, is at fault."""

    default_code = "own_key_failed"
    outcome = "own_key_failed"


class BadReply(UpstreamFailure):
    """An answer that cannot be read."""

    recovery = Recovery.RETRY_THEN_NEXT


class NoContent(UpstreamFailure):
    """A complete answer with nothing in it."""

    recovery = Recovery.RETRY_THEN_NEXT
    outcome = "no_content"


class FirstTokenTimeout(UpstreamFailure):
    """No token came within the attempt's budget."""

    status = 504
    type = "timeout_error"
    default_code = "first_token_timeout"
    recovery = Recovery.NEXT
    outcome = "first_token_timeout"


class SilentUpstream(UpstreamFailure):
    """The upstream stopped sending."""

    type = "stream_error"
    default_code = "silent_upstream"
    recovery = Recovery.NEXT
    outcome = "silent"


class Interrupted(UpstreamFailure):
    """The upstream's stream ended without its terminal event."""

    type = "stream_error"
    default_code = "interrupted"
    recovery = Recovery.RETRY_THEN_NEXT
    outcome = "interrupted"
