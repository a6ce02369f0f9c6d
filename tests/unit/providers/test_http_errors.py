from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import orjson
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
    LONGEST_WAIT_S,
    MAX_MESSAGE,
    ErrorBody,
    duration_s,
    error_of,
    failure_class,
    failure_detail,
    machine_word,
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


@pytest.mark.parametrize(
    "body",
    [
        b"<html>" + b"x" * 9_000,
        orjson.dumps("x" * 9_000),
        orjson.dumps({"message": "x" * 9_000}),
        orjson.dumps({"error": "x" * 9_000}),
        orjson.dumps({"error": {"message": "x" * 9_000}}),
        orjson.dumps({"detail": "x" * 9_000}),
        orjson.dumps({"detail": [{"msg": "x" * 9_000}]}),
    ],
)
def test_messages_are_cut_short_in_every_form(body: bytes) -> None:
    assert len(read_error(body).message) == MAX_MESSAGE


def test_the_path_of_a_field_is_cut_short() -> None:
    said = error_of({"detail": [{"loc": ["x" * 9_000] * 9_000, "msg": "m"}]})
    assert len(said.param or "") < 3_000


@pytest.mark.parametrize(
    ("said", "word"),
    [
        (ErrorBody(code="c"), "c"),
        (ErrorBody(type="t"), "t"),
        (ErrorBody(code="400", type="t"), "t"),
        (ErrorBody(code="400"), "400"),
        (ErrorBody(code="sk-proj-abcDEF1234", type="t"), "t"),
        (ErrorBody(), ""),
    ],
)
def test_the_most_telling_word_wins(said: ErrorBody, word: str) -> None:
    assert said.word == word


@pytest.mark.parametrize("word", ["invalid_request_error", "RESOURCE_EXHAUSTED", "rate-limit.429", "1305", "E.1.2"])
def test_codes_are_words(word: str) -> None:
    assert machine_word(word) == machine_word(f" {word} ") == word


@pytest.mark.parametrize(
    "text",
    ["", "my secret prompt", "sk-proj-abcDEF1234", "a_" * 40 + "a", "a" * 65, "5f3a9c", "123456", "\u202ea", "a__b"],
)
def test_what_may_be_a_text_or_a_key_is_no_code(text: str) -> None:
    assert machine_word(text) == ""


def test_a_detail_says_status_code_and_class() -> None:
    assert failure_detail(BadReply, 200, "") == "200: BadReply"
    assert failure_detail(AccountFailure, 401, "invalid_api_key") == "401 invalid_api_key: AccountFailure"


@given(st.binary(max_size=80))
def test_any_body_is_read(body: bytes) -> None:
    assert len(read_error(body).message) <= MAX_MESSAGE


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "86400"}, 86_400.0),
        ({"retry-after": "86401"}, None),
        ({"retry-after-ms": "86400001"}, None),
        ({"retry-after": format_datetime(NOW + timedelta(days=2), usegmt=True)}, None),
        ({"x-ratelimit-reset": "2d"}, None),
        ({"x-ratelimit-reset-requests": "9" * 400 + "s"}, None),
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
    assert seconds is None or 0 <= seconds <= LONGEST_WAIT_S


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("34.07s", 34.07), ("1h2m", 3_720.0), ("2d", 172_800.0), ("s", None), ("", None), ("5", None), ("5s later", None)],
)
def test_durations_are_read(text: str, seconds: float | None) -> None:
    assert duration_s(text) == seconds
