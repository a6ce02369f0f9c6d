"""32 callers at a time in one environment, on one event loop: each gets its own answer, and each is charged its own."""

import json
import time
from collections.abc import Sequence
from pathlib import Path

from functions.gateway.clock import SystemClock
from functions.gateway.compose import Gateway
from functions.local.emulator.runtime_api import RuntimeApiEmulator
from functions.local.keys import create_key
from functions.settings import read_settings
from tests.support.answers import chunk, usage_chunk
from tests.support.gateway import CATALOG
from tests.support.lambda_events import rest_event
from tests.support.runtime_process import serving
from tests.support.script import Head, Received, Send, Step, Wait
from tests.support.upstream import ScriptedUpstream

MANY = 32
TURNS = 3
# Micro-dollars per token, as CATALOG prices them.
INPUT, OUTPUT = 3, 15


def sse(payload: object) -> Send:
    return Send(f"data: {json.dumps(payload)}\n\n".encode())


def in_turns(asked: Received) -> Sequence[Step]:
    """Words that name the question, each only after every stream has had the one before."""
    number = int(asked.json["messages"][0]["content"])
    steps: list[Step] = [Head(200, {"content-type": "text/event-stream"})]
    for turn in range(TURNS):
        steps += [sse(chunk({"content": f"{number}-{turn};"})), Wait(f"turn {turn}")]
    return [*steps, sse(chunk({}, "stop")), sse(usage_chunk(100 + number, 10 + number)), Send(b"data: [DONE]\n\n")]


def words(body: bytes) -> str:
    """The text of a stream."""
    lines = [line.removeprefix(b"data: ") for line in body.splitlines() if line.startswith(b"data: {")]
    chunks = [json.loads(line) for line in lines]
    return "".join(choice["delta"].get("content") or "" for each in chunks for choice in each["choices"])


async def test_streams_run_side_by_side_and_each_is_its_callers_own(tmp_path: Path) -> None:
    variables = {"HEADRACE_SQLITE_PATH": str(tmp_path / "headrace.db")}
    async with ScriptedUpstream(in_turns) as upstream, RuntimeApiEmulator(max_concurrency=MANY) as api:
        gateway = Gateway(
            read_settings(variables), variables, own_catalog=(("test.toml", CATALOG.format(upstream=upstream.url)),)
        )
        async with serving(api, gateway, SystemClock(), max_concurrency=MANY):
            await api.waits_for_polls(MANY)
            store = gateway.service.parts.store
            token, _ = await create_key(store, "default", "tests")
            calls = [api.invoke(asked(number, token), deadline=time.time() + 60) for number in range(MANY)]
            for turn in range(TURNS):
                for number, call in enumerate(calls):
                    await call.has_body(b"%d-%d;" % (number, turn))
                assert not any(b"-%d;" % (turn + 1) in call.body for call in calls)
                upstream.barrier(f"turn {turn}").released.set()
            for call in calls:
                await call.done()
            await api.polled(2 * MANY)
            records = {record.request_id: record for record in await store.records("default", 2 * MANY)}
    for number, call in enumerate(calls):
        charge = records[call.headers["x-request-id"]].charge
        assert words(call.body) == "".join(f"{number}-{turn};" for turn in range(TURNS))
        assert charge is not None
        assert charge.total == (100 + number) * INPUT + (10 + number) * OUTPUT
    assert len(records) == MANY


def asked(number: int, token: str) -> object:
    body = {"model": "lab/small", "stream": True, "messages": [{"role": "user", "content": str(number)}]}
    return rest_event(json.dumps(body).encode(), headers={"Authorization": [f"Bearer {token}"]})
