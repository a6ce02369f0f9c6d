"""A body is read within bounds, and what is wrong with it is said."""

import orjson
import pytest

from core.errors import InvalidRequest, RequestTooLarge
from core.surfaces.openai_chat.body import DEEPEST, MOST_VALUES, read_object


def refused(body: bytes) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as raised:
        read_object(body)
    return raised.value


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b'{"a":}', "line 1 column 6"),
        (b'{"a":1,\n "b":nope}', "line 2 column 6"),
        (b'{"a":1} x', "line 1"),
        (b'{"a":NaN}', "not JSON"),
        (b'{"a":"\xff"}', "byte 6"),
        (b'{"a":"\\ud800"}', "surrogate"),
        (b"\x1f\x8b\x08\x00", "compressed"),
        (b"\x78\x9c\xab\x56", "compressed"),
        (b"\x28\xb5\x2f\xfd\x24", "compressed"),
        (b'{"a":\n ' + b"1" * 400 + b"}", "too large, at line 2 column"),
        (b'{"a":-1e999}', "too large"),
        (b"[]", "object"),
        (b'"x"', "object"),
        (b"null", "object"),
        (b"[" * 2_000 + b"]" * 2_000, "depth"),
        (b'{"a":' * 1_025 + b"1" + b"}" * 1_025, "depth"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_object_is_refused_in_words(body: bytes, words: str) -> None:
    error = refused(body)
    assert (error.status, error.code, error.param) == (400, "invalid_json", None)
    assert words in error.message


def test_of_two_members_with_one_name_the_last_counts() -> None:
    assert read_object(b'{"a":1,"a":2}') == {"a": 2}


def test_a_byte_order_mark_is_passed_over() -> None:
    assert read_object(b'\xef\xbb\xbf{"a":1}') == {"a": 1}


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_depth_is_bounded(opening: bytes, closing: bytes) -> None:
    inside = DEEPEST - 1  # the body itself is the first level
    assert read_object(b'{"a":' + opening * inside + b"1" + closing * inside + b"}")
    error = refused(b'{"a":' + opening * DEEPEST + b"1" + closing * DEEPEST + b"}")
    assert (error.status, error.code) == (400, "invalid_json")
    assert str(DEEPEST) in error.message


def test_many_brackets_beside_each_other_are_not_deep() -> None:
    assert read_object(orjson.dumps({"a": [[]] * 500, "b": [{}] * 500}))


@pytest.mark.parametrize("filler", [b"1", b"[]", b"{}", b'"a"', b'{"a":1}'])
def test_the_number_of_values_is_bounded_before_anything_is_parsed(filler: bytes) -> None:
    error = refused(b'{"a":[' + b",".join([filler] * (MOST_VALUES + 1)) + b"]}")
    assert isinstance(error, RequestTooLarge)
    assert error.status == 413


def test_brackets_and_commas_in_texts_do_not_count() -> None:
    text = '[{"\\' * MOST_VALUES + "," * MOST_VALUES
    assert read_object(orjson.dumps({"a": text})) == {"a": text}


@pytest.mark.parametrize("text", [b'"' * 3_000_000, b'"' + b'\\"' * 1_500_000, b'"' + b"\\" * 1_500_001])
def test_counting_takes_no_more_time_than_reading(text: bytes) -> None:
    # Once a quadratic search: the test would not end.
    assert isinstance(refused(b"{" + b"," * (MOST_VALUES + 1) + text), RequestTooLarge)
