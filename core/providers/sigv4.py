"""AWS Signature Version 4: the headers that sign one request; it sends nothing and keeps no key.

For every AWS service except S3, which has path rules of its own.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from hmac import digest
from typing import Final
from urllib.parse import quote, unquote_to_bytes, urlsplit

_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_TERMINATOR: Final = "aws4_request"
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}

# Set anew by every signature; the ones of an earlier try must not be signed again.
_OWN: Final = frozenset({"authorization", "x-amz-date", "x-amz-security-token"})

# Proxies and transports may add or change these on the way (the list of botocore 1.43.127).
_UNSIGNED: Final = frozenset(
    {
        "baggage",
        "connection",
        "expect",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "traceparent",
        "tracestate",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
        "x-amzn-trace-id",
    }
)


def sign(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    access_key: str,
    secret_key: str,
    session_token: str | None,
    region: str,
    service: str,
    now: datetime,
) -> dict[str, str]:
    """The headers to add to a request (AWS "Signature Version 4 for API requests", 2026-11-30).

    Args:
        method: HTTP method.
        url: Absolute URL exactly as it will be sent, percent-encoded.
        headers: Headers that will be sent. All are signed, save those that change on the way and
            those that this function returns.
        body: The whole body; empty without one.
        access_key: Access key id.
        secret_key: Secret access key.
        session_token: Token of temporary credentials; None or empty without one.
        region: AWS region, such as `us-east-1`.
        service: Signing name, such as `bedrock`.
        now: Time of signing, with a time zone; AWS allows five minutes of difference.

    Returns:
        `authorization`, `x-amz-date` and, with temporary credentials, `x-amz-security-token`, in
        lower case. They replace headers of the same name.

    Raises:
        ValueError: `now` has no time zone, or the URL has no host.
    """
    if now.tzinfo is None:
        raise ValueError("the time of signing needs a time zone")
    timestamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    added = {"x-amz-date": timestamp}
    if session_token:
        added["x-amz-security-token"] = session_token
    signed = _signed_headers(url, headers) | added
    names = ";".join(sorted(signed))
    canonical = "\n".join(
        [
            method.upper(),
            _path(urlsplit(url).path),
            _query(urlsplit(url).query),
            *(f"{name}:{signed[name]}" for name in sorted(signed)),
            "",
            names,
            sha256(body).hexdigest(),
        ]
    )
    scope = f"{timestamp[:8]}/{region}/{service}/{_TERMINATOR}"
    text = "\n".join([_ALGORITHM, timestamp, scope, sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{secret_key}".encode()
    for part in scope.split("/"):
        key = digest(key, part.encode(), "sha256")
    signature = digest(key, text.encode(), "sha256").hex()
    credential = f"Credential={access_key}/{scope}"
    return added | {"authorization": f"{_ALGORITHM} {credential}, SignedHeaders={names}, Signature={signature}"}


def _signed_headers(url: str, headers: Mapping[str, str]) -> dict[str, str]:
    signed: dict[str, str] = {}
    for header, text in headers.items():
        name = header.lower()
        if name in _UNSIGNED or name in _OWN:
            continue
        value = " ".join(text.split())
        signed[name] = f"{signed[name]},{value}" if name in signed else value
    if "host" not in signed:
        signed["host"] = _host(url)
    return signed


def _host(url: str) -> str:
    """The Host header that an HTTP client derives from the URL."""
    parts = urlsplit(url)
    if not parts.hostname:
        raise ValueError("the URL to sign has no host")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if parts.port in (None, _DEFAULT_PORTS.get(parts.scheme)):
        return host
    return f"{host}:{parts.port}"


def _path(path: str) -> str:
    # Encoded a second time: what goes over the wire as %3A is signed as %253A.
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del kept[-1:]
        elif segment not in ("", "."):
            kept.append(segment)
    tail = "/" if kept and path.endswith("/") else ""
    return quote("/" + "/".join(kept) + tail, safe="/~")


def _query(query: str) -> str:
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    encoded = sorted((_encoded(name), _encoded(value)) for name, _, value in pairs)
    return "&".join(f"{name}={value}" for name, value in encoded)


def _encoded(text: str) -> str:
    return quote(unquote_to_bytes(text), safe="-_.~")
