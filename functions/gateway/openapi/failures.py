"""The failures of the API: which codes there are, under which status, and the responses that carry them."""

from collections.abc import Mapping
from typing import Any, Final

from core.errors import (
    AuthenticationFailed,
    Conflict,
    DeadlineExceeded,
    GatewayError,
    InternalError,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
    Overloaded,
    PaymentRequired,
    PermissionDenied,
    RateLimited,
    RequestTooLarge,
    SilentUpstream,
    Unprocessable,
    UpstreamUnavailable,
)
from functions.gateway.openapi.shapes import Schema, nullable, record, ref, text, words

Codes = Mapping[str, str]

FAILURES: Final[tuple[tuple[type[GatewayError], str, Codes], ...]] = (
    (
        InvalidRequest,
        "The request is wrong.",
        {
            "invalid_json": "The body is no JSON object in UTF-8, or it is nested too deeply.",
            "missing_required_parameter": "A field is missing; `param` names it.",
            "invalid_value": "A field has a wrong type or value; `param` names it.",
            "context_length_exceeded": "The prompt does not fit the model.",
            "unsupported_parameter": "The model cannot do what a field asks for; `param` names it.",
            "missing_tool_result": "A tool call has no result in the messages after it.",
        },
    ),
    (
        AuthenticationFailed,
        "No valid key was sent.",
        {"invalid_api_key": "The key is missing, malformed, unknown, expired or revoked."},
    ),
    (
        PaymentRequired,
        "There is no money left for it.",
        {
            "insufficient_credits": "The organisation's credits are used up.",
            "budget_exceeded": "The key's or the organisation's budget is used up.",
            "free_plan_exhausted": "The free plan's allowance is used up.",
        },
    ),
    (
        PermissionDenied,
        "The key may not do this.",
        {"model_not_allowed": "The model is not among those of the key.", "scope_missing": "The key lacks a scope."},
    ),
    (
        NotFound,
        "There is no such thing.",
        {
            "model_not_found": "No model has this id or alias; near matches are named.",
            "decision_not_found": "The organisation has no decision of this id.",
            "endpoint_not_found": "No endpoint has this path.",
            "organisation_not_found": "There is no organisation of this id.",
            "key_not_found": "The organisation has no key of this id, or none of its own at this vendor.",
            "policy_not_found": "The organisation has no policy of this name.",
            "plan_not_found": "There is no plan of this id.",
            "catalog_not_found": "The organisation has no catalog of its own.",
        },
    ),
    (
        MethodNotAllowed,
        "The path does not take this method.",
        {"method_not_allowed": "The header `Allow` names those that it takes."},
    ),
    (
        Conflict,
        "It would collide with something else.",
        {
            "idempotency_mismatch": "Another body was sent under it.",
            "idempotency_in_progress": "The first request is still running; a repeat will get its answer.",
            "idempotency_not_replayable": "The answer was too large to be kept; the message has its request id.",
            "already_exists": "There is one of that name already.",
            "in_use": "It is built in, or something else needs it; the message says which.",
            "key_not_live": "The key is expired or revoked; the message says which.",
            "key_rotated": "Another key took its place before; the message names it.",
            "key_changed": "Others changed the key at the same moment.",
        },
    ),
    (
        RequestTooLarge,
        "The body is too large.",
        {"request_too_large": "It passes 6 MB, or it holds too many values. The message says what to do."},
    ),
    (
        Unprocessable,
        "The request is well formed, but not allowed or not possible.",
        {
            "unknown_field": "Nobody documents this field; `param` names it.",
            "policy_violation": "A value is outside the policy; the message names both.",
            "no_eligible_model": "Every model is excluded; the message says why.",
        },
    ),
    (
        RateLimited,
        "Too many requests at the moment.",
        {
            "rate_limited": "A limit of the key, the organisation or the plan is reached.",
            "upstream_rate_limited": "Every host asks to wait.",
        },
    ),
    (
        InternalError,
        "The gateway failed.",
        {"internal_error": "The fault was logged under the request id."},
    ),
    (
        UpstreamUnavailable,
        "The answer could not be had.",
        {
            "all_attempts_failed": "Every attempt failed, in more than one way.",
            "upstream_error": "The only possible attempt failed.",
            "own_key_failed": "The organisation's own key at the model's host does not work.",
        },
    ),
    (
        Overloaded,
        "It cannot be served at the moment.",
        {
            "no_healthy_host": "No host of the model can be used.",
            "store_unavailable": "The gateway cannot reach its records.",
            "sealing_unavailable": "The gateway has no key to keep secrets with.",
        },
    ),
    (
        DeadlineExceeded,
        "It took too long.",
        {
            "first_token_timeout": "No attempt brought a token in time.",
            "deadline_exceeded": "The request's own deadline passed.",
        },
    ),
)
"""One class per status: its codes, each with what it means."""

IN_STREAMS: Final[tuple[type[GatewayError], Codes]] = (
    SilentUpstream,
    {
        "interrupted": "The host's stream broke off.",
        "silent_upstream": "The host stopped sending.",
    },
)
"""What only a stream can suffer."""


def failure_schemas() -> dict[str, Schema]:
    """The components that describe failures."""
    types = dict.fromkeys(kind.type for kind, _, _ in FAILURES)
    codes = [code for _, _, meanings in FAILURES for code in meanings]
    stream_kind, stream_codes = IN_STREAMS
    return {
        "Failure": _failure(words(*types), words(*codes)),
        "StreamFailure": _failure(words(*types, stream_kind.type), words(*codes, *stream_codes)),
        "ErrorEnvelope": record(
            {"error": ref("Failure"), "request_id": text("For questions about it.", pattern="^req-[0-9a-f]{32}$")},
            ("error", "request_id"),
            "How every failure is told.",
        ),
    }


def failure_responses(headers: Schema, examples: Mapping[int, Any]) -> dict[str, Any]:
    """The components of failed responses, by their status.

    Args:
        headers: The headers that every failure has.
        examples: A body for each status.
    """
    made: dict[str, Any] = {}
    for kind, about, codes in FAILURES:
        listed = "\n".join(f"- `{code}`: {meaning}" for code, meaning in codes.items())
        narrowed = record({"error": record({"type": {"const": kind.type}, "code": {"enum": list(codes)}})})
        made[str(kind.status)] = {
            "description": f"{about}\n\n{listed}",
            "headers": headers,
            "content": {
                "application/json": {
                    "schema": {"allOf": [ref("ErrorEnvelope"), narrowed]},
                    "example": examples[kind.status],
                }
            },
        }
    return made


def _failure(kind: Schema, code: Schema) -> Schema:
    return record(
        {
            "message": text("What was wrong, and what to do."),
            "type": kind,
            "param": nullable(text("The dotted path of the field at fault: `messages[2].content[0].image_url.url`.")),
            "code": {**code, "description": "Stable; programs read this."},
        },
        ("message", "type", "param", "code"),
        "What went wrong.",
    )
