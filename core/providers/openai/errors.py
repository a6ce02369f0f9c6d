"""What an OpenAI-format error means: by its status first, then by its machine-readable code.

Words decide in two cases, as the last resort: a prompt that is too long, and a key or a credit that is not good, are
told by some hosts in prose alone, under the status of a wrong request.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from core.catalog.model import Quirk, Target
from core.chat import Json
from core.errors import (
    AccountFailure,
    BadReply,
    ContentRefused,
    ContextTooLong,
    ModelUnavailable,
    UpstreamFailure,
    UpstreamRejected,
)
from core.providers.failure_param import caller_param
from core.providers.failure_words import caller_message
from core.providers.http_errors import (
    ErrorBody,
    error_of,
    failure_class,
    failure_detail,
    machine_word,
    read_error,
    retry_after_s,
)

# Codes and types of OpenAI, OpenRouter, Groq, Azure and llama.cpp (wire reference, 11.3 and 11.7, read 2026-11-30).
_TOO_LONG: Final = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "max_tokens_exceeded", "token_limit_exceeded"}
)
_CONTENT: Final = frozenset({"content_policy_violation", "content_filter", "invalid_prompt", "refusal"})
_BILLING: Final = frozenset(
    {
        *("insufficient_quota", "credit_balance_exhausted", "organization_usage_limit_exceeded"),
        *("organization_spend_limit_exceeded", "project_spend_limit_exceeded"),
        *("billing_hard_limit_reached", "billing_not_active", "payment_required"),
    }
)
_KEY: Final = frozenset({"invalid_api_key", "authentication", "authentication_error", "permission_denied"})
_MODEL: Final = frozenset({"model_not_found", "model_decommissioned", "model_not_active", "deploymentnotfound"})
_NO_CAPACITY: Final = frozenset({"resource_unavailable", "capacity_exceeded"})
_BAD_CALL: Final = frozenset({"tool_use_failed"})
_RATE: Final = frozenset({"rate_limit_exceeded", "rate_limit_error", "tokens", "requests", "slow_down"})

# The status that an error inside a stream would have had.
_STATUS_OF: Final[Mapping[str, int]] = {
    **dict.fromkeys(_TOO_LONG | _CONTENT | _BAD_CALL, 400),
    **dict.fromkeys({"invalid_request_error", "invalid_request", "unprocessable", "badrequesterror"}, 400),
    **dict.fromkeys(_KEY, 401),
    **dict.fromkeys(_MODEL | {"not_found_error", "not_found", "notfounderror"}, 404),
    **dict.fromkeys(_BILLING | _NO_CAPACITY | _RATE, 429),
    **dict.fromkeys({"server_is_overloaded", "service_unavailable_error", "overloaded_error"}, 503),
}
_IN_BAND_STATUS: Final = 502

# The statuses whose class a code may refine; on the others the status has said it all.
_REFINED: Final = frozenset({400, 403, 404, 413, 422, 429})

# Only where the status already says that the request is at fault (wire reference, 11.8, read 2026-11-30).
_PROSE_STATUSES: Final = frozenset({400, 413})
_PROSE: Final = (
    "maximum context length",
    "context_length_exceeded",
    "reduce the length",
    "prompt is too long",
    "exceed context limit",
    "input token count",
    "exceeds the maximum number of tokens",
    "input is too long",
    "too many input tokens",
    "exceeds the available context size",
)
# Only of an error without a code: what a host says of the operator's key or credit is not about the request.
_ACCOUNT_PROSE: Final = (
    "incorrect api key",
    "invalid api key",
    "invalid_api_key",
    "api key is invalid",
    "api key not valid",
    "api key expired",
    "no api key provided",
    "credit balance is too low",
    "insufficient balance",
    "insufficient credit",
    "insufficient funds",
    "insufficient_quota",
    "exceeded your current quota",
    "account is suspended",
    "account has been suspended",
    "payment required",
)

_CALLER_CODES: Final = frozenset({"unsupported_parameter", "missing_required_parameter"})


def failure_of(target: Target, status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> UpstreamFailure:
    """The failure that an error response means. Header names are lower case."""
    return _failure(target, status, read_error(body), retry_after_s(headers, now))


def failure_in_band(target: Target, said: Json) -> UpstreamFailure:
    """The failure that an error inside a successful response means: as if it had come with its own status."""
    error = error_of(said)
    return _failure(target, _own_status(error), error, None)


def _failure(target: Target, status: int, said: ErrorBody, retry_after: float | None) -> UpstreamFailure:
    kind = _class(target, status, said)
    code = said.code.lower()
    return kind(
        caller_message(kind, said, target),
        param=caller_param(said.param, target) if kind is UpstreamRejected else None,
        code=code if kind is UpstreamRejected and code in _CALLER_CODES else None,
        retry_after_s=retry_after,
        detail=failure_detail(kind, status, said.word),
        upstream_status=status,
        upstream_code=said.word or None,
    )


def _class(target: Target, status: int, said: ErrorBody) -> type[UpstreamFailure]:
    refined = _refined(target, status, said) if status in _REFINED else None
    return refined or failure_class(status)


def _refined(target: Target, status: int, said: ErrorBody) -> type[UpstreamFailure] | None:
    words = _codes(said)
    if words & _TOO_LONG:
        return ContextTooLong
    if words & _CONTENT or _is_moderation(said):
        return ContentRefused
    if words & _BILLING:
        return AccountFailure
    if status == 403:
        return ContextTooLong if target.has(Quirk.FORBIDDEN_IS_TOO_LONG) else None
    if words & _NO_CAPACITY:
        return ModelUnavailable
    if status == 429:
        return None
    return _request_refined(status, said, words)


def _request_refined(status: int, said: ErrorBody, words: frozenset[str]) -> type[UpstreamFailure] | None:
    """What a 4xx means that is not about the request after all."""
    if words & _KEY:
        return AccountFailure
    if words & _MODEL:
        return ModelUnavailable
    if words & _BAD_CALL:
        return BadReply
    if status == 413 and words & _RATE:  # Groq: larger than the tier's tokens per minute
        return ModelUnavailable
    return _prose_refined(said) if status in _PROSE_STATUSES else None


def _prose_refined(said: ErrorBody) -> type[UpstreamFailure] | None:
    prose = said.message.lower()
    if any(words in prose for words in _PROSE):
        return ContextTooLong
    is_coded = bool(machine_word(said.code)) and not said.code.isdigit()
    return AccountFailure if not is_coded and any(words in prose for words in _ACCOUNT_PROSE) else None


def _codes(said: ErrorBody) -> frozenset[str]:
    """Every machine-readable word in an error, in lower case: OpenRouter's stands in `metadata`."""
    words = {said.code.lower(), said.type.lower()}
    metadata = said.fields.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("error_type"), str):
        words.add(metadata["error_type"].lower())
    return frozenset(words)


def _is_moderation(said: ErrorBody) -> bool:
    """OpenAI's `misalignment` object, or OpenRouter's list of what its moderation flagged."""
    metadata = said.fields.get("metadata")
    flagged = isinstance(metadata, dict) and bool(metadata.get("reasons"))
    return flagged or isinstance(said.fields.get("misalignment"), dict)


def _own_status(said: ErrorBody) -> int:
    if said.code.isascii() and said.code.isdigit() and 400 <= int(said.code[:4]) < 600:
        return int(said.code[:4])
    return next((_STATUS_OF[word] for word in sorted(_codes(said)) if word in _STATUS_OF), _IN_BAND_STATUS)
