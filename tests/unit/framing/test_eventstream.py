"""Examples of AWS event-stream frames, good and malformed."""

from struct import pack
from zlib import crc32

import pytest

from core.framing import FramingError
from core.framing.eventstream import (
    MAX_HEADERS_BYTES,
    MAX_PAYLOAD_BYTES,
    EventFrame,
    EventStreamDecoder,
)
from tests.support.eventstream import (
    encode_event,
    encode_exception,
    encode_frame,
    encode_header,
    encode_parts,
)


def prelude(total: int, headers: int) -> bytes:
    lengths = pack("!II", total, headers)
    return lengths + pack("!I", crc32(lengths))


def test_frames_of_bedrock() -> None:
    decoder = EventStreamDecoder()
    stream = (
        encode_event("messageStart", b'{"role":"assistant"}')
        + encode_event("messageStop", b'{"stopReason":"end_turn"}')
        + encode_exception("throttlingException", b'{"message":"slow down"}')
    )
    start, stop, exception = decoder.feed(stream)
    assert start == EventFrame(
        {
            ":event-type": "messageStart",
            ":content-type": "application/json",
            ":message-type": "event",
        },
        b'{"role":"assistant"}',
    )
    assert stop.headers[":event-type"] == "messageStop"
    assert exception.headers[":message-type"] == "exception"
    assert exception.payload == b'{"message":"slow down"}'
    assert decoder.close() == ()


def test_frames_come_out_as_soon_as_they_are_whole() -> None:
    one, two = encode_frame({"a": "1"}, b"x"), encode_frame({"a": "1"}, b"y")
    decoder = EventStreamDecoder()
    assert decoder.feed(one[:-1]) == ()
    assert [f.payload for f in decoder.feed(one[-1:] + two[:13])] == [b"x"]
    assert [f.payload for f in decoder.feed(two[13:])] == [b"y"]


def test_every_frame_has_its_own_headers() -> None:
    sent = [{"a": "1"}, {"a": "2"}, {"a": "2"}, {}, {"a": "1"}]
    frames = EventStreamDecoder().feed(b"".join(encode_frame(headers, b"") for headers in sent))
    assert [frame.headers for frame in frames] == sent


def test_headers_cannot_be_changed_by_a_reader() -> None:
    (one,) = EventStreamDecoder().feed(encode_frame({"a": "1"}, b""))
    with pytest.raises(TypeError):
        one.headers["a"] = "2"  # type: ignore[index]  # the point of the test


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(b"\x05ab", id="name cut"),
        pytest.param(b"\x01a", id="type missing"),
        pytest.param(b"\x01a\x07\x00", id="length cut"),
        pytest.param(b"\x01a\x07\x00\x05abc", id="string cut"),
        pytest.param(b"\x01a\x06\x00\x05abc", id="bytes cut"),
        pytest.param(b"\x01a\x05\x00\x00\x00\x00", id="long cut"),
        pytest.param(b"\x01a\x09" + b"u" * 15, id="uuid cut"),
        pytest.param(b"\x01a\x0a", id="unknown type"),
        pytest.param(b"\x01\xff\x00", id="name not UTF-8"),
        pytest.param(b"\x01a\x07\x00\x01\xff", id="string not UTF-8"),
        pytest.param(encode_header("a", 0, True) * 2, id="name twice"),
    ],
)
def test_malformed_headers(block: bytes) -> None:
    with pytest.raises(FramingError, match="header"):
        EventStreamDecoder().feed(encode_parts(block, b"{}"))


@pytest.mark.parametrize(
    ("total", "headers"),
    [
        (15, 0),
        (0, 0),
        (20, 5),
        (16 + MAX_HEADERS_BYTES + 1, MAX_HEADERS_BYTES + 1),
        (16 + MAX_PAYLOAD_BYTES + 1, 0),
    ],
)
def test_impossible_lengths_are_refused_before_the_frame_comes(total: int, headers: int) -> None:
    with pytest.raises(FramingError, match="not possible"):
        EventStreamDecoder().feed(prelude(total, headers))


def test_the_largest_lengths_are_waited_for() -> None:
    total = 16 + MAX_HEADERS_BYTES + MAX_PAYLOAD_BYTES
    assert EventStreamDecoder().feed(prelude(total, MAX_HEADERS_BYTES)) == ()


def test_a_wrong_prelude_is_refused_at_once() -> None:
    with pytest.raises(FramingError, match="prelude"):
        EventStreamDecoder().feed(b"HTTP/1.1 502")


def test_what_came_before_a_fault_is_returned_and_the_fault_stays() -> None:
    good = encode_frame({}, b"x")
    decoder = EventStreamDecoder()
    assert decoder.feed(good + good[:-1] + b"\x00" + good) == (EventFrame({}, b"x"),)
    with pytest.raises(FramingError, match="checksum"):
        decoder.feed(good)
    with pytest.raises(FramingError, match="checksum"):
        decoder.close()


def test_a_cut_frame_is_named_at_close() -> None:
    decoder = EventStreamDecoder()
    decoder.feed(encode_frame({}, b"x")[:7])
    with pytest.raises(FramingError, match="7 bytes into a frame"):
        decoder.close()
