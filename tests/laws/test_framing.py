"""Laws of both framings: cuts never show, nothing but events or FramingError, cuts never silent."""

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from botocore.eventstream import EventStreamBuffer
from hypothesis import example, given
from hypothesis import strategies as st
from openai._streaming import SSEDecoder as OpenAIReader

from core.framing import FramingError
from core.framing.eventstream import EventFrame, EventStreamDecoder
from core.framing.sse import DONE, SseDecoder, SseEvent, comment, frame
from tests.support.eventstream import encode_frame, encode_header, encode_parts
from tests.support.splitting import cut, pieces

LIMIT = 40

sse_fragments = st.sampled_from(
    [
        *(b"\n", b"\n\n", b"\r", b"\r\n", b"\r\n\r\n", b"\r\r"),
        *(b"data: ", b"data:", b"data", b"event: ", b"event:error", b"id: 7", b"retry: 1", b"x: "),
        *(b": ping", b":", b"error: ", b"{", b"[1]", b"[DONE]", b" ", b"\xef\xbb\xbf"),
        *("\u2028\u2029\u0085\x0b\x0c".encode(), "Ω世界🌊".encode(), b"\xc3", b"\xff", b"a" * 30),
    ]
)
sse_streams = st.lists(st.one_of(sse_fragments, st.binary(max_size=4)), max_size=25).map(b"".join)

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=20)
names = st.text("abcdefgh-:", min_size=1, max_size=12)
headers = st.dictionaries(names, texts, max_size=4)
frames = st.lists(st.tuples(headers, st.binary(max_size=40)), max_size=4)
typed_values = st.one_of(
    st.just((0, True)),
    st.just((1, False)),
    st.tuples(st.just(2), st.integers(-(2**7), 2**7 - 1)),
    st.tuples(st.just(3), st.integers(-(2**15), 2**15 - 1)),
    st.tuples(st.just(4), st.integers(-(2**31), 2**31 - 1)),
    st.tuples(st.sampled_from([5, 8]), st.integers(-(2**63), 2**63 - 1)),
    st.tuples(st.just(6), st.binary(max_size=20)),
    st.tuples(st.just(7), texts),
    st.tuples(st.just(9), st.binary(min_size=16, max_size=16)),
)


Sent = list[tuple[dict[str, str], bytes]]


def outcome(
    decoder: SseDecoder | EventStreamDecoder, reads: Iterable[bytes]
) -> tuple[list[SseEvent | EventFrame], bool]:
    """Everything that one stream gave, and whether it ended in a fault."""
    found: list[SseEvent | EventFrame] = []
    try:
        for read in reads:
            found.extend(decoder.feed(read))
        found.extend(decoder.close())
    except FramingError:
        return found, True
    return found, False


def decoded(sent: Sent) -> list[EventFrame]:
    return [EventFrame(headers, payload) for headers, payload in sent]


def naive(stream: bytes) -> list[SseEvent]:
    """The same grammar in the plainest way, over a whole stream that is valid UTF-8."""
    events: list[SseEvent] = []
    body = stream.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    for block in re.split(rb"\n(?:\n)+", body.strip(b"\n")):
        if block[:1] in (b"{", b"["):
            events.append(SseEvent(block))
            continue
        fields = [re.fullmatch(rb"(?s)([^:]*):? ?(.*)", line) for line in block.split(b"\n")]
        pairs = [match.groups() for match in fields if match]
        data = [value for name, value in pairs if name in (b"data", b"error")]
        named = [
            value.decode() if name == b"event" else "error" for name, value in pairs if name in (b"event", b"error")
        ]
        if data:
            events.append(SseEvent(b"\n".join(data), named[-1] if named else ""))
    return events


@given(st.data(), sse_streams)
def test_sse_cuts_never_show(data: st.DataObject, stream: bytes) -> None:
    reads = data.draw(pieces(stream))
    assert outcome(SseDecoder(LIMIT), reads) == outcome(SseDecoder(LIMIT), [stream])


@given(st.data(), sse_streams)
def test_sse_events_come_with_their_last_byte(data: st.DataObject, stream: bytes) -> None:
    decoder, found, taken = SseDecoder(LIMIT), list[SseEvent](), b""
    with suppress(FramingError):
        for read in data.draw(pieces(stream)):
            found += decoder.feed(read)
            taken += read
            assert found == list(SseDecoder(LIMIT).feed(taken))


@given(st.binary(max_size=200))
def test_sse_takes_any_bytes(stream: bytes) -> None:
    outcome(SseDecoder(LIMIT), [stream])


@given(sse_streams)
@example(b"data")
@example(b"data: a\n\n\n\ndata: b")
def test_sse_reads_what_a_plain_reading_of_the_grammar_reads(stream: bytes) -> None:
    valid = stream.decode(errors="ignore").encode()
    assert outcome(SseDecoder(), [valid]) == (naive(valid), False)


@given(st.data(), st.lists(st.tuples(st.sampled_from(["", "ping", "error"]), texts), max_size=6))
def test_sse_agrees_with_the_openai_sdk(data: st.DataObject, sent: list[tuple[str, str]]) -> None:
    stream = b"".join((f"event: {name}\n".encode() if name else b"") + frame(text.encode()) for name, text in sent)
    reads = data.draw(pieces(stream))
    theirs = [(e.event or "", e.data) for e in OpenAIReader().iter_bytes(iter(reads))]
    ours, fault = outcome(SseDecoder(), reads)
    assert not fault
    assert [(e.event, e.data.decode()) for e in ours if isinstance(e, SseEvent)] == theirs == sent


@given(st.data(), st.lists(texts, max_size=6))
def test_sse_round_trip_with_comments_between(data: st.DataObject, payloads: list[str]) -> None:
    sent = [text.encode() for text in payloads]
    stream = comment("processing").join(frame(payload) for payload in sent) + DONE
    found, fault = outcome(SseDecoder(), data.draw(pieces(stream)))
    assert not fault
    assert found == [SseEvent(payload) for payload in [*sent, b"[DONE]"]]


@given(st.lists(texts.filter(bool), min_size=1, max_size=4), st.data())
def test_sse_a_cut_stream_gives_a_prefix(payloads: list[str], data: st.DataObject) -> None:
    sent = [SseEvent(text.encode()) for text in payloads]
    stream = b"".join(frame(event.data) for event in sent)
    length = data.draw(st.integers(0, len(stream)))
    found = list(SseDecoder().feed(stream[:length]))
    assert found == sent[: len(found)]


@given(st.data(), frames, st.binary(max_size=12))
def test_event_stream_cuts_never_show(data: st.DataObject, sent: Sent, tail: bytes) -> None:
    stream = b"".join(encode_frame(*one) for one in sent) + tail
    reads = data.draw(pieces(stream))
    found = outcome(EventStreamDecoder(), reads)
    assert found == outcome(EventStreamDecoder(), [stream])
    assert found == (decoded(sent), bool(tail))


@given(st.lists(st.tuples(names, typed_values), unique_by=lambda h: h[0]), st.binary(max_size=9))
def test_event_stream_reads_every_header_type_as_botocore_does(
    typed: list[tuple[str, tuple[int, bool | int | bytes | str]]], payload: bytes
) -> None:
    stream = encode_parts(b"".join(encode_header(n, k, v) for n, (k, v) in typed), payload)
    theirs = EventStreamBuffer()
    theirs.add_data(stream)
    message: Any = next(theirs)  # its published types are wrong
    (ours,) = EventStreamDecoder().feed(stream)
    assert ours == EventFrame({name: value for name, (_, value) in typed}, payload)
    assert (dict(ours.headers), ours.payload) == (message.headers, message.payload)


@given(st.lists(st.tuples(headers, st.binary(max_size=20)), min_size=1, max_size=2))
def test_event_stream_truncation_at_every_byte_raises(
    sent: Sent,
) -> None:
    encoded = [encode_frame(*one) for one in sent]
    whole = {sum(map(len, encoded[:n])): n for n in range(len(encoded) + 1)}
    stream = b"".join(encoded)
    for length in range(len(stream) + 1):
        found, fault = outcome(EventStreamDecoder(), [stream[:length]])
        assert found == decoded(sent[: len(found)])
        assert fault == (length not in whole)


@given(headers, st.binary(max_size=20), st.data())
def test_event_stream_no_damaged_bit_passes(head: dict[str, str], payload: bytes, data: st.DataObject) -> None:
    good = encode_frame(head, payload)
    bit = data.draw(st.integers(0, len(good) * 8 - 1))
    bad = bytearray(good)
    bad[bit // 8] ^= 1 << bit % 8
    found, fault = outcome(EventStreamDecoder(), cut(good + bytes(bad) + good, [len(good) + 3]))
    assert (found, fault) == ([EventFrame(head, payload)], True)


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_event_stream_takes_any_bytes_and_any_headers(stream: bytes, block: bytes) -> None:
    outcome(EventStreamDecoder(), [stream])
    framed = encode_parts(block, b"")
    theirs = EventStreamBuffer()
    theirs.add_data(framed)
    found, fault = outcome(EventStreamDecoder(), [framed])
    if not fault:
        (ours,) = found
        assert isinstance(ours, EventFrame)
        message: Any = next(theirs)
        assert dict(ours.headers) == message.headers
