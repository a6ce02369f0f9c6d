"""Hosts of every format that fall silent, and ones that may for long, since they hide what they think."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import httpx
import pytest
import pytest_asyncio

from core.catalog.model import Abilities, Format, Target, Thinking
from core.record import Record
from tests.support.clock import ManualClock
from tests.support.gateway import Running
from tests.support.golden import GOLDEN, Case, opening
from tests.support.script import Head, Never, Received, Send, Step, Wait
from tests.support.upstream import ScriptedUpstream
from tests.support.vendors.hosts import open_hosts

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXTS = {wire: Case(wire, GOLDEN / wire.value / "text") for wire in Format}
PREFIXES = ("/v1", "/api/v1/inference")
FIRST_TOKEN_S = {"streamed": 12, "whole": 60}
SILENCE_S = {"streamed": 60, "whole": 30}
THOUGHT_S = {"streamed": 100, "whole": 200}
"""How long the hosts that hide their thinking are silent at most: longer than any other budget of theirs."""


@dataclass(frozen=True)
class Cell:
    """A format, and how its hosts are asked."""

    wire: Format
    way: str
    prefix: str

    def host(self, kind: str) -> str:
        return f"{self.wire.value}/{kind}-{self.way}"


CELLS = [
    Cell(wire, way, PREFIXES[(row + column) % 2])
    for (row, wire), (column, way) in product(enumerate(Format), enumerate(FIRST_TOKEN_S))
]
"""Every format in both ways and on both prefixes, but not all three with each other."""

cells = pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell.wire.value}-{cell.way}")


def answer(name: str, request: Received) -> Sequence[Step]:
    """What the host of that name does: its kind says it."""
    wire, kind = name.split("-")[0].split("/")
    case = TEXTS[Format(wire)]
    first = Send(case.data[: opening(case)])
    kinds: dict[str, list[Step]] = {
        "never": [Never()],
        "token": [Head(200), first, Never()],
        "thinks": [Head(200), Never()],
        "late": [Head(200), Wait(name), Send(case.data)],
        "latetoken": [Head(200), Wait(name), first, Never()],
    }
    return kinds[kind]


def hiding(target: Target, way: str) -> Target:
    """The host with a model that always thinks, of which it shows nothing."""
    host = replace(target.host, thinking_visible=False, longest_thinking_s=float(THOUGHT_S[way]))
    return replace(target, host=host, model=replace(target.model, abilities=Abilities(thinking=Thinking.ALWAYS)))


@dataclass(frozen=True)
class Bench:
    """A gateway, and a host of its own for every test, so that none knows of another's failures."""

    running: Running
    upstream: ScriptedUpstream
    clock: ManualClock
    client: httpx.AsyncClient

    async def ask(self, cell: Cell, kind: str) -> tuple[asyncio.Task[httpx.Response], Received]:
        """A request that has come to its host."""
        asked = len(self.upstream.received)
        messages = [{"role": "user", "content": "Hello?"}]
        body = {"model": cell.host(kind), "stream": cell.way == "streamed", "messages": messages}
        request = self.client.build_request("POST", f"{cell.prefix}/chat/completions", json=body)
        asking = asyncio.ensure_future(self.client.send(request, stream=True))
        await self.upstream.arrival(asked).wait()
        return asking, self.upstream.received[asked]

    async def goes_on(self, cell: Cell, kind: str) -> None:
        """Let the host go on, and return once the gateway has read what it sent."""
        self.upstream.barrier(cell.host(kind)).released.set()
        await self.has_read()

    async def has_read(self) -> None:
        """Return once the gateway has read what the upstream sent: its own answers come through the same loop."""
        for _ in range(5):
            await self.client.get("/healthz")

    async def record(self, response: httpx.Response) -> Record:
        await self.running.gateway.after_response()
        record = await self.running.store.record("default", response.headers["x-request-id"])
        assert record is not None
        return record


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bench(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bench]:
    targets: dict[str, Target] = {}
    for cell in CELLS:
        target = TEXTS[cell.wire].target
        targets |= {cell.host(kind): target for kind in ("never", "token")}
        targets |= {cell.host(kind): hiding(target, cell.way) for kind in ("thinks", "late", "latetoken")}
    clock, folder = ManualClock(), tmp_path_factory.mktemp("silence")
    async with open_hosts(folder, targets, answer, clock=clock) as (running, upstream), running.client() as client:
        yield Bench(running, upstream, clock, client)


async def code_of(response: httpx.Response) -> Any:
    await response.aread()
    return response.json()["error"]["code"]


@cells
async def test_silence_from_the_start(bench: Bench, cell: Cell) -> None:
    asking, call = await bench.ask(cell, "never")
    await bench.clock.advance(FIRST_TOKEN_S[cell.way] - 1)
    assert not asking.done()
    await bench.clock.advance(1)
    response = await asking
    await call.disconnected.wait()
    record = await bench.record(response)
    assert (response.status_code, await code_of(response)) == (504, "first_token_timeout")
    assert [row.outcome for row in record.attempts] == ["first_token_timeout"]
    assert record.charge is not None
    assert record.charge.total == 0


@cells
async def test_silence_after_a_token(bench: Bench, cell: Cell) -> None:
    asking, call = await bench.ask(cell, "token")
    await bench.has_read()
    await bench.clock.advance(SILENCE_S[cell.way] - 1)
    assert not call.disconnected.is_set()
    await bench.clock.advance(1)
    response = await asking
    data = await response.aread()
    await call.disconnected.wait()
    record = await bench.record(response)
    assert [row.outcome for row in record.attempts] == ["silent"]
    if cell.way == "streamed":
        assert response.status_code == 200
        assert b'"code":"silent_upstream"' in data
        assert data.endswith(b"data: [DONE]\n\n")
        assert record.outcome == "interrupted"
    else:
        assert (response.status_code, await code_of(response)) == (502, "upstream_error")


@cells
async def test_hidden_thinking_is_no_silence(bench: Bench, cell: Cell) -> None:
    asking, call = await bench.ask(cell, "late")
    await bench.clock.advance(THOUGHT_S[cell.way] - 1)
    await bench.goes_on(cell, "late")
    response = await asking
    data = await response.aread()
    await call.answered.wait()
    record = await bench.record(response)
    assert response.status_code == 200
    assert b'"content":' in data
    assert (record.outcome, record.latency_ms) == ("served", (THOUGHT_S[cell.way] - 1) * 1000)


@cells
async def test_hidden_thinking_has_a_longest_time(bench: Bench, cell: Cell) -> None:
    asking, call = await bench.ask(cell, "thinks")
    await bench.clock.advance(THOUGHT_S[cell.way] - 1)
    await bench.has_read()
    assert not call.disconnected.is_set()
    await bench.clock.advance(1)
    response = await asking
    data = await response.aread()
    await call.disconnected.wait()
    record = await bench.record(response)
    assert [row.outcome for row in record.attempts] == ["first_token_timeout"]
    assert b'"code":"first_token_timeout"' in data


@cells
async def test_after_hidden_thinking_silence_counts(bench: Bench, cell: Cell) -> None:
    asking, call = await bench.ask(cell, "latetoken")
    await bench.clock.advance(THOUGHT_S[cell.way] - 1)
    await bench.goes_on(cell, "latetoken")
    await bench.clock.advance(SILENCE_S[cell.way] - 1)
    assert not call.disconnected.is_set()
    await bench.clock.advance(1)
    response = await asking
    await response.aread()
    await call.disconnected.wait()
    assert [row.outcome for row in (await bench.record(response)).attempts] == ["silent"]
