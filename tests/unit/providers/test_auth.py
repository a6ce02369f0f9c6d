from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.catalog.model import Auth
from core.errors import AccountFailure, Recovery
from core.providers import sigv4
from core.providers.auth import signed
from core.providers.base import Credential, Outgoing
from tests.support.targets import make_target, make_vendor

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
AWS = Credential(access_key="AKIDEXAMPLE", secret_key="secret", session_token="token")
URL = "https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1/chat/completions"


def call(auth: Auth, region: str | None = None) -> Outgoing:
    vendor = make_vendor(auth=auth, region=region)
    return Outgoing(make_target(vendor=vendor), URL, {"accept": "text/event-stream"}, b"{}")


@pytest.mark.parametrize(
    ("auth", "name", "value"),
    [
        (Auth.BEARER, "authorization", "Bearer k"),
        (Auth.X_API_KEY, "x-api-key", "k"),
        (Auth.API_KEY, "api-key", "k"),
        (Auth.GOOGLE, "x-goog-api-key", "k"),
        (Auth.SIGV4, "authorization", "Bearer k"),
    ],
)
def test_a_key_goes_where_the_vendor_wants_it(auth: Auth, name: str, value: str) -> None:
    sent = signed(call(auth), Credential(key="k"), NOW)
    assert sent.headers == {"accept": "text/event-stream", name: value}


def test_no_credential_where_none_is_wanted() -> None:
    outgoing = call(Auth.NONE)
    assert signed(outgoing, Credential(), NOW) is outgoing


def test_aws_credentials_sign_the_call() -> None:
    outgoing = call(Auth.SIGV4, "us-east-1")
    expected = sigv4.sign(
        "POST",
        URL,
        outgoing.headers,
        b"{}",
        access_key="AKIDEXAMPLE",
        secret_key="secret",
        session_token="token",
        region="us-east-1",
        service="bedrock",
        now=NOW,
    )
    assert signed(outgoing, AWS, NOW).headers == {**outgoing.headers, **expected}


@pytest.mark.parametrize(
    ("outgoing", "credential", "lack"),
    [
        (call(Auth.BEARER), Credential(), "no key"),
        (call(Auth.SIGV4, "us-east-1"), Credential(), "no key"),
        (call(Auth.SIGV4, "us-east-1"), Credential(access_key="A"), "no AWS secret key"),
        (call(Auth.SIGV4), AWS, "no AWS region"),
    ],
)
def test_what_is_missing_is_the_operators_business(outgoing: Outgoing, credential: Credential, lack: str) -> None:
    with pytest.raises(AccountFailure) as caught:
        signed(outgoing, credential, NOW)
    assert caught.value.detail == f"lab: {lack}"
    assert caught.value.recovery is Recovery.OPERATOR
    assert "lab" not in caught.value.message


UNSENDABLE = ["schlüssel", "sk-\u20ac", "sk-1\n", " sk-1", "sk-1\t", "sk\x00", "sk\udcff", "a\r\nx-evil: 1"]


@pytest.mark.parametrize("secret", UNSENDABLE, ids=ascii)
@pytest.mark.parametrize("auth", [auth for auth in Auth if auth is not Auth.NONE])
def test_a_key_that_no_header_can_hold_is_the_accounts_failure(auth: Auth, secret: str) -> None:
    with pytest.raises(AccountFailure) as caught:
        signed(call(auth, "us-east-1"), Credential(key=secret), NOW)
    assert caught.value.detail == "lab: a credential with characters that no header can hold"
    assert secret not in caught.value.message


@pytest.mark.parametrize("secret", UNSENDABLE, ids=ascii)
@pytest.mark.parametrize("name", ["access_key", "secret_key", "session_token"])
def test_aws_credentials_that_no_header_can_hold_are_too(name: str, secret: str) -> None:
    with pytest.raises(AccountFailure):
        signed(call(Auth.SIGV4, "us-east-1"), replace(AWS, **{name: secret}), NOW)
