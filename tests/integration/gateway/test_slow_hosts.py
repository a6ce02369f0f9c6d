"""Hosts that say nothing, or a byte a second: left in time before the commit, told in band after it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.answers import HELLO, chunk
from tests.support.clock import ManualClock
from tests.support.fault_bench import WORD, Bench, Place, open_bench
from tests.support.fault_scripts import SSE, TOKEN, USED_MICROS, Fault, sse
from tests.support.gateway import running_gateway
from tests.support.script import Never, Received, Send, Step, Wait
from tests.support.upstream import ScriptedUpstream

pytestmark = pytest.mark.asyncio(loop_scope="module")

SILENT = {
    "from the start": Fault([Never()]),
    "after the head": Fault([SSE, Never()]),
    "after a token": Fault([SSE, TOKEN, Never()]),
}
FIRST_TOKEN_S = {True: 12, False: 60}
SILENCE_S = {True: 60, False: 30}

ways = pytest.mark.parametrize("is_stream", [True, False], ids=["streamed", "whole"])
places = pytest.mark.parametrize("is_last", [True, False], ids=["last", "first"])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bench(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bench]:
    async with open_bench(tmp_path_factory.mktemp("slow"), SILENT) as opened:
        yield opened


def silent_place(bench: Bench, name: str, is_stream: bool, is_last: bool) -> Place:
    return bench.place([*SILENT].index(name), is_stream, is_last)


@places
@ways
@pytest.mark.parametrize("name", ["from the start", "after the head"])
async def test_silence_before_any_token(bench: Bench, name: str, is_stream: bool, is_last: bool) -> None:
    place = silent_place(bench, name, is_stream, is_last)
    asking = asyncio.ensure_future(place.post(is_stream))
    await place.asked()
    await bench.clock.advance(FIRST_TOKEN_S[is_stream] - 1)
    assert not asking.done()
    await bench.clock.advance(1)
    told = await asking
    await place.closed()
    assert told.record.charge is not None
    if is_last:
        assert (told.response.status_code, told.error["code"]) == (504, "first_token_timeout")
        assert (told.outcomes, told.record.charge.total) == (["first_token_timeout"], 0)
    else:
        assert (told.response.status_code, told.text) == (200, "Hello there!")
        assert (told.outcomes, told.record.charge.total) == (["first_token_timeout", "served"], 1_053)
    assert WORD not in told.response.text


@places
async def test_silence_after_the_commit_of_a_stream(bench: Bench, is_last: bool) -> None:
    place = silent_place(bench, "after a token", True, is_last)
    request = bench.client.build_request("POST", "/v1/chat/completions", json=place.body(True))
    response = await bench.client.send(request, stream=True)
    received = response.aiter_raw()
    text = await anext(received)
    await bench.clock.advance(SILENCE_S[True])
    text += b"".join([part async for part in received])
    told = await place.told(response)
    await place.closed()
    assert text.count(b": processing\n") >= 3
    assert b'"code":"silent_upstream"' in text
    assert text.endswith(b"data: [DONE]\n\n")
    assert (told.outcomes, told.record.outcome) == (["silent"], "interrupted")
    assert told.record.charge is not None
    assert told.record.charge.total == 0


@places
async def test_silence_in_the_middle_of_a_whole_answer(bench: Bench, is_last: bool) -> None:
    place = silent_place(bench, "after a token", False, is_last)
    asking = asyncio.ensure_future(place.post(False))
    await place.asked()
    await bench.read_so_far()
    await bench.clock.advance(SILENCE_S[False])
    told = await asking
    await place.closed()
    assert told.record.charge is not None
    if is_last:
        assert (told.response.status_code, told.error["code"]) == (502, "upstream_error")
        assert (told.outcomes, told.record.charge.total) == (["silent"], 0)
    else:
        assert (told.response.status_code, told.text) == (200, "Hello there!")
        assert (told.outcomes, told.record.charge.total) == (["silent", "served"], USED_MICROS)


def a_byte_a_second(seconds: int) -> list[Step]:
    """Comments, byte by byte: what keeps a connection alive, and is no token."""
    return [step for number in range(seconds) for step in (Wait(f"second {number}"), Send(b":"))]


async def pass_seconds(upstream: ScriptedUpstream, clock: ManualClock, seconds: int) -> None:
    for number in range(seconds):
        barrier = upstream.barrier(f"second {number}")
        await barrier.reached.wait()
        await clock.advance(1)
        barrier.released.set()


CATALOG = """
[vendors.slow]
format = "openai"
base_url = "{upstream}/slow"
auth = "none"

[vendors.good]
format = "openai"
base_url = "{upstream}/good"
auth = "none"

[[models]]
id = "lab/one"
context_tokens = 8192
max_output_tokens = 2048
[[models.hosts]]
vendor = "slow"
upstream_model = "up"
prices = {{ input = 3, output = 15 }}
"""
ANOTHER = """
[[models.hosts]]
vendor = "good"
upstream_model = "up"
prices = {{ input = 30, output = 150 }}
"""


@places
@ways
async def test_a_byte_a_second_is_no_token(tmp_path: Path, is_stream: bool, is_last: bool) -> None:
    clock, seconds = ManualClock(), FIRST_TOKEN_S[is_stream]

    def script(request: Received) -> Sequence[Step]:
        return HELLO if request.path.startswith("/good/") else [SSE, *a_byte_a_second(seconds + 1), Never()]

    async with (
        ScriptedUpstream(script) as upstream,
        running_gateway(tmp_path, upstream.url, clock=clock, catalog=CATALOG + ("" if is_last else ANOTHER)) as running,
        running.client() as client,
    ):
        asked = {"model": "lab/one", "stream": is_stream, "messages": [{"role": "user", "content": "Hello?"}]}
        asking = asyncio.ensure_future(client.post("/v1/chat/completions", json=asked))
        await pass_seconds(upstream, clock, seconds)
        response = await asking
        await upstream.received[0].disconnected.wait()
        await running.gateway.after_response()
        (record,) = await running.store.records("default", 10)
    outcomes = [row.outcome for row in record.attempts]
    assert record.charge is not None
    if is_last:  # a stream has had no comment yet; a whole answer never has one
        assert (response.status_code, response.json()["error"]["code"]) == (504, "first_token_timeout")
        assert (outcomes, record.charge.total) == (["first_token_timeout"], 0)
    else:
        assert response.status_code == 200
        assert "Hello" in response.text
        assert (outcomes, record.charge.total) == (["first_token_timeout", "served"], 10 * USED_MICROS)


@ways
async def test_a_byte_a_second_is_no_silence(tmp_path: Path, is_stream: bool) -> None:
    clock, seconds = ManualClock(), SILENCE_S[is_stream] + 5
    rest = [Send(b"\n"), sse(chunk({"content": "lo"})), *HELLO[-3:]]
    async with (
        ScriptedUpstream([SSE, TOKEN, *a_byte_a_second(seconds), *rest]) as upstream,
        running_gateway(tmp_path, upstream.url, clock=clock, catalog=CATALOG + ANOTHER) as running,
        running.client() as client,
    ):
        asked = {"model": "lab/one", "stream": is_stream, "messages": [{"role": "user", "content": "Hello?"}]}
        asking = asyncio.ensure_future(client.post("/v1/chat/completions", json=asked))
        await pass_seconds(upstream, clock, seconds)
        response = await asking
        await running.gateway.after_response()
        (record,) = await running.store.records("default", 10)
    assert response.status_code == 200
    assert ('"content":"lo"' in response.text) if is_stream else ('"content":"Hello"' in response.text)
    assert record.charge is not None
    assert ([row.outcome for row in record.attempts], record.charge.total) == (["served"], USED_MICROS)
