"""What is kept of a request while it runs, so that nothing is lost when its process is."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.execute import SHORT_RETRY_S
from core.record import LOST, Record
from core.reservation import LEASE_S
from core.settlement import MOST_SILENT_S, RENEWED_S
from core.surfaces.surface import PLAIN
from core.sweep import sweep
from tests.support.answers import chunk, usage_chunk
from tests.support.clock import ManualClock
from tests.support.gateway import Running, running_gateway
from tests.support.script import Head, Reset, Send, Step, Wait, reply
from tests.support.upstream import ScriptedUpstream

BODY = {"model": "lab/small", "stream": True, "messages": [{"role": "user", "content": "Hello?"}]}
SSE = Head(200, {"content-type": "text/event-stream"})
BUSY = reply({"error": {"message": "busy"}}, 503)


def said(text: str) -> Step:
    return Send(f"data: {json.dumps(chunk({'content': text}))}\n\n".encode())


END: list[Step] = [
    Send(f"data: {json.dumps(chunk({}, 'stop'))}\n\n".encode()),
    Send(
        f"data: {json.dumps({**chunk({}), 'choices': [], 'usage': {'prompt_tokens': 31, 'completion_tokens': 64}})}"
        "\n\ndata: [DONE]\n\n".encode()
    ),
]


def events(*chunks: Any) -> list[Step]:
    return [Send(f"data: {json.dumps(each)}\n\n".encode()) for each in chunks]


async def only_record(running: Running) -> Record:
    await running.gateway.after_response()
    (record,) = await running.store.records("default", 10)
    return record


async def test_the_attempt_that_serves_is_noted_while_it_runs(tmp_path: Path) -> None:
    async with (
        ScriptedUpstream(BUSY, [SSE, said("Hel"), Wait("half"), said("lo"), *END]) as upstream,
        running_gateway(tmp_path, upstream.url) as running,
        running.client() as client,
        client.stream("POST", "/v1/chat/completions", json=BODY) as response,
    ):
        received = response.aiter_raw()
        assert b"Hel" in await anext(received)
        open_record = await only_record(running)
        upstream.barrier("half").released.set()
        rest = b"".join([data async for data in received])
        settled = await only_record(running)
    assert (open_record.is_settled, open_record.model) == (False, "lab/small")
    failed, serving = open_record.attempts
    assert (failed.outcome, failed.charged) == ("upstream_error", False)
    assert (serving.outcome, serving.usage, serving.charged) == (LOST, None, False)
    assert serving.likely_pico is not None
    assert serving.likely_pico > 0
    assert [row.outcome for row in settled.attempts] == ["upstream_error", "served"]
    assert settled.charge is not None
    assert settled.charge.total == 1_053
    assert b"[DONE]" in rest


async def test_a_long_stream_keeps_its_record(tmp_path: Path) -> None:
    clock = ManualClock()
    pieces = [step for number in range(8) for step in (Wait(str(number)), said(f"<{number}>"))]
    async with (
        ScriptedUpstream([SSE, said("<start>"), *pieces, *END]) as upstream,
        running_gateway(tmp_path, upstream.url, clock=clock) as running,
        running.client() as client,
        client.stream("POST", "/v1/chat/completions", json=BODY) as response,
    ):
        received = response.aiter_raw()
        await until(b"<start>", received)
        first = await only_record(running)
        assert first.lease_until_ms == first.created_ms + LEASE_S * 1_000
        for number in range(8):
            await clock.advance(50)
            upstream.barrier(str(number)).released.set()
            await until(f"<{number}>".encode(), received)
        renewed = await only_record(running)
        assert renewed.lease_until_ms == first.created_ms + (390 + LEASE_S) * 1_000
        late_ms = first.created_ms + LEASE_S * 1_000 + 1
        assert await sweep(running.store, late_ms, 10) == []
        assert b"[DONE]" in b"".join([data async for data in received])
        settled = await only_record(running)
    assert settled.lease_until_ms == renewed.lease_until_ms
    assert settled.outcome == "served"


@pytest.mark.parametrize("is_stream", [True, False])
async def test_what_a_host_has_reported_is_charged_when_the_process_dies(tmp_path: Path, is_stream: bool) -> None:
    """A lost request comes to what was told until the last renewal of its lease, a failed attempt's usage included."""
    clock = ManualClock()
    early, reported = usage_chunk(11, 22), usage_chunk(31, 64)
    failing = [SSE, *events(chunk({"role": "assistant"}), reported), Reset()]
    serving = [SSE, said("Hel"), *events({**chunk({}), "usage": early["usage"]}), Wait("half"), said("lo"), *END]
    async with (
        ScriptedUpstream(failing, serving) as upstream,
        running_gateway(tmp_path, upstream.url, clock=clock) as running,
        running.client() as client,
    ):
        asking = asyncio.ensure_future(client.post("/v1/chat/completions", json=BODY | {"stream": is_stream}))
        await clock.sleeper_within(SHORT_RETRY_S)
        await clock.advance(clock.due_in() or 0)
        await upstream.barrier("half").reached.wait()
        for _ in range(5):  # what the upstream sent comes through the same loop
            await client.get("/healthz")
        await clock.advance(RENEWED_S - 0.1)
        noted = await only_record(running)
        (lost,) = await sweep(running.store, noted.lease_until_ms + 1, 10)
        upstream.barrier("half").released.set()
        answer = await asking
        settled = await only_record(running)
    assert not noted.is_settled
    assert [(row.outcome, row.charged) for row in noted.attempts] == [("interrupted", True), (LOST, True)]
    assert lost.charge is not None
    assert lost.charge.total == 1_053 + 11 * 3 + 22 * 15
    assert b"lo" in answer.content
    assert settled.charge is not None
    assert settled.charge.total == 2 * 1_053


async def test_what_a_host_has_told_by_the_commit_is_noted_with_it(tmp_path: Path) -> None:
    told = {**chunk({"content": "Hel"}), "usage": usage_chunk(11, 22)["usage"]}
    async with (
        ScriptedUpstream([SSE, *events(told), Wait("half"), *END]) as upstream,
        running_gateway(tmp_path, upstream.url) as running,
        running.client() as client,
        client.stream("POST", "/v1/chat/completions", json=BODY) as response,
    ):
        received = response.aiter_raw()
        await until(b"Hel", received)
        (row,) = (await only_record(running)).attempts
        upstream.barrier("half").released.set()
        assert b"[DONE]" in b"".join([data async for data in received])
    assert (row.outcome, row.charged) == (LOST, True)
    assert row.usage is not None
    assert row.usage.total_tokens == 33


async def test_a_request_that_waits_in_silence_keeps_its_record(tmp_path: Path) -> None:
    clock, body = ManualClock(), {**BODY, "stream": False}
    async with (
        ScriptedUpstream([SSE, Wait("silence"), said("Hello"), *END]) as upstream,
        running_gateway(tmp_path, upstream.url, clock=clock) as running,
        running.client() as client,
    ):
        asking = asyncio.ensure_future(client.post("/v1/chat/completions", json=body))
        await upstream.barrier("silence").reached.wait()
        first = await only_record(running)
        await clock.advance(RENEWED_S - 1)
        assert await only_record(running) == first, "a short request writes nothing more"
        await clock.advance(RENEWED_S - 1)
        renewed = await only_record(running)
        assert renewed.lease_until_ms == first.created_ms + (RENEWED_S + LEASE_S) * 1_000
        upstream.barrier("silence").released.set()
        assert (await asking).status_code == 200
        await clock.advance(10 * LEASE_S)
        settled = await only_record(running)
    assert (settled.outcome, settled.lease_until_ms) == ("served", renewed.lease_until_ms)


async def test_the_lease_of_a_request_of_which_nothing_is_heard_ends_at_last(tmp_path: Path) -> None:
    clock = ManualClock()
    async with (
        ScriptedUpstream([SSE, said("<start>"), *END]) as upstream,
        running_gateway(tmp_path, upstream.url, clock=clock) as running,
    ):
        (key,) = await running.store.keys("default")
        exchange = running.gateway.service.chat(PLAIN, key, "req-" + 32 * "0", json.dumps(BODY).encode())
        await exchange.start()
        first = await only_record(running)
        await clock.advance(2 * MOST_SILENT_S)
        last = await only_record(running)
        await exchange.leave()
    assert not last.is_settled
    assert last.lease_until_ms == first.created_ms + (MOST_SILENT_S - RENEWED_S + LEASE_S) * 1_000


async def until(wanted: bytes, received: AsyncIterator[bytes]) -> None:
    data = b""
    while wanted not in data:
        data += await anext(received)


async def test_a_slow_process_corrects_what_was_taken_for_lost(tmp_path: Path) -> None:
    async with (
        ScriptedUpstream([SSE, said("Hel"), Wait("half"), said("lo"), *END]) as upstream,
        running_gateway(tmp_path, upstream.url) as running,
        running.client() as client,
    ):
        async with client.stream("POST", "/v1/chat/completions", json=BODY) as response:
            received = response.aiter_raw()
            assert b"Hel" in await anext(received)
            open_record = await only_record(running)
            (lost,) = await sweep(running.store, open_record.lease_until_ms + 1, 10)
            assert (lost.outcome, lost.usage) == (LOST, None)
            before = (await client.get("/v1/usage")).json()["data"]
            upstream.barrier("half").released.set()
            assert b"[DONE]" in b"".join([data async for data in received])
        settled = await only_record(running)
        after = (await client.get("/v1/usage")).json()["data"]
    assert settled.outcome == "served"
    assert [(row["requests"], row["errors"], row["cost_micros"]) for row in before] == [(1, 1, 0)]
    assert [(row["requests"], row["errors"], row["cost_micros"]) for row in after] == [(1, 0, 1_053)]
