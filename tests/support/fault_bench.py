"""A gateway with a model for every fault and every way to ask, so that none knows of another's failures."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from core.record import Record
from tests.support.answers import HELLO
from tests.support.clock import ManualClock
from tests.support.fault_scripts import Fault
from tests.support.gateway import Running, running_gateway
from tests.support.script import Received, Step
from tests.support.upstream import ScriptedUpstream, refusing

WORD = "faulty"
"""What the names of all vendors begin with: no caller may read it."""

_VENDOR = """
[vendors.{name}]
format = "openai"
base_url = "{address}"
auth = "none"
"""
_MODEL = """
[[models]]
id = "lab/{name}"
context_tokens = 8192
max_output_tokens = 2048
"""
_HOST = """
[[models.hosts]]
vendor = "{vendor}"
upstream_model = "up"
prices = {{ input = 3, output = 15 }}
"""


@dataclass(frozen=True)
class Told:
    """What came of a request: for its caller, and in its record."""

    response: httpx.Response
    record: Record

    @property
    def error(self) -> Any:
        """The error of an envelope, or of the last frame of a stream."""
        if not self.is_stream:
            return self.response.json()["error"]
        return self.frames[-1]["error"]

    @property
    def is_stream(self) -> bool:
        return self.response.headers["content-type"].startswith("text/event-stream")

    @property
    def frames(self) -> list[Any]:
        lines = self.response.text.splitlines()
        return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]

    @property
    def text(self) -> str:
        """What was said, however it was sent."""
        if self.is_stream:
            return "".join(each["delta"].get("content") or "" for frame in self.frames for each in frame["choices"])
        said: str = self.response.json()["choices"][0]["message"]["content"]
        return said

    @property
    def outcomes(self) -> list[str]:
        return [row.outcome for row in self.record.attempts]


@dataclass(frozen=True)
class Place:
    """One model of the bench: where a fault is met."""

    name: str
    bench: "Bench"

    @property
    def received(self) -> list[Received]:
        """What its faulty host was asked."""
        return [each for each in self.bench.upstream.received if each.path.startswith(f"/{self.name}/")]

    async def asked(self, times: int = 1) -> None:
        """Return once its faulty host was asked so often."""
        while len(self.received) < times:
            await self.bench.upstream.arrival(len(self.bench.upstream.received)).wait()

    async def closed(self) -> None:
        """Return once no call to its faulty host is open any more."""
        for request in self.received:
            if not request.answered.is_set():
                await request.disconnected.wait()

    def body(self, is_stream: bool) -> dict[str, Any]:
        return {"model": f"lab/{self.name}", "stream": is_stream, "messages": [{"role": "user", "content": "Hello?"}]}

    async def ask(self, is_stream: bool, longest_wait_s: float = 2.5) -> Told:
        """Ask, and let time pass where the gateway waits no longer than that: between tries, not for answers."""
        async with asyncio.TaskGroup() as group:
            passing = group.create_task(self.bench.pass_waits(longest_wait_s))
            told = await self.post(is_stream)
            passing.cancel()
        return told

    async def post(self, is_stream: bool) -> Told:
        """Ask; the time is the test's to move."""
        response = await self.bench.client.post("/v1/chat/completions", json=self.body(is_stream))
        return await self.told(response)

    async def told(self, response: httpx.Response) -> Told:
        """The response with its record, once both are complete."""
        running = self.bench.running
        await running.gateway.after_response()
        record = await running.store.record("default", response.headers["x-request-id"])
        assert record is not None
        return Told(response, record)


@dataclass(frozen=True)
class Bench:
    running: Running
    upstream: ScriptedUpstream
    clock: ManualClock
    client: httpx.AsyncClient

    def place(self, number: int, is_stream: bool, is_last: bool) -> Place:
        """Where the fault of that number is met in that way."""
        return Place(_name(number, is_stream, is_last), self)

    async def pass_waits(self, longest_s: float) -> None:
        """Let each wait pass that is no longer, for ever. What the store is given time for, is done first."""
        while True:
            await self.clock.sleeper_within(longest_s)
            await self.running.gateway.after_response()
            due = self.clock.due_in()
            if due is not None and due <= longest_s:
                await self.clock.advance(due)

    async def read_so_far(self) -> None:
        """Return once the gateway has read what the upstream sent: its own answers come through the same loop."""
        for _ in range(5):
            await self.client.get("/healthz")


def _name(number: int, is_stream: bool, is_last: bool) -> str:
    return f"{number}-{'streamed' if is_stream else 'whole'}-{'last' if is_last else 'first'}"


def _catalog(faults: Mapping[str, Fault], addresses: Mapping[str, str], upstream: str) -> Iterator[str]:
    for number, fault in enumerate(faults.values()):
        for is_stream in (True, False):
            for is_last in (True, False):
                name = _name(number, is_stream, is_last)
                address = addresses.get(fault.address, fault.address) if fault.address else f"{upstream}/{name}"
                yield _VENDOR.format(name=f"{WORD}-{name}", address=address)
                yield _VENDOR.format(name=f"{WORD}-good-{name}", address=f"{upstream}/good")
                yield _MODEL.format(name=name)
                yield _HOST.format(vendor=f"{WORD}-{name}")
                if not is_last:
                    yield _HOST.format(vendor=f"{WORD}-good-{name}")


@asynccontextmanager
async def open_bench(folder: Path, faults: Mapping[str, Fault]) -> AsyncIterator[Bench]:
    """Serve a bench for these faults until the context ends."""
    scripts = [*faults.values()]

    def script(request: Received) -> list[Step]:
        place = request.path.split("/")[1]
        return [*HELLO] if place == "good" else [*scripts[int(place.partition("-")[0])].script]

    clock = ManualClock()
    plain = await asyncio.start_server(_speak_no_tls, "127.0.0.1", 0)
    with refusing() as nowhere:
        async with plain, ScriptedUpstream(script) as upstream:
            port = plain.sockets[0].getsockname()[1]
            addresses = {"nowhere": nowhere, "no TLS": f"https://127.0.0.1:{port}"}
            catalog = "".join(_catalog(faults, addresses, upstream.url)).replace("{", "{{").replace("}", "}}")
            async with running_gateway(folder, upstream.url, clock=clock, catalog=catalog) as running:
                async with running.client() as client:
                    yield Bench(running, upstream, clock, client)


async def _speak_no_tls(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    await writer.drain()
    writer.close()
