"""What error responses and in-band errors mean."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog.model import Quirk
from core.errors import (
    AccountFailure,
    BadReply,
    ContentRefused,
    ContextTooLong,
    ModelUnavailable,
    Recovery,
    UpstreamFailure,
    UpstreamRateLimited,
    UpstreamRejected,
    UpstreamUnavailable,
)
from core.providers.openai import OpenAIFormat
from core.providers.openai.errors import failure_in_band
from tests.support.targets import make_target, make_vendor

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def failure(status: int, body: Any, *quirks: Quirk, headers: dict[str, str] | None = None) -> UpstreamFailure:
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    to = make_target(vendor=make_vendor(quirks=frozenset(quirks), renames={"seed": "random_seed"}))
    made = OpenAIFormat().decode_error(to, status, headers or {}, raw, NOW)
    assert isinstance(made, UpstreamFailure)
    return made


def error(code: Any = None, type_: str | None = None, message: str = "m", **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": type_, "param": None, "code": code, **more}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        # OpenAI
        (400, error("context_length_exceeded", "invalid_request_error"), ContextTooLong),
        (400, error("unsupported_parameter", "invalid_request_error"), UpstreamRejected),
        (400, error("content_policy_violation"), ContentRefused),
        (400, error("invalid_prompt", "invalid_request_error"), ContentRefused),
        (400, error(None, "invalid_request_error", misalignment={"error_type": "other"}), ContentRefused),
        (400, error("billing_hard_limit_reached"), AccountFailure),
        (401, error("invalid_api_key"), AccountFailure),
        (403, error("unsupported_country_region_territory"), AccountFailure),
        (403, error("model_not_found"), AccountFailure),
        (404, error("model_not_found"), ModelUnavailable),
        (409, error(), UpstreamUnavailable),
        (413, error(), UpstreamRejected),
        (422, error(), UpstreamRejected),
        (429, error("rate_limit_exceeded", "tokens"), UpstreamRateLimited),
        (429, error("slow_down", "rate_limit_error"), UpstreamRateLimited),
        (429, error("insufficient_quota", "insufficient_quota"), AccountFailure),
        (429, error("credit_balance_exhausted", "insufficient_quota"), AccountFailure),
        (429, error("organization_usage_limit_exceeded"), AccountFailure),
        (429, error("organization_spend_limit_exceeded"), AccountFailure),
        (429, error("project_spend_limit_exceeded"), AccountFailure),
        (429, error("resource_unavailable"), ModelUnavailable),
        (500, error(None, "server_error"), UpstreamUnavailable),
        (503, error("server_is_overloaded", "service_unavailable_error"), UpstreamUnavailable),
        (504, b"", UpstreamUnavailable),
        # Azure OpenAI
        (400, error("content_filter", innererror={"code": "ResponsibleAIPolicyViolation"}), ContentRefused),
        (404, error("DeploymentNotFound"), ModelUnavailable),
        (400, error("DeploymentNotFound"), ModelUnavailable),
        # vLLM, llama.cpp
        (400, {"object": "error", "message": "maximum context length is 8 tokens", "code": 400}, ContextTooLong),
        (400, error(400, "exceed_context_size_error", n_ctx=8), ContextTooLong),
        (400, error(400, None, "request exceeds the available context size"), ContextTooLong),
        (404, {"object": "error", "message": "The model `x` does not exist.", "code": 404}, ModelUnavailable),
        (503, error(503, "unavailable_error", "Loading model"), UpstreamUnavailable),
        # Groq
        (400, error("tool_use_failed", "invalid_request_error", failed_generation="<f>"), BadReply),
        (400, error("model_decommissioned", "invalid_request_error"), ModelUnavailable),
        (413, error("rate_limit_exceeded", "tokens"), ModelUnavailable),
        (498, error("capacity_exceeded"), ModelUnavailable),
        # Together, DeepSeek, Mistral, xAI
        (402, error(), AccountFailure),
        (403, error(), AccountFailure),
        (402, error(None, "unknown_error", "Insufficient Balance"), AccountFailure),
        (422, {"detail": [{"loc": ["body", "foo"], "msg": "Extra inputs are not permitted"}]}, UpstreamRejected),
        (400, error("invalid_api_key"), AccountFailure),
        # OpenRouter
        (403, error(403, metadata={"reasons": ["violence"], "flagged_input": "x"}), ContentRefused),
        (400, error(400, metadata={"error_type": "context_length_exceeded"}), ContextTooLong),
        (400, error(400, metadata={"error_type": "content_policy_violation"}), ContentRefused),
        (408, error(408), UpstreamUnavailable),
        (502, error(502, metadata={"error_type": "provider_unavailable"}), UpstreamUnavailable),
        (529, error(529), UpstreamUnavailable),
        # proxies
        (502, b"<html>502 Bad Gateway</html>", UpstreamUnavailable),
        (400, b"", UpstreamRejected),
        (301, b"", BadReply),
    ],
)
def test_every_error_has_its_class(status: int, body: Any, kind: type[UpstreamFailure]) -> None:
    assert type(failure(status, body)) is kind


def test_one_hosts_403_is_about_length() -> None:
    assert type(failure(403, error(), Quirk.FORBIDDEN_IS_TOO_LONG)) is ContextTooLong


@pytest.mark.parametrize("status", [401, 402, 403, 404, 408, 409, 422, 429, 500, 503])
def test_prose_decides_nothing_elsewhere(status: int) -> None:
    said = error(None, None, "This model's maximum context length is 8 tokens, rate limit, invalid api key")
    assert type(failure(status, said)) is type(failure(status, error()))


@pytest.mark.parametrize(
    "words",
    [
        "Incorrect API key provided: sk-abc***",
        "Your credit balance is too low to access the API.",
        "Insufficient Balance",
        "You exceeded your current quota, please check your plan.",
    ],
)
def test_the_operators_trouble_told_in_prose_asks_another_host(words: str) -> None:
    assert type(failure(400, error(None, "invalid_request_error", words))) is AccountFailure
    assert type(failure(400, {"message": words, "code": 400})) is AccountFailure
    assert type(failure(400, error("invalid_value", None, words))) is UpstreamRejected
    assert type(failure(422, error(None, None, words))) is UpstreamRejected


def test_billing_is_never_waited_for() -> None:
    assert failure(429, error("insufficient_quota")).recovery is Recovery.OPERATOR


@pytest.mark.parametrize("code", [None, "context_length_exceeded", "unknown"])
def test_every_status_with_any_code_is_an_upstream_failure(code: str | None) -> None:
    for status in range(100, 600):
        assert failure(status, error(code)).upstream_status == status


def test_what_the_operator_gets() -> None:
    made = failure(429, error("rate_limit_exceeded", message="Limit in org-123 at Lab"), headers={"retry-after": "9"})
    assert type(made) is UpstreamRateLimited
    assert made.retry_after_s == 9
    assert made.detail == "429 rate_limit_exceeded: UpstreamRateLimited"
    assert made.upstream_code == "rate_limit_exceeded"
    assert "Lab" not in made.message
    assert failure(500, error(None, "server_error")).upstream_code == "server_error"


def test_what_the_caller_gets_for_a_wrong_request() -> None:
    made = failure(400, error("unsupported_parameter", message="Unknown 'x' at Lab", param="random_seed"))
    assert made.param == "seed"
    assert made.code == "unsupported_parameter"
    assert made.message.endswith("It says: Unknown 'x' at the host")
    assert failure(400, error("odd_code", param="x" * 201)).param is None
    assert failure(400, error("odd_code", param="n")).param == "n"
    assert failure(400, error("odd_code")).code == "invalid_value"
    assert failure(500, error("odd", param="n")).param is None


@pytest.mark.parametrize(
    ("said", "kind", "status"),
    [
        (error(), UpstreamUnavailable, 502),
        (error(429), UpstreamRateLimited, 429),
        (error("503"), UpstreamUnavailable, 503),
        (error(99_999), UpstreamUnavailable, 502),
        (error(200), UpstreamUnavailable, 502),
        (error("context_length_exceeded"), ContextTooLong, 400),
        (error(None, "invalid_request_error"), UpstreamRejected, 400),
        (error("invalid_api_key"), AccountFailure, 401),
        (error("model_not_found"), ModelUnavailable, 404),
        (error("rate_limit_exceeded", "tokens"), UpstreamRateLimited, 429),
        (error("insufficient_quota", "insufficient_quota"), AccountFailure, 429),
        (error("server_is_overloaded"), UpstreamUnavailable, 503),
        (error("content_filter"), ContentRefused, 400),
        (error("tool_use_failed"), BadReply, 400),
        ({"error": "out of memory"}, UpstreamUnavailable, 502),
        ([error(503)], UpstreamUnavailable, 503),
        ("slot unavailable", UpstreamUnavailable, 502),
        (None, UpstreamUnavailable, 502),
    ],
)
def test_an_error_in_a_stream_means_what_its_own_status_would(
    said: Any, kind: type[UpstreamFailure], status: int
) -> None:
    made = failure_in_band(make_target(), said)
    assert type(made) is kind
    assert made.upstream_status == status


@given(st.integers(100, 599), st.binary(max_size=60))
def test_any_error_response_is_a_failure(status: int, body: bytes) -> None:
    assert failure(status, body).upstream_status == status
