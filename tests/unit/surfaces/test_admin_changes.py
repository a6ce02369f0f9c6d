"""How operators' bodies are read: shares exactly, names as addresses hold them, nulls where they take away."""

from fractions import Fraction
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidRequest
from core.surfaces.admin.changes import distinct, identifier, is_identifier, read, share, share_text
from core.surfaces.admin.keys import USUAL_OVERLAP_HOURS, parse_key_changes, parse_rotation
from core.surfaces.openai_chat.checks import named, string
from core.tenant import Limits


def shared(value: Any) -> Fraction:
    found: Fraction = read(orjson.dumps({"share": value}), {"share": share(1)}, ("share",))["share"]
    return found


@given(st.fractions(min_value=0, max_value=1, max_denominator=10**9))
def test_a_share_is_read_back_exactly(value: Fraction) -> None:
    assert shared(share_text(value)) == value


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (0.05, Fraction(1, 20)),
        ("0.05", Fraction(1, 20)),
        ("1/20", Fraction(1, 20)),
        (1, Fraction(1)),
        (0.0, Fraction(0)),
    ],
)
def test_a_share_may_be_written_in_many_ways(written: Any, meant: Fraction) -> None:
    assert shared(written) == meant


@pytest.mark.parametrize("wrong", [-0.1, 1.1, "x", "1/0", "1e9", "-1", "", "1" * 99, True, [], "٣"])
def test_what_is_no_share_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidRequest) as refused:
        shared(wrong)
    assert refused.value.param == "share"


@pytest.mark.parametrize(
    ("value", "shown"), [("1/20", "0.05"), ("2", "2"), ("1/3", "1/3"), ("5/4", "1.25"), ("0", "0")]
)
def test_a_share_is_shown_as_a_decimal_where_it_is_one(value: str, shown: str) -> None:
    assert share_text(Fraction(value)) == shown


@pytest.mark.parametrize("name", ["a", "A-b_c.9", "x" * 64, "_"])
def test_names_that_addresses_hold(name: str) -> None:
    assert is_identifier(name)


@pytest.mark.parametrize("name", ["", ".", "..", ".a", "a/b", "a b", "a#b", "ä", "x" * 65])
def test_names_that_they_do_not(name: str) -> None:
    assert not is_identifier(name)
    with pytest.raises(InvalidRequest):
        read(orjson.dumps({"name": name}), {"name": identifier}, ("name",))


def test_a_null_takes_away_only_where_it_may() -> None:
    table = {"a": string, "b": string, "c": string}
    assert read(b'{"a": null, "b": null, "c": "x"}', table, clears=("a", "c")) == {"a": None, "c": "x"}
    assert parse_key_changes(b'{"limits": null, "expires": null, "models": null, "name": null}') == {
        "limits": Limits(),
        "expires_ms": None,
        "models": None,
    }
    assert parse_key_changes(b"{}") == {}


def test_values_of_a_list_differ() -> None:
    table = {"names": distinct(named)}
    assert read(b'{"names": ["a", "b"]}', table) == {"names": ("a", "b")}
    for wrong, param in (('"a"', "names"), ("[]", "names"), ('["a", "a"]', "names[1]"), ('[""]', "names[0]")):
        with pytest.raises(InvalidRequest) as refused:
            read(f'{{"names": {wrong}}}'.encode(), table)
        assert refused.value.param == param


def test_the_overlap_may_be_left_out() -> None:
    assert parse_rotation(b" ") == parse_rotation(b"{}") == USUAL_OVERLAP_HOURS
    assert parse_rotation(b'{"overlap_hours": 0}') == 0
