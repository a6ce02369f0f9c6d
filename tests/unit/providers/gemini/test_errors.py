"""What error responses and in-band errors mean."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from google.genai import errors as sdk
from hypothesis import given
from hypothesis import strategies as st

from core.catalog.model import Format
from core.errors import (
    AccountFailure,
    BadReply,
    ContextTooLong,
    ModelUnavailable,
    UpstreamFailure,
    UpstreamRateLimited,
    UpstreamRejected,
    UpstreamUnavailable,
)
from core.providers.gemini import GeminiFormat
from core.providers.gemini.errors import STATUS_OF, failure_in_band
from core.providers.http_errors import failure_class
from tests.support.targets import make_target, make_vendor

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
TARGET = make_target(vendor=make_vendor("google", format=Format.GEMINI))


def failure(status: int, body: Any, headers: dict[str, str] | None = None) -> UpstreamFailure:
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    made = GeminiFormat().decode_error(TARGET, status, headers or {}, raw, NOW)
    assert isinstance(made, UpstreamFailure)
    return made


def error(status: str = "", message: str = "m", code: Any = None, *details: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


def info(reason: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com"}


def quota(*ids: Any) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": each} for each in ids]}


def retry(delay: Any) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


PER_MINUTE = "GenerateRequestsPerMinutePerProjectPerModel"
PER_DAY = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
TOO_LONG = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
UNSIGNED = "Function call is missing a thought_signature in functionCall parts."


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, error("INVALID_ARGUMENT"), UpstreamRejected),
        (400, error("INVALID_ARGUMENT", UNSIGNED), UpstreamRejected),
        (400, error("INVALID_ARGUMENT", TOO_LONG), ContextTooLong),
        (400, error("INVALID_ARGUMENT", "API key not valid.", 400, info("API_KEY_INVALID")), AccountFailure),
        (400, error("INVALID_ARGUMENT", "m", 400, info("SOMETHING_ELSE")), UpstreamRejected),
        (400, error("FAILED_PRECONDITION", "User location is not supported."), AccountFailure),
        (401, error("UNAUTHENTICATED", "m", 401, info("ACCESS_TOKEN_EXPIRED")), AccountFailure),
        (402, error(), AccountFailure),
        (403, error("PERMISSION_DENIED"), AccountFailure),
        (404, error("NOT_FOUND"), ModelUnavailable),
        (409, error("ABORTED"), UpstreamUnavailable),
        (413, error(), UpstreamRejected),
        (429, error("RESOURCE_EXHAUSTED"), UpstreamRateLimited),
        (429, error("RESOURCE_EXHAUSTED", "m", 429, quota(PER_MINUTE)), UpstreamRateLimited),
        (429, error("RESOURCE_EXHAUSTED", "m", 429, quota(PER_MINUTE, PER_DAY)), AccountFailure),
        (429, error("RESOURCE_EXHAUSTED", "m", 429, quota(3), "x"), UpstreamRateLimited),
        (429, error("RESOURCE_EXHAUSTED", "m", 429, info("BILLING_DISABLED")), AccountFailure),
        (499, error("CANCELLED"), UpstreamUnavailable),
        (500, error("INTERNAL"), UpstreamUnavailable),
        (500, error("INTERNAL", "m", 500, info("API_KEY_INVALID"), quota(PER_DAY)), UpstreamUnavailable),
        (503, error("UNAVAILABLE"), UpstreamUnavailable),
        (504, error("DEADLINE_EXCEEDED"), UpstreamUnavailable),
        (503, [error("UNAVAILABLE")], UpstreamUnavailable),
        (502, b"<html>502 Bad Gateway</html>", UpstreamUnavailable),
        (400, b"", UpstreamRejected),
        (400, {"error": {"message": TOO_LONG, "details": {}, "status": 3}}, ContextTooLong),
        (301, b"", BadReply),
    ],
)
def test_every_error_has_its_class(status: int, body: Any, kind: type[UpstreamFailure]) -> None:
    made = failure(status, body)
    assert type(made) is kind
    assert made.upstream_status == status


@pytest.mark.parametrize("status", [401, 402, 403, 404, 413, 429, 500, 503])
def test_prose_decides_nothing_elsewhere(status: int) -> None:
    assert type(failure(status, error("", TOO_LONG))) is failure_class(status)


@pytest.mark.parametrize(
    ("details", "headers", "seconds"),
    [
        ([retry("34.07s")], {}, 34.07),
        ([quota(PER_DAY), retry("3600s")], {}, 3600),
        ([retry("34s")], {"retry-after": "9"}, 9),
        ([retry("soon")], {}, None),
        ([retry("86401s")], {}, None),
        ([retry(34)], {}, None),
        ([], {}, None),
    ],
)
def test_how_long_to_wait(details: list[Any], headers: dict[str, str], seconds: float | None) -> None:
    assert failure(429, error("RESOURCE_EXHAUSTED", "m", 429, *details), headers).retry_after_s == seconds


def test_what_the_operator_gets() -> None:
    made = failure(400, error("INVALID_ARGUMENT", "API key not valid.", 400, info("API_KEY_INVALID")))
    assert made.detail == "400 API_KEY_INVALID: AccountFailure"
    assert made.upstream_code == "API_KEY_INVALID"
    assert failure(429, error("RESOURCE_EXHAUSTED")).upstream_code == "RESOURCE_EXHAUSTED"
    assert failure(400, {"error": {"code": 400, "message": "m"}}).upstream_code == "400"
    assert failure(400, b"").upstream_code is None


@pytest.mark.parametrize(
    ("field", "param"),
    [
        ("generation_config.temperature", "temperature"),
        ("generation_config.max_output_tokens", "max_tokens"),
        ("generation_config.response_json_schema.properties", "response_format"),
        ("generation_config.thinking_config.thinking_budget", "reasoning_effort"),
        ("generation_config.candidate_count", "n"),
        ("contents[2].parts[0].data", "messages"),
        ("system_instruction", "messages"),
        ("tools[0].function_declarations[1].parameters", "tools"),
        ("tool_config.function_calling_config", "tool_choice"),
        ("something_new", None),
        ("generation_config.something_new", None),
        ("generation_config.sk-proj-abcDEF1234", None),
        (3, None),
    ],
)
def test_the_field_at_fault_is_named_as_callers_know_it(field: Any, param: str | None) -> None:
    violations = {"fieldViolations": ["x", {"field": field}]}
    made = failure(400, error("INVALID_ARGUMENT", "Wrong at Google: 'x'", 400, violations))
    assert made.param == param
    assert made.message.endswith("It says: Wrong at the host: 'x'")
    assert failure(503, error("UNAVAILABLE", "m", 503, violations)).param is None


@pytest.mark.parametrize(
    ("said", "kind", "status"),
    [
        (error("UNAVAILABLE", "m", 503), UpstreamUnavailable, 503),
        (error("RESOURCE_EXHAUSTED"), UpstreamRateLimited, 429),
        (error("", "m", "400"), UpstreamRejected, 400),
        (error("INVALID_ARGUMENT", TOO_LONG), ContextTooLong, 400),
        (error("", "m", 200), UpstreamUnavailable, 502),
        (error("", "m", 99_999), UpstreamUnavailable, 502),
        ([error("NOT_FOUND", "m", 404)], ModelUnavailable, 404),
        ({"error": "out of memory"}, UpstreamUnavailable, 502),
        (None, UpstreamUnavailable, 502),
    ],
)
def test_an_error_in_a_stream_means_what_its_own_status_would(
    said: Any, kind: type[UpstreamFailure], status: int
) -> None:
    made = failure_in_band(TARGET, said)
    assert type(made) is kind
    assert made.upstream_status == status


@pytest.mark.parametrize("word", sorted(STATUS_OF))
def test_every_canonical_code_has_a_class(word: str) -> None:
    made = failure_in_band(TARGET, error(word))
    expected = AccountFailure if word == "FAILED_PRECONDITION" else failure_class(STATUS_OF[word])
    assert type(made) is expected


@pytest.mark.parametrize("status", range(100, 600))
def test_every_status_is_an_upstream_failure_and_the_sdk_reads_the_same_words(status: int) -> None:
    body = error("SOMETHING", "words", status)
    made = failure(status, body)
    theirs = sdk.APIError(status, body)
    assert (made.upstream_status, made.upstream_code) == (theirs.code, theirs.status)
    assert made.detail == f"{status} {theirs.status}: {type(made).__name__}"


@given(st.integers(100, 599), st.binary(max_size=60))
def test_any_error_response_is_a_failure(status: int, body: bytes) -> None:
    assert isinstance(failure(status, body), UpstreamFailure)
