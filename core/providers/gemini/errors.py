"""What a Gemini-format error means: by its status first, then by Google's machine-readable reasons.

Words decide in one case, as the last resort: a prompt that is too long is told in prose alone.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from core.catalog.model import Target
from core.chat import Json
from core.errors import AccountFailure, ContextTooLong, UpstreamFailure, UpstreamRejected
from core.providers.failure_param import caller_param
from core.providers.failure_words import caller_message
from core.providers.http_errors import (
    ErrorBody,
    duration_s,
    error_of,
    failure_class,
    failure_detail,
    machine_word,
    read_error,
    retry_after_s,
    sensible_wait_s,
)

# `error.status`: what a canonical code is as an HTTP status (google.rpc.Code, read 2026-11-30).
STATUS_OF: Final[Mapping[str, int]] = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "OUT_OF_RANGE": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ABORTED": 409,
    "ALREADY_EXISTS": 409,
    "RESOURCE_EXHAUSTED": 429,
    "CANCELLED": 499,
    "UNKNOWN": 500,
    "INTERNAL": 500,
    "DATA_LOSS": 500,
    "UNIMPLEMENTED": 501,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
_IN_BAND_STATUS: Final = 502

# `ErrorInfo.reason` of the operator's key or account, whatever the status (google.api.ErrorReason, read 2026-11-30).
_ACCOUNT: Final = frozenset(
    {
        *("API_KEY_INVALID", "API_KEY_SERVICE_BLOCKED", "API_KEY_HTTP_REFERRER_BLOCKED", "API_KEY_EXPIRED"),
        *("API_KEY_IP_ADDRESS_BLOCKED", "API_KEY_ANDROID_APP_BLOCKED", "API_KEY_IOS_APP_BLOCKED"),
        *("BILLING_DISABLED", "SERVICE_DISABLED", "CONSUMER_INVALID", "CONSUMER_SUSPENDED"),
        *("ACCESS_TOKEN_EXPIRED", "ACCESS_TOKEN_TYPE_UNSUPPORTED", "CREDENTIALS_MISSING", "ACCOUNT_STATE_INVALID"),
    }
)
_NOT_OURS: Final = "FAILED_PRECONDITION"  # billing, or a region without service
_DAILY: Final = "perday"
_TOO_LONG: Final = ("input token count", "exceeds the maximum number of tokens")

# Members of the request in Google's words, in those of callers.
_PARAMS: Final = (
    ("generation_config.max_output_tokens", "max_tokens"),
    ("generation_config.stop_sequences", "stop"),
    ("generation_config.candidate_count", "n"),
    ("generation_config.response_", "response_format"),
    ("generation_config.thinking_config", "reasoning_effort"),
    ("generation_config.logprobs", "top_logprobs"),
    ("generation_config.", ""),
    ("system_instruction", "messages"),
    ("contents", "messages"),
    ("tool_config", "tool_choice"),
    ("tools", "tools"),
    ("service_tier", "service_tier"),
)


def failure_of(target: Target, status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> UpstreamFailure:
    """The failure that an error response means. Header names are lower case."""
    return _failure(target, status, read_error(body), retry_after_s(headers, now))


def failure_in_band(target: Target, said: Json) -> UpstreamFailure:
    """The failure that an error inside a successful response means: as if it had come with its own status."""
    error = error_of(said)
    return _failure(target, _own_status(error), error, None)


def _failure(target: Target, status: int, said: ErrorBody, retry_after: float | None) -> UpstreamFailure:
    kind = _class(status, said)
    reasons = [reason for detail in _details(said) if isinstance(reason := detail.get("reason"), str)]
    word = next((reason for reason in reasons if reason in _ACCOUNT), _status(said) or said.code)
    word = machine_word(word)
    return kind(
        caller_message(kind, said, target),
        param=caller_param(_param(said), target) if kind is UpstreamRejected else None,
        retry_after_s=_retry_delay(said) if retry_after is None else retry_after,
        detail=failure_detail(kind, status, word),
        upstream_status=status,
        upstream_code=word or None,
    )


def _class(status: int, said: ErrorBody) -> type[UpstreamFailure]:
    if 400 <= status < 500:
        if any(detail.get("reason") in _ACCOUNT for detail in _details(said)):
            return AccountFailure
        if status == 429 and any(_DAILY in quota.lower() for quota in _quotas(said)):
            return AccountFailure  # a wait of hours is no wait
    if status == 400:
        if _status(said) == _NOT_OURS:
            return AccountFailure
        prose = said.message.lower()
        if any(words in prose for words in _TOO_LONG):
            return ContextTooLong
    return failure_class(status)


def _own_status(said: ErrorBody) -> int:
    if said.code.isascii() and said.code.isdigit() and 400 <= int(said.code[:4]) < 600:
        return int(said.code[:4])
    return STATUS_OF.get(_status(said), _IN_BAND_STATUS)


def _status(said: ErrorBody) -> str:
    status = said.fields.get("status")
    return status if isinstance(status, str) else ""


def _details(said: ErrorBody) -> Iterator[Mapping[str, Json]]:
    details = said.fields.get("details")
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict):
            yield detail


def _quotas(said: ErrorBody) -> Iterator[str]:
    for violation in _violations(said, "violations"):
        quota = violation.get("quotaId")
        if isinstance(quota, str):
            yield quota


def _violations(said: ErrorBody, name: str) -> Iterator[Mapping[str, Json]]:
    for detail in _details(said):
        violations = detail.get(name)
        for violation in violations if isinstance(violations, list) else ():
            if isinstance(violation, dict):
                yield violation


def _retry_delay(said: ErrorBody) -> float | None:
    """`RetryInfo`: `34.07s`."""
    for detail in _details(said):
        delay = detail.get("retryDelay")
        if isinstance(delay, str):
            return sensible_wait_s(duration_s(delay))
    return None


def _param(said: ErrorBody) -> str | None:
    for violation in _violations(said, "fieldViolations"):
        field = violation.get("field")
        for theirs, ours in _PARAMS if isinstance(field, str) else ():
            if str(field).startswith(theirs):
                return ours or str(field).removeprefix(theirs)[:200]
    return None
