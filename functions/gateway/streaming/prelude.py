"""The JSON that goes before a streamed body and carries status and headers; never sees the body."""

import json
import re
from collections.abc import Iterable
from enum import Enum
from typing import Any

DELIMITER = b"\x00" * 8

# Prelude and delimiter together stay under it, or the caller gets nothing at all.
LIMIT = 16 * 1024

Header = tuple[bytes, bytes]

_NAME = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_BAD_IN_VALUE = re.compile(rb"[\x00\r\n]")

# About one connection, and so between the gateway in front and its own caller.
_HOP_BY_HOP = frozenset(
    (b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade")
)


class Payload(Enum):
    """The payload format of an event, which decides how headers that occur twice go back."""

    V1 = "1.0"  # REST APIs: repeated headers in multiValueHeaders
    V2 = "2.0"  # function URLs and HTTP APIs: joined by commas, cookies apart


class PreludeRefused(ValueError):
    """Status and headers cannot be sent: too large, or no HTTP."""


def prelude(status: int, headers: Iterable[Header], payload: Payload) -> bytes:
    """Status and headers as the first bytes of a response stream, delimiter included.

    Args:
        status: HTTP status.
        headers: Names and values as ASGI has them.
        payload: The format that the event had.

    Raises:
        PreludeRefused: It would be 16 KiB or more, or a header is malformed.
    """
    values = _grouped(headers)
    told: dict[str, Any] = {"statusCode": status}
    told |= _v2(values) if payload is Payload.V2 else _v1(values)
    made = json.dumps(told, separators=(",", ":")).encode() + DELIMITER
    if len(made) >= LIMIT:
        raise PreludeRefused(f"status and headers take {len(made)} bytes; they must stay below {LIMIT}")
    return made


def _grouped(headers: Iterable[Header]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for raw_name, value in headers:
        name = raw_name.lower()
        if not _NAME.fullmatch(name) or _BAD_IN_VALUE.search(value):
            raise PreludeRefused(f"the response header {name[:64]!r} is malformed")
        if name not in _HOP_BY_HOP:
            values.setdefault(name.decode("ascii"), []).append(value.decode("latin-1"))
    return values


def _v1(values: dict[str, list[str]]) -> dict[str, Any]:
    told: dict[str, Any] = {"headers": {name: each[0] for name, each in values.items() if len(each) == 1}}
    if repeated := {name: each for name, each in values.items() if len(each) > 1}:
        told["multiValueHeaders"] = repeated
    return told


def _v2(values: dict[str, list[str]]) -> dict[str, Any]:
    cookies = values.pop("set-cookie", [])
    told: dict[str, Any] = {"headers": {name: ",".join(each) for name, each in values.items()}}
    if cookies:
        told["cookies"] = cookies
    return told
