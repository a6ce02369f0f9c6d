"""What errors mean: by the exception's name, else by the status, and by prose in two cases alone."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from core.catalog.model import Format
from core.errors import (
    AccountFailure,
    ContextTooLong,
    GatewayError,
    ModelUnavailable,
    UpstreamFailure,
    UpstreamRateLimited,
    UpstreamRejected,
    UpstreamUnavailable,
)
from core.providers.bedrock import BedrockFormat
from core.providers.bedrock.errors import failure_in_band, failure_of
from tests.support.targets import make_target, make_vendor

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
TARGET = make_target("us.lab.small-v1:0", vendor=make_vendor("bedrock-eu", format=Format.BEDROCK))


def failure(status: int, name: str = "", message: str = "", headers: Any = None, **members: Any) -> UpstreamFailure:
    told = {"x-amzn-errortype": name} if name else {}
    body = orjson.dumps({"message": message, **members})
    return failure_of(TARGET, status, {**told, **(headers or {})}, body, NOW)


@pytest.mark.parametrize(
    ("status", "name", "kind"),
    [
        (400, "ValidationException", UpstreamRejected),
        (400, "ServiceQuotaExceededException", ModelUnavailable),
        (403, "AccessDeniedException", AccountFailure),
        (403, "UnrecognizedClientException", AccountFailure),
        (400, "UnrecognizedClientException", AccountFailure),
        (403, "InvalidSignatureException", AccountFailure),
        (403, "ExpiredTokenException", AccountFailure),
        (400, "ExpiredToken", AccountFailure),
        (403, "InvalidClientTokenId", AccountFailure),
        (404, "ResourceNotFoundException", ModelUnavailable),
        (408, "ModelTimeoutException", UpstreamUnavailable),
        (424, "ModelErrorException", UpstreamUnavailable),
        (429, "ThrottlingException", UpstreamRateLimited),
        (429, "ModelNotReadyException", UpstreamUnavailable),
        (500, "InternalServerException", UpstreamUnavailable),
        (503, "ServiceUnavailableException", UpstreamUnavailable),
        (529, "", UpstreamUnavailable),
        (429, "", UpstreamRateLimited),
        (403, "", AccountFailure),
        (418, "TeapotException", UpstreamRejected),
    ],
)
def test_each_exception_has_its_class(status: int, name: str, kind: type[UpstreamFailure]) -> None:
    error = failure(status, name, "said")
    assert type(error) is kind
    assert error.upstream_status == status
    assert error.upstream_code == (name or None)
    assert error.detail == (f"{status} {name}: {kind.__name__}" if name else f"{status}: {kind.__name__}")


@pytest.mark.parametrize(
    "name",
    [
        "ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/",
        "com.amazon.coral.availability#ThrottlingException",
        " ThrottlingException ",
    ],
)
def test_names_come_with_where_they_are_from(name: str) -> None:
    error = failure(400, name)
    assert error.upstream_code == "ThrottlingException"


def test_the_body_may_tell_the_name() -> None:
    error = failure(400, __type="com.amazon.coral.service#ExpiredTokenException", Message="Expired.")
    assert type(error) is AccountFailure
    assert error.detail == "400 ExpiredTokenException: AccountFailure"
    assert failure(400, code="AccessDeniedException", __type=5).upstream_code == "AccessDeniedException"


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Input is too long for requested model.", ContextTooLong),
        ("The model returned the following errors: prompt is too long: 9 tokens > 8 maximum", ContextTooLong),
        ("Too many input tokens", ContextTooLong),
        ("Invocation of model ID x with on-demand throughput isn\u2019t supported.", ModelUnavailable),
        ("The provided model identifier is invalid.", ModelUnavailable),
        ("Malformed input request", UpstreamRejected),
    ],
)
def test_a_wrong_request_may_be_something_else(message: str, kind: type[UpstreamFailure]) -> None:
    assert type(failure(400, "ValidationException", message)) is kind
    assert type(failure(403, "AccessDeniedException", message)) is AccountFailure
    assert type(failure(400, "ServiceQuotaExceededException", message)) is ModelUnavailable
    assert type(failure(500, "InternalServerException", message)) is UpstreamUnavailable


@pytest.mark.parametrize(
    ("original", "kind"),
    [
        (400, UpstreamRejected),
        (404, ModelUnavailable),
        (429, UpstreamRateLimited),
        (500, UpstreamUnavailable),
        (200, UpstreamUnavailable),
        (999, UpstreamUnavailable),
        ("400", UpstreamUnavailable),
        (None, UpstreamUnavailable),
    ],
)
def test_a_models_failure_is_classed_by_what_the_model_answered(original: Any, kind: type[UpstreamFailure]) -> None:
    assert type(failure(424, "ModelErrorException", "m", originalStatusCode=original)) is kind
    said = {"message": "m", "originalStatusCode": original}
    assert type(failure_in_band(TARGET, "modelStreamErrorException", said)) is kind


def test_a_models_own_words() -> None:
    error = failure_in_band(
        TARGET, "modelErrorException", {"originalStatusCode": 400, "originalMessage": "too many input tokens"}
    )
    assert type(error) is ContextTooLong
    assert error.detail == "424 modelErrorException: ContextTooLong"


@pytest.mark.parametrize(
    ("name", "kind", "status"),
    [
        ("throttlingException", UpstreamRateLimited, 429),
        ("ThrottlingException", UpstreamRateLimited, 429),
        ("validationException", UpstreamRejected, 400),
        ("serviceUnavailableException", UpstreamUnavailable, 503),
        ("internalServerException", UpstreamUnavailable, 500),
        ("accessDeniedException", AccountFailure, 403),
        ("somethingNewException", UpstreamUnavailable, 500),
        ("", UpstreamUnavailable, 500),
    ],
)
def test_in_a_stream_the_name_stands_for_the_status(name: str, kind: type[UpstreamFailure], status: int) -> None:
    error = failure_in_band(TARGET, name, {"message": "m"})
    assert type(error) is kind
    assert error.upstream_status == status


def test_a_wait_is_passed_on() -> None:
    assert failure(429, "ThrottlingException", headers={"retry-after": "7"}).retry_after_s == 7
    assert failure(429, "ThrottlingException").retry_after_s is None


@pytest.mark.parametrize("body", [b"", b"<html>Bad Gateway</html>", b"[]", b"null", b'"text"', b'{"message":{"a":1}}'])
def test_any_body_will_do(body: bytes) -> None:
    error: GatewayError = BedrockFormat().decode_error(TARGET, 502, {}, body, NOW)
    assert type(error) is UpstreamUnavailable


def test_callers_are_told_without_the_hosts_names() -> None:
    said = "The model us.lab.small-v1:0 on Amazon Bedrock (bedrock-eu) wants arn:aws:bedrock:us-east-1:123456789012:x"
    error = failure(400, "ValidationException", said)
    assert "amazon" not in error.message.lower()
    assert "bedrock-eu" not in error.message
    assert error.upstream_code == "ValidationException"
