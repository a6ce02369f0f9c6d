"""A chat completion through the whole gateway on Lambda's side of the world: event in, stream out, record settled."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from core.ports import Store
from core.record import Record
from functions.gateway.compose import Gateway
from functions.local.emulator.call import Call
from functions.local.emulator.runtime_api import RuntimeApiEmulator
from functions.local.keys import create_key
from functions.settings import read_settings
from tests.support.answers import HELLO, chunk, usage_chunk
from tests.support.away import AwayStore
from tests.support.clock import ManualClock
from tests.support.gateway import CATALOG
from tests.support.lambda_events import rest_event
from tests.support.runtime_process import serving
from tests.support.script import Head, Script, Send, Step, Wait
from tests.support.upstream import ScriptedUpstream


def sse(payload: object) -> Send:
    return Send(f"data: {json.dumps(payload)}\n\n".encode())


IN_TWO_PARTS: list[Step] = [
    Head(200, {"content-type": "text/event-stream"}),
    sse(chunk({"content": "Hello"})),
    Wait("rest"),
    sse(chunk({"content": " there"})),
    sse(chunk({}, "stop")),
    sse(usage_chunk()),
    Send(b"data: [DONE]\n\n"),
]


@dataclass(slots=True)
class OnLambda:
    """The gateway under the runtime loop, with a key."""

    api: RuntimeApiEmulator
    upstream: ScriptedUpstream
    gateway: Gateway
    clock: ManualClock
    token: str
    stores: list[AwayStore] = field(default_factory=list)

    def ask(self, left_s: float = 60, **members: Any) -> Call:
        """Send a chat completion with so many seconds until the function's timeout."""
        body = {"model": "lab/small", "messages": [{"role": "user", "content": "Hello?"}], **members}
        headers = {"Authorization": [f"Bearer {self.token}"]}
        event = rest_event(json.dumps(body).encode(), headers=headers)
        return self.api.invoke(event, deadline=self.clock.now() + left_s)

    async def record(self) -> Record:
        (record,) = await self.gateway.service.parts.store.records("default", 10)
        return record

    @property
    def settlements(self) -> int:
        return self.stores[0].calls.count("settle")


@asynccontextmanager
async def on_lambda(folder: Path, script: Script) -> AsyncIterator[OnLambda]:
    clock, stores = ManualClock(), list[AwayStore]()

    def watched(store: Store) -> Store:
        stores.append(AwayStore(store))
        return cast(Store, stores[0])

    async with ScriptedUpstream(script) as upstream, RuntimeApiEmulator() as api:
        variables = {"HEADRACE_SQLITE_PATH": str(folder / "headrace.db")}
        gateway = Gateway(
            read_settings(variables),
            variables,
            clock=clock,
            own_catalog=(("test.toml", CATALOG.format(upstream=upstream.url)),),
            wrap_store=watched,
        )
        async with serving(api, gateway, clock):
            await api.waits_for_polls(1)
            token, _ = await create_key(gateway.service.parts.store, "default", "tests")
            yield OnLambda(api, upstream, gateway, clock, token, stores)


async def test_the_first_words_are_out_before_the_last_are_in(tmp_path: Path) -> None:
    async with on_lambda(tmp_path, IN_TWO_PARTS) as running:
        call = running.ask(stream=True)
        await call.has_body(b"Hello")
        assert b"there" not in call.body
        running.upstream.barrier("rest").released.set()
        assert (await call.done()).outcome == "answered"
        await running.api.polled(2)
        record = await running.record()
        settlements = running.settlements
    assert call.headers["content-type"].startswith("text/event-stream")
    assert call.body.endswith(b"data: [DONE]\n\n")
    assert record.charge is not None
    assert (record.outcome, record.charge.total, settlements) == ("served", 1_053, 1)
    assert record.request_id == call.headers["x-request-id"]


async def test_a_whole_answer_costs_the_same(tmp_path: Path) -> None:
    async with on_lambda(tmp_path, HELLO) as running:
        call = await running.ask().done()
        record = await running.record()
    assert json.loads(call.body)["choices"][0]["message"]["content"] == "Hello there!"
    assert call.headers["x-inferbase-cost-micros"] == "1053"
    assert record.charge is not None
    assert record.charge.total == 1_053


async def test_an_error_comes_in_the_contracts_envelope(tmp_path: Path) -> None:
    async with on_lambda(tmp_path, HELLO) as running:
        running.token = "hr_wrong"
        call = await running.ask().done()
    assert call.prelude is not None
    assert call.prelude["statusCode"] == 401
    assert json.loads(call.body)["error"]["code"] == "invalid_api_key"


async def test_a_timeout_of_the_function_leaves_a_record_that_is_settled_once(tmp_path: Path) -> None:
    """Lambda gives the invocation up while it streams. The upstream is let go, what was used is charged."""
    async with on_lambda(tmp_path, IN_TWO_PARTS) as running:
        call = running.ask(stream=True)
        await call.has_body(b"Hello")
        call.time_out()
        await running.upstream.received[0].disconnected.wait()
        await running.api.polled(2)
        record = await running.record()
        again = running.ask(stream=True)
        await again.has_body(b"Hello")
        running.upstream.barrier("rest").released.set()
        await again.done()
        settlements = running.settlements
        still = await running.gateway.service.parts.store.record("default", record.request_id)
    assert record.is_settled
    assert record.charge is not None
    assert record.charge.total > 0
    assert (still, settlements) == (record, 2)
    assert again.outcome == "answered"


async def test_what_keeps_a_connection_alive_reaches_the_caller(tmp_path: Path) -> None:
    async with on_lambda(tmp_path, IN_TWO_PARTS) as running:
        call = running.ask(stream=True)
        await call.has_body(b"Hello")
        await running.clock.advance(15)
        await call.has_body(b": processing\n")
        assert b"there" not in call.body
        running.upstream.barrier("rest").released.set()
        assert (await call.done()).outcome == "answered"


async def test_five_seconds_before_the_timeout_the_gateway_ends_the_stream_itself(tmp_path: Path) -> None:
    async with on_lambda(tmp_path, IN_TWO_PARTS) as running:
        call = running.ask(left_s=20, stream=True)
        await call.has_body(b"Hello")
        upstream = running.upstream.received[0].disconnected
        await running.clock.advance(14.9)
        assert not upstream.is_set()
        await running.clock.advance(0.1)
        await upstream.wait()
        await call.done()
        await running.api.polled(2)
        record = await running.record()
        settlements = running.settlements
    assert (call.outcome, call.trailers) == ("answered", {})
    *_, error, done = [line for line in call.body.splitlines() if line.startswith(b"data: ")]
    assert json.loads(error.removeprefix(b"data: "))["error"]["code"] == "deadline_exceeded"
    assert done == b"data: [DONE]"
    assert (record.is_settled, settlements) == (True, 1)


async def test_a_function_that_lambda_kills_leaves_an_open_record(tmp_path: Path) -> None:
    """Nobody settles it twice, since nobody settled it: that is the sweeper's work."""
    async with on_lambda(tmp_path, IN_TWO_PARTS) as running:
        call = running.ask(stream=True)
        await call.has_body(b"Hello")
        record = await running.record()
        assert (record.outcome, record.is_settled, running.settlements) == ("open", False, 0)
        running.upstream.barrier("rest").released.set()
        await asyncio.gather(call.done(), running.api.polled(2))
