"""Many streams at once over upstreams that fail at random: every caller gets an answer or a documented error.

The gate runs a short form; `make soak` runs two minutes with 200 streams at once.
"""

import asyncio
import gc
import json
import random
import resource
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.support.answers import chunk, text_answer
from tests.support.gateway import Running, running_gateway
from tests.support.script import Close, Head, Received, Reset, Send, Step, reply
from tests.support.upstream import ScriptedUpstream

WORDS = ["one ", "two ", "three ", "four ", "five"]
DOCUMENTED = {"interrupted", "upstream_error", "all_attempts_failed", "upstream_rate_limited"}
KILOBYTES_PER_MEGABYTE = 1024


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


async def ask(client: httpx.AsyncClient, is_stream: bool) -> str:
    asked = {"model": "lab/small", "stream": is_stream, "messages": [{"role": "user", "content": "Count."}]}
    response = await client.post("/v1/chat/completions", json=asked)
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


async def soak(folder: Path, callers: int, go_on: Callable[[int], bool]) -> Counter[str]:
    """Keep `callers` requests under way for as long as `go_on(number of the request)` says so."""
    outcomes: Counter[str] = Counter()
    numbers = iter(range(10**9))
    async with ScriptedUpstream(failing_upstream(7)) as upstream, running_gateway(folder, upstream.url) as running:
        before = asyncio.all_tasks()

        async def caller(client: httpx.AsyncClient) -> None:
            while go_on(number := next(numbers)):
                outcomes[await ask(client, is_stream=number % 3 != 0)] += 1

        limits = httpx.Limits(max_connections=callers)
        headers = {"authorization": f"Bearer {running.token}"}
        async with httpx.AsyncClient(base_url=running.url, headers=headers, timeout=60, limits=limits) as client:
            await asyncio.gather(*[caller(client) for _ in range(callers)])
        await nothing_left(running, upstream, before)
        records = await running.store.records("default", 10**6)
        assert len(records) == sum(outcomes.values())
        assert all(record.is_settled and record.charge is not None for record in records)
        assert Counter(record.outcome for record in records)["served"] == outcomes["served"]
    return outcomes


async def nothing_left(running: Running, upstream: ScriptedUpstream, before: set[asyncio.Task[object]]) -> None:
    """No task of the gateway's is left once the callers have gone, and no upstream call is open."""
    await running.gateway.after_response()
    for request in upstream.received:
        if not request.answered.is_set():
            await request.disconnected.wait()
    await running.gateway.service.parts.caller.client.close()
    for task in asyncio.all_tasks() - before - {asyncio.current_task()}:
        await asyncio.wait({task}, timeout=5)
        assert task.done(), task


async def test_a_short_soak(tmp_path: Path) -> None:
    outcomes = await soak(tmp_path, callers=30, go_on=lambda number: number < 300)
    assert outcomes["served"] > 150
    assert outcomes["broken"] > 10


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_two_minutes_with_two_hundred_callers_leave_memory_flat(tmp_path: Path) -> None:
    started = time.monotonic()
    peaks: list[float] = []

    def go_on(number: int) -> bool:
        if number % 500 == 0:
            gc.collect()
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KILOBYTES_PER_MEGABYTE)
        return time.monotonic() - started < 120

    outcomes = await soak(tmp_path, callers=200, go_on=go_on)
    assert outcomes["served"] > 500
    # The test itself remembers what it was asked; the peak must not go on rising with it.
    settled = peaks[len(peaks) // 3]
    assert peaks[-1] - settled < 60, peaks
