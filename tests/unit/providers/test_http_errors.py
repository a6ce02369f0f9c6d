from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import (
    AccountFailure,
    BadReply,
    ModelUnavailable,
    Recovery,
    UpstreamFailure,
    UpstreamRateLimited,
    UpstreamRejected,
    UpstreamUnavailable,
)
from core.providers.http_errors import (
    MAX_DETAIL,
    ErrorBody,
    duration_s,
    error_of,
    failure_class,
    read_error,
    retry_after_s,
)

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def test_every_status_has_a_class() -> None:
    assert all(issubclass(failure_class(status), UpstreamFailure) for status in range(100, 600))


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (200, BadReply),
        (302, BadReply),
        (400, UpstreamRejected),
        (401, AccountFailure),
        (402, AccountFailure),
        (403, AccountFailure),
        (404, ModelUnavailable),
        (408, UpstreamUnavailable),
        (409, UpstreamUnavailable),
        (413, UpstreamRejected),
        (418, UpstreamRejected),
        (422, UpstreamRejected),
        (429, UpstreamRateLimited),
        (498, ModelUnavailable),
        (500, UpstreamUnavailable),
        (503, UpstreamUnavailable),
        (529, UpstreamUnavailable),
    ],
)
def test_statuses_mean_what_the_reference_says(status: int, kind: type[UpstreamFailure]) -> None:
    assert failure_class(status) is kind


def test_an_unknown_client_error_is_never_retried() -> None:
    assert failure_class(444).recovery is Recovery.CALLER


@pytest.mark.parametrize(
    ("body", "message", "code", "type_"),
    [
        (b'{"error":{"message":"m","type":"t","code":"c"}}', "m", "c", "t"),
        (b'{"error":{"message":"m","code":503}}', "m", "503", ""),
        (b'[{"error":{"message":"m","status":"UNAVAILABLE"}}]', "m", "", ""),
        (b'{"error":"m","code":"c"}', "m", "c", ""),
        (b'{"object":"error","message":"m","type":"t","code":40}', "m", "40", "t"),
        (b'{"detail":"m"}', "m", "", ""),
        (b'{"detail":[{"loc":["body","messages",0],"msg":"m","type":"missing"}]}', "m", "", "missing"),
        (b'{"detail":{"message":"m"}}', "m", "", ""),
        (b'{"detail":[{"msg":"m","loc":"body"}]}', "m", "", ""),
        (b'{"message":"m"}', "m", "", ""),
        (b'{"error":{}}', "", "", ""),
        (b'{"error":{"message":["m"],"code":true}}', "", "", ""),
        (b'"m"', "m", "", ""),
        (b"null", "", "", ""),
        (b"[]", "", "", ""),
        (b" Bad gateway\n", "Bad gateway", "", ""),
        (b"", "", "", ""),
        (b"\xff", "\ufffd", "", ""),
    ],
)
def test_every_form_of_an_error_body_is_read(body: bytes, message: str, code: str, type_: str) -> None:
    said = read_error(body)
    assert (said.message, said.code, said.type) == (message, code, type_)


def test_the_field_at_fault_is_read() -> None:
    assert read_error(b'{"error":{"message":"m","param":"tools[0]"}}').param == "tools[0]"
    assert read_error(b'{"error":{"message":"m","param":""}}').param is None
    assert read_error(b'{"detail":[{"loc":["body","messages",0,"role"],"msg":"m"}]}').param == "messages.0.role"


def test_the_whole_error_object_is_kept() -> None:
    assert error_of({"error": {"status": "X"}}).fields == {"status": "X"}


def test_details_are_cut_short() -> None:
    assert len(read_error(b"<html>" + b"x" * 9_000).message) == MAX_DETAIL
    assert ErrorBody(message="m", code="c").detail == "c: m"
    assert ErrorBody(message="m", type="t").detail == "t: m"
    assert ErrorBody(message="m", code="400", type="t").detail == "t: m"
    assert ErrorBody(message="m", code="400").detail == "400: m"
    assert len(ErrorBody(message="m" * 9_000).detail) == MAX_DETAIL


@given(st.binary(max_size=80))
def test_any_body_is_read(body: bytes) -> None:
    assert len(read_error(body).detail) <= MAX_DETAIL


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "86400"}, 86_400.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": format_datetime(NOW + timedelta(seconds=40), usegmt=True)}, 40.0),
        ({"retry-after": format_datetime(NOW - timedelta(seconds=40), usegmt=True)}, 0.0),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 -0000"}, 30.0),
        ({"retry-after": "tomorrow"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e999"}, None),
        ({"x-ratelimit-reset-requests": "7m12s", "x-ratelimit-reset-tokens": "120ms"}, 0.12),
        (
            {
                "x-ratelimit-reset-requests": "7m12s",
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-tokens": "120ms",
            },
            432.0,
        ),
        ({"anthropic-ratelimit-requests-reset": "2026-11-30T12:00:05Z"}, 5.0),
        ({"anthropic-ratelimit-requests-reset": "2026-11-30T12:00:05"}, 5.0),
        ({"x-ratelimit-reset": str(int(NOW.timestamp()) + 9)}, 9.0),
        ({"x-ratelimit-reset": str((int(NOW.timestamp()) + 9) * 1000)}, 9.0),
        ({"x-ratelimit-reset": "3"}, 3.0),
        ({"x-ratelimit-reset": "whenever"}, None),
    ],
)
def test_every_form_of_a_wait_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, NOW) == seconds


@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", "x-ratelimit-reset"]), st.text(max_size=30)))
def test_any_header_gives_a_sensible_wait(headers: dict[str, str]) -> None:
    seconds = retry_after_s(headers, NOW)
    assert seconds is None or 0 <= seconds < float("inf")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("34.07s", 34.07), ("1h2m", 3_720.0), ("2d", 172_800.0), ("s", None), ("", None), ("5", None), ("5s later", None)],
)
def test_durations_are_read(text: str, seconds: float | None) -> None:
    assert duration_s(text) == seconds
