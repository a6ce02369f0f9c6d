"""Turns the bytes of a request body into a JSON object of bounded depth and size; it knows no field."""

import re
from typing import Final

import orjson

from core.chat import Json
from core.errors import InvalidRequest, RequestTooLarge

DEEPEST: Final = 128
MOST_VALUES: Final = 100_000

# How gzip, zlib and zstd begin (RFC 1952, 1950 and 8878). Brotli has no such mark.
_COMPRESSED: Final = (b"\x1f\x8b", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda", b"\x28\xb5\x2f\xfd")
_BOM: Final = b"\xef\xbb\xbf"
_TOO_LARGE: Final = "number is infinity"  # orjson's words
# One that never ends is a string too: trying again from each quote inside it would take quadratic time.
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)


def read_object(body: bytes, members: str = "'model' and 'messages'") -> dict[str, Json]:
    """The body as an object. Of two members with one name the last counts, as everywhere in JSON.

    Args:
        body: As it came.
        members: What it should have, for advice where there is no object.

    Raises:
        InvalidRequest: It is compressed, not UTF-8, not JSON or not an object, it is nested too deeply, or it holds a
            number that no 64-bit float can hold (`invalid_json`).
        RequestTooLarge: It holds too many values; parsing them would take too long.
    """
    if body.startswith(_BOM):
        body = body[len(_BOM) :]
    nested = body.count(b"{") + body.count(b"[")
    _check_count(body, nested)
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise _invalid(body, error, members) from None
    if type(value) is not dict:
        raise InvalidRequest(f"The body must be a JSON object, with {members}.", code="invalid_json")
    if nested > DEEPEST:
        _check_depth(value)
    return value


def _check_count(body: bytes, nested: int) -> None:
    # Counted before parsing, which is what costs. Inside strings these characters do not count; strings are cut out
    # only where there can be no more of them than a name and a text for each value.
    if len(body) <= MOST_VALUES or body.count(b",") + nested <= MOST_VALUES:
        return
    quotes = body.count(b'"') - body.count(b'\\"')
    if quotes > 4 * (MOST_VALUES + 1) or _separators(_STRING.sub(b"", body)) > MOST_VALUES:
        raise RequestTooLarge(
            f"The body holds more than {MOST_VALUES} JSON values. Send fewer messages, or fewer parts in them."
        )


def _separators(body: bytes) -> int:
    return body.count(b",") + body.count(b"{") + body.count(b"[")


def _check_depth(value: Json) -> None:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
        if not level:
            return
    raise InvalidRequest(f"The body is nested more than {DEEPEST} levels deep.", code="invalid_json")


def _invalid(body: bytes, error: orjson.JSONDecodeError, members: str) -> InvalidRequest:
    if not body.strip():
        return InvalidRequest(f"The body is empty. Send a JSON object with {members}.", code="invalid_json")
    if body.startswith(_COMPRESSED):
        return InvalidRequest("The body is compressed. Send it as plain JSON in UTF-8.", code="invalid_json")
    try:
        body.decode()
    except UnicodeDecodeError as fault:
        return InvalidRequest(
            f"The body is not UTF-8: byte {fault.start} cannot be read. Send JSON in UTF-8.", code="invalid_json"
        )
    if error.msg.startswith(_TOO_LARGE):
        return InvalidRequest(
            f"The body holds a number that is too large, at line {error.lineno} column {error.colno}. "
            "Numbers go up to 1.8e308; send longer ones as strings.",
            code="invalid_json",
        )
    return InvalidRequest(f"The body is not JSON: {error}.", code="invalid_json")
