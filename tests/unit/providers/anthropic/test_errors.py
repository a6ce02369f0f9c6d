"""What error responses mean."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog.model import Format
from core.errors import (
    AccountFailure,
    ContextTooLong,
    ModelUnavailable,
    UpstreamFailure,
    UpstreamRateLimited,
    UpstreamRejected,
    UpstreamUnavailable,
)
from core.providers.anthropic import AnthropicFormat
from core.providers.anthropic.errors import failure_in_band
from tests.support.targets import make_target, make_vendor

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
TARGET = make_target("claude-x", vendor=make_vendor(format=Format.ANTHROPIC))


def failure(status: int, body: Any, headers: dict[str, str] | None = None) -> UpstreamFailure:
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    made = AnthropicFormat().decode_error(TARGET, status, headers or {}, raw, NOW)
    assert isinstance(made, UpstreamFailure)
    return made


def error(kind: str, message: str = "m", code: str | None = None) -> dict[str, Any]:
    details = {"details": {"error_code": code}} if code else {}
    return {"type": "error", "error": {"type": kind, "message": message, **details}, "request_id": "req_1"}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, error("invalid_request_error"), UpstreamRejected),
        (400, error("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), ContextTooLong),
        (400, error("invalid_request_error", "input length and `max_tokens` exceed context limit"), ContextTooLong),
        (400, error("invalid_request_error", "Your credit balance is too low to access the API."), AccountFailure),
        (400, error("invalid_request_error", "You have reached your specified API usage limits."), AccountFailure),
        (400, error("invalid_request_error", code="enforced_spend_limit_reached"), AccountFailure),
        (400, error("invalid_request_error", code="image_dimensions_too_large"), UpstreamRejected),
        (400, error("billing_error"), AccountFailure),
        (401, error("authentication_error"), AccountFailure),
        (402, error("billing_error"), AccountFailure),
        (403, error("permission_error", code="organization_on_hold"), AccountFailure),
        (404, error("not_found_error"), ModelUnavailable),
        (408, error("timeout_error"), UpstreamUnavailable),
        (409, error("conflict_error"), UpstreamUnavailable),
        (413, error("request_too_large"), UpstreamRejected),
        (429, error("rate_limit_error"), UpstreamRateLimited),
        (429, error("rate_limit_error", code="ramp_limit_exceeded"), UpstreamRateLimited),
        (429, error("rate_limit_error", code="enforced_spend_limit_reached"), AccountFailure),
        (429, error("rate_limit_error", code="contract_spend_limit_reached"), AccountFailure),
        (500, error("api_error"), UpstreamUnavailable),
        (504, error("timeout_error"), UpstreamUnavailable),
        (529, error("overloaded_error"), UpstreamUnavailable),
        # In front of Claude on a cloud
        (400, [{"error": {"code": 400, "message": "Bad.", "status": "INVALID_ARGUMENT"}}], UpstreamRejected),
        (403, {"error": {"code": 403, "message": "No.", "status": "PERMISSION_DENIED"}}, AccountFailure),
        (404, {"error": {"code": 404, "message": "No such model.", "status": "NOT_FOUND"}}, ModelUnavailable),
        (429, {"error": {"code": 429, "message": "Quota.", "status": "RESOURCE_EXHAUSTED"}}, UpstreamRateLimited),
        (403, {"message": "The security token is expired."}, AccountFailure),
        (502, b"<html>nginx</html>", UpstreamUnavailable),
        (529, b"", UpstreamUnavailable),
    ],
)
def test_status_first_then_code(status: int, body: Any, kind: type[UpstreamFailure]) -> None:
    made = failure(status, body)
    assert type(made) is kind
    assert made.upstream_status == status


def test_the_caller_sees_none_of_the_hosts_names_and_the_log_none_of_its_words() -> None:
    made = failure(400, error("invalid_request_error", "claude-x: Anthropic says no, see https://docs.lab/x"))
    assert made.detail == "400 invalid_request_error: UpstreamRejected"
    assert made.message.endswith("It says: claude-x: the host says no, see (address)")
    assert made.upstream_code == "invalid_request_error"


def test_the_finest_code_is_recorded() -> None:
    assert failure(429, error("rate_limit_error", code="ramp_limit_exceeded")).upstream_code == "ramp_limit_exceeded"
    assert failure(400, {"error": {"code": 400, "message": "m"}}).upstream_code == "400"
    assert failure(400, {"error": {"details": "odd", "message": "m"}}).upstream_code is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}, 30.0),
        (
            {
                "anthropic-ratelimit-requests-remaining": "9",
                "anthropic-ratelimit-requests-reset": "2026-11-30T12:00:05Z",
                "anthropic-ratelimit-tokens-remaining": "0",
                "anthropic-ratelimit-tokens-reset": "2026-11-30T12:00:40Z",
            },
            40.0,
        ),
        ({}, None),
    ],
)
def test_the_wait_that_is_asked_for(headers: dict[str, str], seconds: float | None) -> None:
    assert failure(429, error("rate_limit_error"), headers).retry_after_s == seconds


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"error": {"type": "overloaded_error"}}, 529),
        ({"error": {"code": 503, "status": "UNAVAILABLE"}}, 503),
        ({"error": {"code": 200}}, 502),
        ({"error": {"code": "x12"}}, 502),
        ({"error": {"code": 12345}}, 502),
        ("text", 502),
    ],
)
def test_an_error_in_band_is_as_if_it_had_come_with_its_status(said: Any, status: int) -> None:
    assert failure_in_band(TARGET, said).upstream_status == status


@given(st.integers(100, 999), st.binary(max_size=80))
def test_every_status_has_a_class_whatever_the_body(status: int, body: bytes) -> None:
    assert failure(status, body).upstream_status == status
