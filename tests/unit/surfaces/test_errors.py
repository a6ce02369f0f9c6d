"""Failures as callers see them: status, headers and envelope."""

import pytest

from core.accounts.keys import make_key
from core.accounts.operator import make_operator_key
from core.errors import (
    Conflict,
    GatewayError,
    InvalidRequest,
    Overloaded,
    RateLimited,
    StoreUnavailable,
    Unprocessable,
    UpstreamRateLimited,
    UpstreamUnavailable,
)
from core.surfaces.errors import error_answer, error_object
from core.surfaces.headers import DEFAULT_PREFIX, answer_headers

ID = "req-" + "0" * 32


def every_class(root: type[GatewayError] = GatewayError) -> list[type[GatewayError]]:
    return [root, *(each for child in root.__subclasses__() for each in every_class(child))]


def test_an_envelope_in_full() -> None:
    status, headers, body = error_answer(InvalidRequest("'n' is wrong.", param="n"), ID, DEFAULT_PREFIX)
    assert status == 400
    assert headers == {"X-Inferbase-Request-Id": ID, "x-request-id": ID, "x-should-retry": "false"}
    assert body == {
        "error": {
            "message": "'n' is wrong.",
            "type": "invalid_request_error",
            "param": "n",
            "code": "invalid_value",
        },
        "request_id": ID,
    }


@pytest.mark.parametrize("kind", every_class(), ids=lambda kind: kind.__name__)
def test_every_failure_has_a_status_a_type_and_a_code(kind: type[GatewayError]) -> None:
    status, headers, body = error_answer(kind("Something."), ID, "X-Own-")
    assert 400 <= status < 600
    assert set(body["error"]) == {"message", "type", "param", "code"}
    assert body["error"]["type"]
    assert body["error"]["code"]
    assert headers["X-Own-Request-Id"] == ID


@pytest.mark.parametrize(("seconds", "header"), [(0, "1"), (0.2, "1"), (1, "1"), (1.01, "2"), (90.5, "91")])
def test_waits_are_whole_seconds_rounded_up(seconds: float, header: str) -> None:
    _, headers, _ = error_answer(RateLimited("Slow down.", retry_after_s=seconds), ID, DEFAULT_PREFIX)
    assert headers["Retry-After"] == header


@pytest.mark.parametrize("kind", every_class(), ids=lambda kind: kind.__name__)
def test_a_wait_is_told_only_where_a_repeat_can_help(kind: type[GatewayError]) -> None:
    status, headers, _ = error_answer(kind("x", retry_after_s=9), ID, DEFAULT_PREFIX)
    assert ("Retry-After" in headers) is kind.repeatable
    assert status in (429, 503) or "Retry-After" not in headers


@pytest.mark.parametrize(
    ("error", "may"),
    [
        (RateLimited("x"), True),
        (RateLimited("x", retry_after_s=60), True),
        (RateLimited("x", retry_after_s=60.5), False),
        (Overloaded("x", retry_after_s=3600), False),
        (UpstreamRateLimited("x"), False),
        (UpstreamRateLimited("x", retry_after_s=1), False),
        (Overloaded("x"), True),
        (StoreUnavailable("x"), True),
        (Conflict("x", code="idempotency_in_progress"), True),
        (Conflict("x"), False),
        (UpstreamUnavailable("x", code="all_attempts_failed"), False),
        (Unprocessable("x"), False),
        (GatewayError("x"), False),
    ],
    ids=lambda value: value.code if isinstance(value, GatewayError) else "",
)
def test_clients_are_told_not_to_repeat_what_a_repeat_cannot_mend(error: GatewayError, may: bool) -> None:
    _, headers, _ = error_answer(error, ID, DEFAULT_PREFIX)
    assert ("x-should-retry" in headers) != may


def test_a_long_wait_is_told_all_the_same() -> None:
    for error in (RateLimited("x", retry_after_s=48_240), UpstreamRateLimited("x", retry_after_s=48_240)):
        _, headers, _ = error_answer(error, ID, DEFAULT_PREFIX)
        assert (headers["Retry-After"], headers["x-should-retry"]) == ("48240", "false")


@pytest.mark.parametrize("key", [make_key(bytes(range(64))), make_operator_key(bytes(range(64)))])
@pytest.mark.parametrize("cut", [None, -1, 20])
def test_a_key_that_was_sent_in_the_wrong_place_is_not_told(key: str, cut: int | None) -> None:
    sent = key[:cut]
    error = InvalidRequest(f"'messages[0].{sent}' and /v1/{sent}/x are not known.", param=f"messages[0].{sent}.a")
    _, _, body = error_answer(error, ID, DEFAULT_PREFIX)
    prefix = key.partition("_")[0]
    assert body["error"]["message"] == f"'messages[0].{prefix}_...' and /v1/{prefix}_.../x are not known."
    assert body["error"]["param"] == f"messages[0].{prefix}_....a"
    assert error_object(error) == body["error"]


@pytest.mark.parametrize("text", ["hr_", "hr_short", "chr_name", "hr", "three_things", "hr-0123456789abcdef"])
def test_what_is_no_key_is_left(text: str) -> None:
    assert error_object(InvalidRequest(text))["message"] == text


def test_headers_of_an_answer() -> None:
    assert answer_headers("X-Own-", ID, model="lab/small", cost_micros=0, latency_ms=12) == {
        "X-Own-Request-Id": ID,
        "x-request-id": ID,
        "X-Own-Model": "lab/small",
        "X-Own-Cost-Micros": "0",
        "X-Own-Latency-Ms": "12",
    }
    assert answer_headers("X-Own-", ID) == {"X-Own-Request-Id": ID, "x-request-id": ID}
