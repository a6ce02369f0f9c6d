"""How an upstream's bytes are split never shows to the caller: not in the frames, not in the charge."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from pathlib import Path

import httpx
from hypothesis import given
from hypothesis import strategies as st

from core.accounts.keys import digest
from core.surfaces.surface import PLAIN, ROUTING, Surface
from functions.gateway.compose import Gateway
from functions.local.keys import create_key
from functions.settings import read_settings
from tests.support.answers import chunk, usage_chunk
from tests.support.clock import ManualClock
from tests.support.gateway import CATALOG, Noted

CALL = {"index": 0, "id": "up", "type": "function", "function": {"name": "f", "arguments": ""}}
PAYLOADS = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"reasoning_content": "Überlegung 🤔"}),
    chunk({"content": "Grüße, 世界 🌍\u2028"}),
    chunk({"tool_calls": [CALL]}),
    chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"city": "東京"}'}}]}),
    chunk({}, "tool_calls"),
    usage_chunk(),
]
STREAM = (
    b"\xef\xbb\xbf: comment\r\n\r\n"
    + b"".join(b"data: " + json.dumps(payload, ensure_ascii=False).encode() + b"\r\n\r\n" for payload in PAYLOADS)
    + b"data: [DONE]\r\n\r\n"
)


class Pieces(httpx.AsyncByteStream):
    def __init__(self, pieces: Sequence[bytes]) -> None:
        self.pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece


class PieceTransport(httpx.AsyncBaseTransport):
    def __init__(self, pieces: Sequence[bytes]) -> None:
        self.pieces = pieces

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Pieces(self.pieces))


async def caller_stream(pieces: Sequence[bytes], surface: Surface, folder: Path) -> bytes:
    settings = read_settings({"HEADRACE_SQLITE_PATH": str(folder / "headrace.db")})
    own = (("test.toml", CATALOG.format(upstream="http://127.0.0.1:9")),)
    gateway = Gateway(
        settings, {}, lambda: PieceTransport(pieces), clock=ManualClock(), own_catalog=own, journal=Noted()
    )
    await gateway.connect()
    try:
        token, _ = await create_key(gateway.service.parts.store, "default", "law")
        key = await gateway.service.parts.store.key(digest(token))
        assert key is not None
        body = json.dumps(
            {
                "model": "lab/small",
                "stream": True,
                "stream_options": {"include_usage": True},
                "messages": [{"role": "user", "content": "Hello?"}],
            }
        ).encode()
        exchange = gateway.service.chat(surface, key, "req-" + "0" * 32, body)
        await exchange.start()
        return b"".join([frames async for frames in exchange.frames()])
    finally:
        await gateway.close()


def run(pieces: Sequence[bytes], surface: Surface) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(caller_stream(pieces, surface, Path(folder)))


WHOLE = {surface.name: run([STREAM], surface) for surface in (PLAIN, ROUTING)}


@given(st.lists(st.integers(0, len(STREAM)), max_size=40), st.sampled_from([PLAIN, ROUTING]))
def test_any_split_gives_the_same_stream(cuts: list[int], surface: Surface) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[start:end] for start, end in pairwise(edges)]
    assert run(pieces, surface) == WHOLE[surface.name]


def test_byte_by_byte() -> None:
    assert run([bytes([byte]) for byte in STREAM], PLAIN) == WHOLE["plain"]


def test_the_stream_says_what_the_upstream_said() -> None:
    frames = [json.loads(line[6:]) for line in WHOLE["plain"].split(b"\n") if line.startswith(b"data: {")]
    deltas = [choice["delta"] for frame in frames for choice in frame["choices"]]
    assert "".join(delta.get("content") or "" for delta in deltas) == "Grüße, 世界 🌍\u2028"
    assert "".join(delta.get("reasoning_content") or "" for delta in deltas) == "Überlegung 🤔"
    assert frames[-1]["usage"]["cost_micros"] == 1_053
