"""Many streams at once over upstreams that fail at random: every caller gets an answer or a documented error.

The gate runs a short form; `make soak` runs two minutes with 200 streams at once.
"""

import asyncio
import gc
import json
import os
import random
import resource
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from core.attempt import Attempt
from core.exchange import Exchange
from core.record import Record
from core.surfaces.openai_chat import StreamRenderer
from core.upstream.client import UpstreamResponse
from tests.support.answers import chunk, text_answer
from tests.support.gateway import Running, running_gateway
from tests.support.script import Close, Head, Received, Reset, Send, Step, reply
from tests.support.upstream import ScriptedUpstream

WORDS = ["one ", "two ", "three ", "four ", "five"]
KILOBYTES_PER_MEGABYTE = 1024
PATIENCE_S = 60.0
TURNS = 10_000

# What may be told of a host that fails. Where the machine is busy, budgets of seconds pass as well.
DOCUMENTED = {
    *("interrupted", "silent_upstream", "upstream_error", "all_attempts_failed", "upstream_rate_limited"),
    *("first_token_timeout", "deadline_exceeded"),
}

# What holds the buffers of a request.
HOLDERS = (Attempt, Exchange, StreamRenderer, UpstreamResponse)


def failing_upstream(seed: int) -> Callable[[Received], list[Step]]:
    """A third of the answers break at a random place, in a random way."""
    dice = random.Random(seed)

    def script(request: Received) -> list[Step]:
        if dice.random() > 1 / 3:
            return text_answer(*WORDS)
        ways: list[list[Step]] = [
            [Reset()],
            reply({"error": {"message": "busy"}}, 503),
            [*cut(dice.randrange(len(WORDS) + 1)), Reset()],
            [*cut(dice.randrange(len(WORDS) + 1)), Close()],
            [*cut(dice.randrange(len(WORDS) + 1)), Send(b'data: {"error": {"message": "down"}}\n\n')],
            [*cut(dice.randrange(len(WORDS) + 1)), Send(b"data: {broken\n\n")],
        ]
        return dice.choice(ways)

    return script


def cut(after: int) -> list[Step]:
    events: list[Step] = [Send(f"data: {json.dumps(chunk({'content': word}))}\n\n".encode()) for word in WORDS]
    return [Head(200, {"content-type": "text/event-stream"}), *events[:after]]


@dataclass
class Callers:
    """Requests, and what came of them; those who left are apart, since what they would have got is not known."""

    client: httpx.AsyncClient
    outcomes: Counter[str] = field(default_factory=Counter)
    left: set[str] = field(default_factory=set)

    async def ask(self, number: int) -> None:
        if number % 11 == 5:
            await self.leave()
        else:
            self.outcomes[await self.answered(is_stream=number % 5 != 0)] += 1

    async def leave(self) -> None:
        """Go as soon as the answer begins."""
        async with self.client.stream("POST", "/v1/chat/completions", json=body(is_stream=True)) as response:
            self.left.add(response.headers["x-request-id"])
            async for _ in response.aiter_raw():
                return

    async def answered(self, is_stream: bool) -> str:
        response = await self.client.post("/v1/chat/completions", json=body(is_stream))
        if response.status_code != 200:
            code: str = response.json()["error"]["code"]
            assert code in DOCUMENTED
            return code
        if not is_stream:
            assert response.json()["choices"][0]["message"]["content"] == "".join(WORDS)
            return "served"
        assert response.text.endswith("data: [DONE]\n\n")
        frames = [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: {")]
        text = "".join(choice["delta"].get("content") or "" for frame in frames for choice in frame["choices"])
        if "error" in frames[-1]:
            assert frames[-1]["error"]["code"] in DOCUMENTED
            assert "".join(WORDS).startswith(text)
            return "broken"
        assert text == "".join(WORDS)
        return "served"


def body(is_stream: bool) -> dict[str, object]:
    return {"model": "lab/small", "stream": is_stream, "messages": [{"role": "user", "content": "Count."}]}


async def soak(folder: Path, callers: int, go_on: Callable[[int], bool]) -> Counter[str]:
    """Keep `callers` requests under way for as long as `go_on(number of the request)` says so."""
    numbers = iter(range(10**9))
    async with ScriptedUpstream(failing_upstream(7)) as upstream, running_gateway(folder, upstream.url) as running:
        # No connection is used twice: a busy loop may close one that was idle in the moment in which it is taken up.
        limits = httpx.Limits(max_connections=callers, max_keepalive_connections=0)
        headers = {"authorization": f"Bearer {running.token}"}
        await running.store.ping()
        tasks, holders, files = asyncio.all_tasks(), held(), open_files()
        async with httpx.AsyncClient(
            base_url=running.url, headers=headers, timeout=PATIENCE_S, limits=limits
        ) as client:
            asking = Callers(client)

            async def caller() -> None:
                while go_on(number := next(numbers)):
                    await asking.ask(number)

            await asyncio.gather(*[caller() for _ in range(callers)])
        await nothing_left(running, upstream, tasks)
        assert held() == holders
        await files_closed(files)
        records = await settled_records(running)
    assert len(records) == sum(asking.outcomes.values()) + len(asking.left)
    answered = [record for request_id, record in records.items() if request_id not in asking.left]
    assert Counter(record.outcome for record in answered)["served"] == asking.outcomes["served"]
    return asking.outcomes


async def settled_records(running: Running) -> dict[str, Record]:
    """Every record, settled and priced, by request id; those that a busy store did not take in time are in the log."""
    kept = {record.request_id: record for record in await running.store.records("default", 10**6)}
    records = kept | {record.request_id: record for record in running.noted.spilled if record.is_settled}
    assert all(record.is_settled and record.charge is not None for record in records.values())
    return records


async def nothing_left(running: Running, upstream: ScriptedUpstream, before: set[asyncio.Task[object]]) -> None:
    """No task of the gateway's is left once the callers have gone, and no upstream call is open."""
    await running.gateway.after_response()
    for request in upstream.received:
        if not request.answered.is_set():
            await request.disconnected.wait(PATIENCE_S)
    await running.gateway.service.parts.caller.client.close()
    left = asyncio.all_tasks() - before - {asyncio.current_task()}
    if left:
        _, undone = await asyncio.wait(left, timeout=PATIENCE_S)
        assert undone == set()
    await running.gateway.after_response()


def held() -> dict[str, int]:
    """How many of the objects that hold a request's buffers there are."""
    gc.collect()
    kinds = Counter(type(each) for each in gc.get_objects())
    return {kind.__name__: kinds[kind] for kind in HOLDERS}


def open_files() -> int:
    """How many files and sockets this process has open."""
    return len(os.listdir("/dev/fd"))


async def files_closed(before: int) -> None:
    """Return once no more files are open than before: the loop closes sockets a turn after their ends have gone."""
    turns = 0
    while open_files() > before:
        turns += 1
        assert turns < TURNS, f"{open_files()} files are open, not {before}"
        await asyncio.sleep(0)


async def test_a_short_soak(tmp_path: Path) -> None:
    outcomes = await soak(tmp_path, callers=30, go_on=lambda number: number < 300)
    assert outcomes["served"] > 150
    assert outcomes["broken"] > 10


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_two_minutes_with_two_hundred_streams_leave_memory_flat(tmp_path: Path) -> None:
    started = time.monotonic()
    peaks: list[float] = []

    def go_on(number: int) -> bool:
        if number % 500 == 0:
            gc.collect()
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KILOBYTES_PER_MEGABYTE)
        return time.monotonic() - started < 120

    outcomes = await soak(tmp_path, callers=250, go_on=go_on)  # four of five are streams
    assert outcomes["served"] > 500
    # The test itself remembers what it was asked; the peak must not go on rising with it.
    settled = peaks[len(peaks) // 3]
    assert peaks[-1] - settled < 60, peaks
    print(f"{sum(outcomes.values())} answers: {dict(outcomes)}; peak memory {settled:.0f} MB, then {peaks[-1]:.0f} MB")
