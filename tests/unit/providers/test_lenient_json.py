import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.providers.lenient_json import LenientJson

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec=None)), inner, max_size=3),
    max_leaves=6,
)


@given(VALUES)
def test_what_comes_out_can_be_written_again(value: Any) -> None:
    read = LenientJson().loads(json.dumps(value).encode())
    assert orjson.loads(orjson.dumps(read)) is not orjson


@given(st.text(min_size=1), st.data())
def test_characters_cut_in_two_are_put_together(text: str, data: st.DataObject) -> None:
    units = text.encode("utf-16-le", "surrogatepass")
    at = 2 * data.draw(st.integers(0, len(units) // 2))
    halves = [piece.decode("utf-16-le", "surrogatepass") for piece in (units[:at], units[at:])]
    reader = LenientJson()
    read = [reader.loads(json.dumps({"content": half}).encode())["content"] for half in halves]
    assert "".join(read) == text


def test_a_half_that_stays_alone_is_replaced() -> None:
    reader = LenientJson()
    assert reader.loads(rb'{"content":"a\ud83d"}') == {"content": "a"}
    assert reader.loads(rb'{"content":"\ud83db"}') == {"content": "\ufffd\ufffdb"}
    assert reader.loads(rb'{"name":"a\ud83d", "\ude00":[1]}') == {"name": "a\ufffd", "\ufffd": [1]}


def test_constants_that_are_no_json() -> None:
    assert LenientJson().loads(b"[NaN, Infinity, -Infinity]") == [None, None, -9999.0]


@pytest.mark.parametrize("data", [b"", b"{", b"nothing", b"\xff", b"[" * 100_000])
def test_what_is_no_json_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the words are the parsers' own
        LenientJson().loads(data)
