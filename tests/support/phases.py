"""A gateway with one model, moment by moment: what is asked, what its host says, and what is left when it is over."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import httpx

from core.ports import Journal, Store
from core.record import Record
from core.reservation import Held, key_subject
from core.tenant import Key, Limits
from functions.local.keys import create_key
from tests.support.answers import chunk, text_answer
from tests.support.away import AwayStore
from tests.support.clock import ManualClock
from tests.support.gateway import Running, running_gateway
from tests.support.script import Head, Script, Send, Step, Wait
from tests.support.upstream import ScriptedUpstream

SSE = Head(200, {"content-type": "text/event-stream"})
PLAIN, ROUTING = "/v1", "/api/v1/inference"


def body(**members: Any) -> dict[str, Any]:
    return {"model": "lab/small", "messages": [{"role": "user", "content": "Hello?"}], **members}


def sse(payload: object) -> Send:
    return Send(f"data: {json.dumps(payload)}\n\n".encode())


def talking(times: int, answer: str) -> list[Step]:
    """An upstream that thinks aloud, halting before each thought, and then answers."""
    steps: list[Step] = [SSE]
    for step in range(times):
        steps += [Wait(f"thought {step}"), sse(chunk({"reasoning_content": "hm "}))]
    return [*steps, *text_answer(answer)[1:]]


@dataclass(frozen=True, slots=True)
class Stage:
    """A gateway, its host, its store and its time; `client` has a key with a limit, so that something is reserved."""

    running: Running
    upstream: ScriptedUpstream
    clock: ManualClock
    store: AwayStore
    client: httpx.AsyncClient
    key: Key

    def ask(self, prefix: str = PLAIN, **members: Any) -> "asyncio.Task[httpx.Response]":
        """A request under way; its response is there with the head."""
        request = self.client.build_request("POST", f"{prefix}/chat/completions", json=body(**members))
        return asyncio.ensure_future(self.client.send(request, stream=True))

    async def thinks(self, times: int, seconds: float) -> None:
        """Let the upstream think aloud so often, each time for so long."""
        for step in range(times):
            barrier = self.upstream.barrier(f"thought {step}")
            await barrier.reached.wait()
            await self.clock.advance(seconds)
            barrier.released.set()

    async def read_so_far(self) -> None:
        """Return once the gateway has read what was sent to it: its own answers come through the same loop."""
        for _ in range(5):
            await self.client.get("/healthz")

    async def held(self) -> Mapping[str, Held]:
        """What is still held of the key's limits, by request, once nothing is under way."""
        await self.running.gateway.after_response()
        subject = key_subject(self.key.id)
        return (await self.running.store.standings("default", [subject]))[subject].held

    async def settled(self) -> Record:
        """The one record, once it is settled; bounded by the test's own time limit."""
        while True:
            await self.running.gateway.after_response()
            records = await self.running.store.records("default", 10)
            if records and records[0].is_settled:
                return records[0]


async def leave(asking: "asyncio.Task[httpx.Response]") -> None:
    """Have the caller leave before the head of its answer came."""
    asking.cancel()
    await asyncio.wait({asking})


@asynccontextmanager
async def open_stage(
    folder: Path, *scripts: Script, variables: dict[str, str] | None = None, journal: Journal | None = None
) -> AsyncIterator[Stage]:
    """Serve a stage until the context ends."""
    clock, stores = ManualClock(), list[AwayStore]()
    async with (
        ScriptedUpstream(*scripts) as upstream,
        running_gateway(
            folder, upstream.url, clock=clock, variables=variables, replace_store=away(stores), journal=journal
        ) as running,
    ):
        token, key = await create_key(running.store, "default", "limited")
        await running.store.save_key(replace(key, limits=Limits(parallel=5)))
        async with running.client(authorization=f"Bearer {token}") as client:
            stores[0].calls.clear()
            yield Stage(running, upstream, clock, stores[0], client, key)


def away(made: list[AwayStore]) -> Callable[[Store], Store]:
    """Wraps a store so that it can be away, and puts it on the list."""

    def wrap(store: Store) -> Store:
        made.append(AwayStore(store))
        return cast(Store, made[0])

    return wrap
