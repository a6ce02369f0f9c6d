"""Callers who leave, in every phase of a request. No time passes after that: no timer can be what ends the call."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from core.decision import BUILT_IN_POLICY
from core.record import Record
from core.reservation import ORGANISATION
from core.tenant import Limits, Organisation
from tests.support.answers import HELLO, chunk, text_answer, usage_chunk
from tests.support.gateway import Noted
from tests.support.phases import SSE, Stage, leave, open_stage, sse, talking
from tests.support.script import Never, Step, reply


async def left(stage: Stage, asking: "asyncio.Task[httpx.Response]", *outcomes: str) -> Record:
    """The record of a request whose caller leaves now; its call is stopped, and nothing stays reserved."""
    if asking.done():
        await asking.result().aclose()
    else:
        await leave(asking)
    await stage.upstream.received[-1].disconnected.wait()
    record = await stage.settled()
    assert record.outcome == "caller_left"
    assert [row.outcome for row in record.attempts] == [*outcomes, "caller_left"]
    assert await stage.held() == {}
    return record


def charged(record: Record) -> int:
    assert record.charge is not None
    return record.charge.total


@pytest.mark.parametrize("is_stream", [True, False])
async def test_before_the_first_token(tmp_path: Path, is_stream: bool) -> None:
    async with open_stage(tmp_path, [Never()]) as stage:
        asking = stage.ask(stream=is_stream)
        await stage.upstream.arrival().wait()
        assert charged(await left(stage, asking)) == 0


async def test_while_thinking_is_held_back(tmp_path: Path) -> None:
    async with open_stage(tmp_path, talking(2, "Hello")) as stage:
        asking = stage.ask(stream=True, extended_thinking=False)
        await stage.thinks(1, 0)
        await stage.upstream.barrier("thought 1").reached.wait()
        await stage.read_so_far()
        assert not asking.done()
        assert charged(await left(stage, asking)) == 0


async def test_before_the_commit_what_the_host_reported_is_charged(tmp_path: Path) -> None:
    script: list[Step] = [SSE, sse({**usage_chunk(31, 64), "choices": []}), sse(chunk({"content": "x"})), Never()]
    async with open_stage(tmp_path, script) as stage:
        asking = stage.ask()
        await stage.upstream.arrival().wait()
        await stage.read_so_far()
        assert charged(await left(stage, asking)) == 1_053


async def test_after_the_early_head_of_a_whole_answer(tmp_path: Path) -> None:
    async with open_stage(tmp_path, talking(20, "Hello"), variables={"HEADRACE_EARLY_COMMIT_S": "240"}) as stage:
        asking = stage.ask()
        await stage.thinks(13, 20)
        response = await asking
        assert await anext(response.aiter_raw()) == b" "
        assert charged(await left(stage, asking)) == 0


async def test_in_the_middle_of_a_stream_what_was_delivered_is_charged(tmp_path: Path) -> None:
    async with open_stage(tmp_path, [SSE, sse(chunk({"content": "Hello there, caller"})), Never()]) as stage:
        asking = stage.ask(stream=True)
        await anext((await asking).aiter_raw())
        record = await left(stage, asking)
    assert record.usage is not None
    assert record.usage.estimated
    assert charged(record) > 0


async def test_an_estimate_never_comes_to_more_than_what_was_held(tmp_path: Path) -> None:
    """A host that writes on and on beyond the limit, and tells nothing."""
    async with open_stage(tmp_path, [SSE, *[sse(chunk({"content": "word " * 99}))] * 9, Never()]) as stage:
        bounded = Organisation("default", "Default", 0, limits=Limits(day_micros=10**9))
        await stage.running.store.save_organisation(bounded)
        asking = stage.ask(stream=True, max_tokens=20)
        answer = (await asking).aiter_raw()
        while (await anext(answer)).count(b"word") == 0:
            pass
        record = await left(stage, asking)
    assert record.usage is not None
    assert record.reservation is not None
    (held,) = record.reservation.amounts[ORGANISATION].values()
    assert (record.usage.estimated, record.usage.output_tokens) == (True, 20)
    assert 0 < charged(record) <= held


async def test_while_the_host_is_asked_once_more(tmp_path: Path) -> None:
    async with open_stage(tmp_path, text_answer("No."), [Never()]) as stage:
        await stage.running.store.save_policy("default", replace(BUILT_IN_POLICY, name="default", reask_json=True))
        asking = stage.ask(
            response_format={"type": "json_object"}, messages=[{"role": "user", "content": "JSON, please."}]
        )
        await stage.upstream.arrival(1).wait()
        assert charged(await left(stage, asking, "served")) == 1_053


class Watched(Noted):
    """A journal that tells when an attempt has failed."""

    def __init__(self) -> None:
        super().__init__()
        self.failed = asyncio.Event()

    def attempt_failed(self, request_id: str, host: str, detail: str) -> None:
        self.failed.set()


async def test_between_two_attempts(tmp_path: Path) -> None:
    journal = Watched()
    busy = reply({"error": {"message": "m", "type": "server_error"}}, 503)
    async with open_stage(tmp_path, busy, journal=journal) as stage:
        asking = stage.ask()
        await journal.failed.wait()
        await stage.clock.sleeper_within(5)  # the pause before the host is asked again
        await leave(asking)
        record = await stage.settled()
        assert len(stage.upstream.received) == 1
        assert await stage.held() == {}
    assert (record.outcome, [row.outcome for row in record.attempts]) == ("caller_left", ["upstream_error"])
    assert charged(record) == 0


@pytest.mark.parametrize("question", ["workspace", "recall", "reserve"])
async def test_while_the_store_hangs(tmp_path: Path, question: str) -> None:
    """Nothing was begun, so nothing is recorded; what the store carries out after all is taken back."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages: list[Any] = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "done"},
    ]
    async with open_stage(tmp_path, HELLO) as stage:
        stage.store.stuck.add(question)
        asking = stage.ask(messages=messages)
        await stage.store.hangs(question)
        await leave(asking)
        stage.store.free()
        await stage.read_so_far()
        assert await stage.held() == {}
        assert (stage.upstream.received, await stage.running.store.records("default", 10)) == ([], [])
