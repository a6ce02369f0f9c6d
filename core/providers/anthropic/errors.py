"""What an Anthropic-format error means: by its status first, then by its machine-readable code.

Words decide in two cases, as the last resort: a prompt that is too long, and credit that is used up, are told by some
hosts in prose alone, under the status of a wrong request.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from core.catalog.model import Target
from core.chat import Json
from core.errors import AccountFailure, ContextTooLong, UpstreamFailure
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

# The status that an error inside a stream would have had (wire reference, 11.4, read 2026-11-30).
STATUS_OF: Final[Mapping[str, int]] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "memory_precondition_failed_error": 409,
    "memory_path_conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_IN_BAND_STATUS: Final = 502

# `error.details.error_code`, and types, of the operator's account; a wait does not mend them (the same section).
_ACCOUNT: Final = frozenset(
    {
        *("enforced_spend_limit_reached", "contract_spend_limit_reached", "organization_on_hold"),
        *("linked_organization_spend_limit_reached", "linked_organization_billing_unavailable"),
        *("user_profile_not_billable", "user_profile_billing_not_authorized", "user_profile_required"),
        *("user_profile_not_found", "organization_not_enrolled_in_beta", "organization_type_not_supported"),
        *("cmek_key_disabled", "cmek_key_network_blocked"),
        *("authentication_error", "billing_error", "permission_error"),
    }
)
# The statuses whose class a code may refine; on the others the status has said it all.
_REFINED: Final = frozenset({400, 404, 413, 422, 429})

_PROSE_STATUSES: Final = frozenset({400, 413})
_TOO_LONG: Final = ("prompt is too long", "exceed context limit", "input is too long", "too many input tokens")
_NO_CREDIT: Final = ("credit balance is too low", "reached your specified api usage limits", "spend limit")


def failure_of(target: Target, status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> UpstreamFailure:
    """The failure that an error response means. Header names are lower case."""
    return _failure(target, status, read_error(body), retry_after_s(headers, now))


def failure_in_band(target: Target, said: Json) -> UpstreamFailure:
    """The failure that an error inside a successful response means: as if it had come with its own status."""
    error = error_of(said)
    return _failure(target, STATUS_OF.get(error.type) or _own_status(error), error, None)


def _failure(target: Target, status: int, said: ErrorBody, retry_after: float | None) -> UpstreamFailure:
    code = _error_code(said)
    kind = _class(status, said, code)
    word = machine_word(code) or said.word
    return kind(
        caller_message(kind, said, target),
        retry_after_s=retry_after,
        detail=failure_detail(kind, status, word),
        upstream_status=status,
        upstream_code=word or None,
    )


def _class(status: int, said: ErrorBody, code: str) -> type[UpstreamFailure]:
    if status in _REFINED and {code, said.type} & _ACCOUNT:
        return AccountFailure
    if status in _PROSE_STATUSES:
        prose = said.message.lower()
        if any(words in prose for words in _TOO_LONG):
            return ContextTooLong
        if any(words in prose for words in _NO_CREDIT):
            return AccountFailure
    return failure_class(status)


def _error_code(said: ErrorBody) -> str:
    details = said.fields.get("details")
    code = details.get("error_code") if isinstance(details, dict) else None
    return code if isinstance(code, str) else ""


def _own_status(said: ErrorBody) -> int:
    """The status that an error of Google's own carries as its code."""
    is_status = len(said.code) == 3 and said.code.isascii() and said.code.isdigit() and said.code >= "400"
    return int(said.code) if is_status else _IN_BAND_STATUS
