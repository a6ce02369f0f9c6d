"""Status and headers before the body: nothing is lost in either format, and nothing Lambda would choke on gets out."""

import json
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.gateway.streaming.prelude import DELIMITER, LIMIT, Header, Payload, PreludeRefused, prelude
from functions.local.emulator.contract import parse_prelude

NAMES = st.sampled_from([b"vary", b"Set-Cookie", b"set-cookie", b"X-A", b"x-a", b"etag"])
VALUES = st.text(st.characters(max_codepoint=255, exclude_characters="\x00\r\n"), max_size=20).map(
    lambda text: text.encode("latin-1")
)
HEADERS = st.lists(st.tuples(NAMES, VALUES), max_size=12)


def parsed(status: int, headers: list[Header], payload: Payload) -> dict[str, Any]:
    made = prelude(status, headers, payload)
    assert made.endswith(DELIMITER)
    assert made.isascii()
    found = parse_prelude(made)
    assert found is not None
    assert found[1] == b""
    return found[0]


def grouped(headers: list[Header]) -> dict[str, list[str]]:
    values = defaultdict[str, list[str]](list)
    for name, value in headers:
        values[name.decode().lower()].append(value.decode("latin-1"))
    return values


@given(st.integers(100, 599), HEADERS)
def test_v1_keeps_every_value_in_order(status: int, headers: list[Header]) -> None:
    told = parsed(status, headers, Payload.V1)
    assert told["statusCode"] == status
    values = {name: [value] for name, value in told["headers"].items()}
    assert values | told.get("multiValueHeaders", {}) == grouped(headers)
    assert not set(told["headers"]) & set(told.get("multiValueHeaders", {}))


@given(st.integers(100, 599), HEADERS)
def test_v2_joins_values_and_keeps_cookies_apart(status: int, headers: list[Header]) -> None:
    told = parsed(status, headers, Payload.V2)
    expected = grouped(headers)
    assert told.get("cookies", []) == expected.pop("set-cookie", [])
    assert told["headers"] == {name: ",".join(values) for name, values in expected.items()}


@pytest.mark.parametrize("payload", Payload)
@pytest.mark.parametrize("name", ["Connection", "transfer-encoding", "Keep-Alive", "TE", "Upgrade", "Trailer"])
def test_what_is_about_one_connection_stays_behind(payload: Payload, name: str) -> None:
    assert parsed(200, [(name.encode(), b"x"), (b"etag", b"y")], payload)["headers"] == {"etag": "y"}


@pytest.mark.parametrize(
    "header", [(b"x", b"a\r\nset-cookie: b=1"), (b"x", b"a\x00"), (b"x y", b"a"), (b"", b"a"), (b"x\n", b"a")]
)
def test_a_malformed_header_is_refused(header: Header) -> None:
    with pytest.raises(PreludeRefused, match="malformed"):
        prelude(200, [header], Payload.V1)


def test_it_stays_under_16_kib_with_its_delimiter() -> None:
    bare = len(prelude(200, [(b"x", b"")], Payload.V1))
    assert len(prelude(200, [(b"x", b"a" * (LIMIT - bare - 1))], Payload.V1)) == LIMIT - 1
    with pytest.raises(PreludeRefused, match="16384"):
        prelude(200, [(b"x", b"a" * (LIMIT - bare))], Payload.V1)


def test_non_ascii_counts_as_it_is_written() -> None:
    """Each of these takes six bytes."""
    with pytest.raises(PreludeRefused):
        prelude(200, [(b"x", b"\xe9" * (LIMIT // 6))], Payload.V2)


def test_it_is_json_without_spaces() -> None:
    assert (
        prelude(204, [], Payload.V2)
        == json.dumps({"statusCode": 204, "headers": {}}, separators=(",", ":")).encode() + DELIMITER
    )
