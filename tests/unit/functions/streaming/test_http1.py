"""The client's side of HTTP/1.1: however an answer is cut and framed it reads the same, and half of one is an error."""

import asyncio
import contextlib
import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.gateway.streaming.http1 import HEAD_LIMIT, ConnectionBroken, Reply, chunk, head, read_reply


async def read(pieces: Sequence[bytes]) -> Reply:
    reader = asyncio.StreamReader(limit=HEAD_LIMIT)
    reading = asyncio.ensure_future(read_reply(reader))
    for piece in pieces:
        reader.feed_data(piece)
        await asyncio.sleep(0)
    reader.feed_eof()
    return await reading


def sized(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nX-Name: a: b\r\n\r\n" % len(body) + body


def chunked(body: bytes, cuts: list[int]) -> bytes:
    edges = [0, *sorted({min(cut, len(body)) for cut in cuts}), len(body)]
    parts = [body[start:stop] for start, stop in itertools.pairwise(edges)]
    data = b"".join(b"%X;ext=1\r\n%s\r\n" % (len(part), part) for part in parts if part)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Name: a: b\r\n\r\n" + data + b"0\r\nTrailer: x\r\n\r\n"


def until_closed(body: bytes) -> bytes:
    return b"HTTP/1.0 200 OK\r\nX-Name: a: b\r\n\r\n" + body


def split(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted({min(cut, len(data)) for cut in cuts}), len(data)]
    return [data[start:stop] for start, stop in itertools.pairwise(edges)]


CUTS = st.lists(st.integers(0, 300), max_size=12)


@given(st.binary(max_size=200), CUTS, CUTS)
def test_how_an_answer_is_framed_and_split_never_shows(body: bytes, chunks: list[int], cuts: list[int]) -> None:
    for data in (
        sized(body),
        chunked(body, chunks),
        until_closed(body),
        b"HTTP/1.1 100 Continue\r\n\r\n" + sized(body),
    ):
        reply = asyncio.run(read(split(data, cuts)))
        assert (reply.status, reply.headers["x-name"], reply.body) == (200, "a: b", body)


@given(st.binary(min_size=1, max_size=50), st.integers(0, 200))
def test_half_an_answer_is_an_error(body: bytes, cut: int) -> None:
    for data in (sized(body), chunked(body, [])):
        with pytest.raises(ConnectionBroken):
            asyncio.run(read([data[: min(cut, len(data) - 1)]]))


@given(st.binary(max_size=300))
def test_any_bytes_give_an_answer_or_a_broken_connection(data: bytes) -> None:
    for start in (b"", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"HTTP/1.1 200 OK\r\n"):
        with contextlib.suppress(ConnectionBroken):
            asyncio.run(read([start + data]))


async def test_a_chunk_longer_than_its_size_is_an_error() -> None:
    with pytest.raises(ConnectionBroken):
        await read([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n0\r\n\r\n"])


async def test_a_head_without_end_is_given_up() -> None:
    with pytest.raises(ConnectionBroken):
        await read([b"HTTP/1.1 200 OK\r\nX: " + b"y" * 2 * HEAD_LIMIT])


@pytest.mark.parametrize(
    ("start", "reusable"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", True),
        (b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: Close\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\n\r\n", True),
    ],
)
async def test_a_connection_is_kept_where_the_other_side_keeps_it(start: bytes, reusable: bool) -> None:
    assert (await read([start])).reusable is reusable


@given(st.binary(min_size=1, max_size=5000))
def test_a_chunk_is_its_size_in_hex_and_its_data(data: bytes) -> None:
    size, _, rest = chunk(data).partition(b"\r\n")
    assert (int(size, 16), rest) == (len(data), data + b"\r\n")


def test_an_empty_chunk_is_refused_since_it_would_end_the_body() -> None:
    with pytest.raises(ValueError, match="ends the body"):
        chunk(b"")


def test_a_head_ends_with_an_empty_line() -> None:
    assert head("GET", "/x", [("Host", "h")]) == b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n"
    assert head("GET", "/x", []) == b"GET /x HTTP/1.1\r\n\r\n"
