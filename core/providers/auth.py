"""Puts a vendor's credential on a call, by the vendor's auth style; the only place that does."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from core.catalog.model import Auth
from core.errors import AccountFailure
from core.providers import sigv4
from core.providers.base import Credential, Outgoing

_HEADERS: Final[Mapping[Auth, str]] = {
    Auth.BEARER: "authorization",
    Auth.X_API_KEY: "x-api-key",
    Auth.API_KEY: "api-key",
    Auth.GOOGLE: "x-goog-api-key",
}
_NO_ACCESS: Final = "The gateway has no access to the model at the moment. Choose another model."
_SIGNING_NAME: Final = "bedrock"

_SENDABLE: Final = re.compile(r"[\x21-\x7e]+(?:[ \t]+[\x21-\x7e]+)*")
"""What the value of a header may be (RFC 9110 section 5.5), without the bytes that have no meaning any more."""


def signed(outgoing: Outgoing, credential: Credential, now: datetime) -> Outgoing:
    """The call with its vendor's credential on it.

    A vendor that takes AWS signatures takes a Bedrock API key as bearer as well ("Amazon Bedrock API keys",
    read 2026-11-30): it is used when there are no AWS credentials.

    Raises:
        AccountFailure: The credential lacks what the vendor wants, or cannot be sent in a header.
    """
    vendor = outgoing.target.vendor
    if vendor.auth is Auth.NONE:
        return outgoing
    if vendor.auth is Auth.SIGV4 and credential.access_key:
        return _with(outgoing, _aws(outgoing, credential, now))
    if not credential.key:
        raise _incomplete(outgoing, "no key")
    _check_sendable(outgoing, credential.key)
    name = _HEADERS.get(vendor.auth, "authorization")
    value = f"Bearer {credential.key}" if name == "authorization" else credential.key
    return _with(outgoing, {name: value})


def _aws(outgoing: Outgoing, credential: Credential, now: datetime) -> Mapping[str, str]:
    region = outgoing.target.vendor.region
    if not credential.access_key or not credential.secret_key:
        raise _incomplete(outgoing, "no AWS secret key")
    if not region:
        raise _incomplete(outgoing, "no AWS region")
    _check_sendable(outgoing, credential.access_key, credential.secret_key, credential.session_token)
    return sigv4.sign(
        outgoing.method,
        outgoing.url,
        outgoing.headers,
        outgoing.body,
        access_key=credential.access_key,
        secret_key=credential.secret_key,
        session_token=credential.session_token,
        region=region,
        service=_SIGNING_NAME,
        now=now,
    )


def _check_sendable(outgoing: Outgoing, *secrets: str | None) -> None:
    if any(secret and _SENDABLE.fullmatch(secret) is None for secret in secrets):
        raise _incomplete(outgoing, "a credential with characters that no header can hold")


def _with(outgoing: Outgoing, headers: Mapping[str, str]) -> Outgoing:
    return replace(outgoing, headers={**outgoing.headers, **headers})


def _incomplete(outgoing: Outgoing, lack: str) -> AccountFailure:
    return AccountFailure(_NO_ACCESS, detail=f"{outgoing.target.vendor.name}: {lack}")
