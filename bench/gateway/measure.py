"""Measures: one request at a time beside a direct call in random order, and as many at a time as connections allow."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Final, Protocol

from bench.gateway.processes import Server
from bench.gateway.wire import Timing
from bench.gateway.workloads import MODEL, Workload

WARM_UP: Final = 10
SETTLED_S: Final = 0.05
"""How long a server is given to finish what it does after its last answer, before its processor time is read."""


class Client(Protocol):
    """Sends one request after another."""

    async def exchange(self, body: bytes, token: bytes, tokens: int) -> Timing:
        """Send a request, and take its answer."""
        ...

    def close(self) -> None:
        """Give it up."""
        ...


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that is measured.

    `open` gives a client; `model` is what is asked for; it takes `most_connections` at a time.
    """

    name: str
    server: Server
    open: Callable[[], Awaitable[Client]]
    model: str = MODEL
    most_connections: int = 1_000


@dataclass(frozen=True, slots=True)
class Load:
    """What went through in some time, and what it took of the processor, both in seconds."""

    requests: int
    elapsed_s: float
    cpu_s: float

    @property
    def per_second(self) -> float:
        """Requests a second."""
        return self.requests / self.elapsed_s

    @property
    def cpu_us(self) -> float:
        """Processor time of one request, in microseconds."""
        return self.cpu_s / self.requests * 1e6


async def paired(
    targets: Sequence[Target], workload: Workload, count: int, draw: random.Random, advance: Callable[[], None]
) -> Mapping[str, list[Timing]]:
    """`count` times each target once, in an order that is drawn anew each time; timings by name, in pairs."""
    clients = {target.name: await target.open() for target in targets}
    bodies = {target.name: workload.body(target.model) for target in targets}
    found: dict[str, list[Timing]] = {target.name: [] for target in targets}
    names = list(found)
    for turn in range(-min(WARM_UP, count), count):
        draw.shuffle(names)
        for name in names:
            timing = await clients[name].exchange(bodies[name], workload.token, workload.tokens)
            if turn >= 0:
                found[name].append(timing)
        if turn >= 0:
            advance()
    for client in clients.values():
        client.close()
    return found


async def under_load(target: Target, workload: Workload, connections: int, seconds: float) -> Load:
    """As many requests as go through in some seconds."""
    clients = [await target.open() for _ in range(connections)]
    body = workload.body(target.model)
    await asyncio.gather(*(client.exchange(body, workload.token, workload.tokens) for client in clients))
    await asyncio.sleep(SETTLED_S)
    cpu_s, began = target.server.cpu_s(), perf_counter()
    done = 0

    async def one_after_another(client: Client) -> None:
        nonlocal done
        while perf_counter() - began < seconds:
            await client.exchange(body, workload.token, workload.tokens)
            done += 1

    await asyncio.gather(*map(one_after_another, clients))
    elapsed_s = perf_counter() - began
    await asyncio.sleep(SETTLED_S)
    cpu_s = target.server.cpu_s() - cpu_s
    for client in clients:
        client.close()
    return Load(done, elapsed_s, cpu_s)
