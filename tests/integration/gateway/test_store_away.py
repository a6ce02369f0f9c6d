"""A store that is away, or hangs: what needs it is refused in time, what does not goes on."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from core.waiting import STORE_S
from functions.gateway.respond import HEARTBEAT_S
from tests.support.answers import HELLO, text_answer
from tests.support.phases import PLAIN, ROUTING, Stage, body, open_stage

FAULTS = pytest.mark.parametrize("fault", ["away", "stuck"])

# A history for which the memory of tool turns is asked.
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
TOOL_LOOP: list[Any] = [
    {"role": "user", "content": "Go."},
    {"role": "assistant", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "done"},
]


async def untouched(stage: Stage) -> bool:
    """Whether nothing came of a request: no call, no record, nothing held, once the store has answered after all."""
    stage.store.free()
    held, records = await stage.held(), await stage.running.store.records("default", 10)
    return (dict(held), records, stage.upstream.received) == ({}, [], [])


@pytest.mark.parametrize("is_stream", [True, False])
@pytest.mark.parametrize("question", ["key", "workspace", "reserve"])
async def test_what_must_be_known_is_waited_for_so_long(tmp_path: Path, question: str, is_stream: bool) -> None:
    async with open_stage(tmp_path, HELLO) as stage:
        stage.store.stuck.add(question)
        asking = stage.ask(stream=is_stream)
        await stage.store.hangs(question)
        await stage.clock.advance(STORE_S - 1)
        assert not asking.done()
        await stage.clock.advance(1)
        response = await asking
        await response.aread()
        assert await untouched(stage)
    assert (response.status_code, response.json()["error"]["code"]) == (503, "store_unavailable")


@pytest.mark.parametrize("prefix", [PLAIN, ROUTING])
async def test_a_stream_hears_of_us_while_it_waits(tmp_path: Path, prefix: str) -> None:
    """Each question is bounded by itself, so that two of them may take longer than the first comment."""
    async with open_stage(tmp_path, HELLO) as stage:
        stage.store.stuck |= {"recall", "reserve"}
        asking = stage.ask(prefix, stream=True, messages=TOOL_LOOP)
        await stage.store.hangs("recall")
        await stage.clock.advance(STORE_S)
        await stage.store.hangs("reserve")
        assert not asking.done()
        await stage.clock.advance(HEARTBEAT_S - STORE_S)
        response = await asking
        received = response.aiter_raw()
        assert (response.status_code, await anext(received)) == (200, b": processing\n")
        await stage.clock.advance(2 * STORE_S - HEARTBEAT_S)
        frame, done = b"".join([part async for part in received]).split(b"\n\n", 1)
        assert await untouched(stage)
    error = json.loads(frame.removeprefix(b"data: "))
    assert (error["object"], error["error"]["code"], error["choices"]) == ("error", "store_unavailable", [])
    assert done == b"data: [DONE]\n\n"


@FAULTS
async def test_a_tool_loop_goes_on_without_its_memory(tmp_path: Path, fault: str) -> None:
    async with open_stage(tmp_path, HELLO) as stage:
        getattr(stage.store, fault).add("recall")
        asking = stage.ask(ROUTING, messages=TOOL_LOOP)
        if fault == "stuck":
            await stage.store.hangs("recall")
            await stage.clock.advance(STORE_S)
        response = await asking
        await response.aread()
        stage.store.free()
    assert response.json()["routing"]["tool_memory"] == "missing"
    assert response.json()["choices"][0]["message"]["content"] == "Hello there!"


async def test_where_it_is_away_nobody_is_served_and_the_process_says_so(tmp_path: Path) -> None:
    async with open_stage(tmp_path, HELLO) as stage:
        stage.store.away.add("*")
        response = await stage.client.post("/v1/chat/completions", json=body())
        ready = await stage.client.get("/readyz")
        health = await stage.client.get("/healthz")
        stage.store.away.clear()
    error = response.json()["error"]
    assert (response.status_code, error["type"], error["code"]) == (503, "overloaded_error", "store_unavailable")
    assert (ready.status_code, health.status_code) == (503, 200)


async def test_a_malformed_key_is_refused_without_a_look_up(tmp_path: Path) -> None:
    payloads = ["sk-123", "hr_", "hr_' OR '1'='1", "hr_" + "a" * 100_00, "hr_" + "A" * 40]
    async with open_stage(tmp_path, HELLO) as stage:
        stage.store.away.add("*")
        for payload in payloads:
            headers = {"authorization": f"Bearer {payload}"}
            response = await stage.client.post("/v1/chat/completions", json=body(), headers=headers)
            assert (response.status_code, response.json()["error"]["code"]) == (401, "invalid_api_key")
        assert stage.store.calls == []
        stage.store.away.clear()


@FAULTS
async def test_in_the_middle_the_answer_is_whole_and_its_record_goes_to_the_log(tmp_path: Path, fault: str) -> None:
    async with open_stage(tmp_path, text_answer("Hello", wait="end")) as stage:
        asking = stage.ask(stream=True)
        await stage.upstream.barrier("end").reached.wait()
        getattr(stage.store, fault).add("settle")
        stage.upstream.barrier("end").released.set()
        reading = asyncio.ensure_future((await asking).aread())
        if fault == "stuck":
            await stage.store.hangs("settle")
            await stage.clock.advance(1)
        text = await reading
        stage.store.free()
        (spilled,) = stage.running.noted.spilled
    assert text.endswith(b"data: [DONE]\n\n")
    assert spilled.outcome == "served"
    assert spilled.charge is not None
    assert spilled.charge.total == 1_053


@FAULTS
@pytest.mark.parametrize("is_stream", [True, False])
async def test_a_record_that_cannot_be_opened_is_settled_all_the_same(
    tmp_path: Path, fault: str, is_stream: bool
) -> None:
    async with open_stage(tmp_path, HELLO) as stage:
        getattr(stage.store, fault).add("open")
        asking = stage.ask(stream=is_stream)
        if fault == "stuck":
            await stage.store.hangs("open")
            await stage.clock.advance(1)
        text = await (await asking).aread()
        assert b"Hello" in text
        assert (await stage.settled()).outcome == "served"
        stage.store.free()
        (spilled,) = stage.running.noted.spilled
    assert not spilled.is_settled
