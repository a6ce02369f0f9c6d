"""Examples of server-sent events that upstreams really send, and the limits."""

import pytest

from core.framing import FramingError
from core.framing.sse import DONE, SseDecoder, SseEvent, comment, frame


def read(*reads: bytes, limit: int = 1000) -> list[SseEvent]:
    decoder = SseDecoder(limit)
    events = [event for data in reads for event in decoder.feed(data)]
    return [*events, *decoder.close()]


CASES: dict[str, tuple[bytes, list[SseEvent]]] = {
    "nothing": (b"", []),
    "empty lines alone": (b"\n\n\n\r\n\r", []),
    "usual": (b"data: a\n\ndata: b\n\n", [SseEvent(b"a"), SseEvent(b"b")]),
    "one space is taken off": (b"data:a\n\ndata:  b\n\n", [SseEvent(b"a"), SseEvent(b" b")]),
    "no value": (b"data\n\ndata:\n\n", [SseEvent(b""), SseEvent(b"")]),
    "several lines": (b"data: a\ndata:\ndata:  b\n\n", [SseEvent(b"a\n\n b")]),
    "CR and CRLF": (b"data: a\r\rdata: b\r\n\r\n", [SseEvent(b"a"), SseEvent(b"b")]),
    "name": (b"event: e\ndata: a\n\ndata: b\n\n", [SseEvent(b"a", "e"), SseEvent(b"b")]),
    "name without data": (b"event: e\n\ndata: a\n\n", [SseEvent(b"a")]),
    "other fields": (b"id: 1\nretry: 2\nDATA: x\nfoo: y\nbar\n\n", []),
    "comments": (b": OPENROUTER PROCESSING\n\n:\n\ndata: a\n\n", [SseEvent(b"a")]),
    "comment on top": (b": ping\ndata: a\n\n", [SseEvent(b"a")]),
    "BOM": (b"\xef\xbb\xbfdata: a\n\n", [SseEvent(b"a")]),
    "half a BOM": (b"\xef\xbb", []),
    "no blank line": (b"data: a\n\ndata: [DONE]", [SseEvent(b"a"), SseEvent(b"[DONE]")]),
    "line ends of Unicode": (
        "data: \u2028\u2029\u0085\x0b\x0c🌊\n\n".encode(),
        [SseEvent("\u2028\u2029\u0085\x0b\x0c🌊".encode())],
    ),
    "error line": (b'error: {"code":500}\n\n', [SseEvent(b'{"code":500}', "error")]),
    "body without framing": (
        b'\r\n\r\n{\r\n  "error": {"code": 503}\r\n}\r\n',
        [SseEvent(b'{\n  "error": {"code": 503}\n}')],
    ),
    "array without framing": (b'[{"error":1}]', [SseEvent(b'[{"error":1}]')]),
}


@pytest.mark.parametrize(("stream", "events"), CASES.values(), ids=CASES.keys())
def test_decodes(stream: bytes, events: list[SseEvent]) -> None:
    assert read(stream) == events
    assert read(*(bytes([byte]) for byte in stream)) == events


def test_an_event_is_out_before_the_line_feed_of_its_last_crlf() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\r\n\r") == (SseEvent(b"a"),)
    assert decoder.feed(b"") == ()
    assert decoder.feed(b"\ndata: b\n\n") == (SseEvent(b"b"),)


def test_all_events_that_a_read_completes_are_out_at_once() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: a") == ()
    assert decoder.feed(b"\n\ndata: b\n\ndata: c\n") == (SseEvent(b"a"), SseEvent(b"b"))
    assert decoder.feed(b"\n") == (SseEvent(b"c"),)


def test_a_crlf_may_have_an_empty_read_in_it() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\r") == decoder.feed(b"") == ()
    assert decoder.feed(b"\ndata: b\n\n") == (SseEvent(b"a\nb"),)


def test_close_parses_the_rest_once() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: a") == ()
    assert decoder.close() == (SseEvent(b"a"),)
    assert decoder.close() == ()


@pytest.mark.parametrize(
    "stream",
    [
        b"data: \xff\n\n",
        b"data: a\ndata: \xed\xa0\x80\n\n",
        b"event: \xff\ndata: a\n\n",
        b'{"error": "\xff"}\n\n',
        b"data: caf\xc3",
    ],
)
def test_what_is_not_utf8_is_a_fault_and_never_replaced(stream: bytes) -> None:
    with pytest.raises(FramingError, match="UTF-8"):
        read(stream)


def test_what_is_ignored_need_not_be_utf8() -> None:
    assert read(b": \xff\nx: \xff\ndata: a\n\n") == [SseEvent(b"a")]


@pytest.mark.parametrize(
    ("stream", "fits"),
    [
        (b"data: 4567\n\n", True),
        (b"\n\n\ndata: 4567\n\n\n\n", True),
        (b"data: 4567", True),
        (b"data: 4567\n", True),
        (b"data: 45678\n\n", False),
        (b"data: 45678", False),
        (b"\ndata: 45678", False),
    ],
)
def test_the_size_limit_counts_the_event_and_not_the_lines_around_it(stream: bytes, fits: bool) -> None:
    if fits:
        assert read(stream, limit=10) == [SseEvent(b"4567")]
    else:
        with pytest.raises(FramingError, match="larger than 10 bytes"):
            read(stream, limit=10)


def test_an_endless_event_is_refused_while_it_comes() -> None:
    decoder = SseDecoder(10)
    assert decoder.feed(b"data: 4567") == ()
    with pytest.raises(FramingError, match="larger"):
        decoder.feed(b"8")


def test_what_came_before_a_fault_is_returned_and_the_fault_stays() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\n\ndata: \xff\n\ndata: b\n\n") == (SseEvent(b"a"),)
    with pytest.raises(FramingError):
        decoder.feed(b"data: c\n\n")
    with pytest.raises(FramingError):
        decoder.close()


@pytest.mark.parametrize(("data", "done"), [(b"[DONE]", True), (b"[DONE]  ", True), (b"{}", False), (b"", False)])
def test_the_end_marker(data: bytes, done: bool) -> None:
    assert SseEvent(data).done is done


def test_encodes() -> None:
    assert frame(b'{"a":1}') == b'data: {"a":1}\n\n'
    assert frame(b"a\r\nb\rc\nd") == b"data: a\ndata: b\ndata: c\ndata: d\n\n"
    assert comment("processing") == b": processing\n"
    assert read(DONE) == [SseEvent(b"[DONE]")]


@pytest.mark.parametrize("text", ["a\nb", "a\rb"])
def test_a_comment_is_one_line(text: str) -> None:
    with pytest.raises(ValueError, match="one line"):
        comment(text)
