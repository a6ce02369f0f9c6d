"""The whole gateway on a free loopback port: real sockets, real store, an upstream of the test's choice."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import uvicorn

from core.ports import Clock, Journal, Store
from core.record import Record
from functions.gateway.compose import Gateway
from functions.gateway.finished import Observer
from functions.local.keys import create_key
from functions.local.transport import ServerTransport
from functions.settings import read_settings

CATALOG = """
[vendors.lab]
format = "openai"
base_url = "{upstream}/v1"
auth = "none"

[[models]]
id = "lab/small"
aliases = ["small-alias"]
context_tokens = 8192
max_output_tokens = 2048

[models.abilities]
tools = true
parallel_tools = true
vision = true
json_mode = true
structured_output = "verified"
choices = 4

[[models.hosts]]
vendor = "lab"
upstream_model = "small-upstream"
prices = {{ input = 3, output = 15 }}

[[models]]
id = "lab/unpriced"
context_tokens = 8192
max_output_tokens = 2048

[[models.hosts]]
vendor = "lab"
upstream_model = "unpriced-upstream"
"""


@dataclass(slots=True)
class Noted:
    """A journal that tests read."""

    spilled: list[Record] = field(default_factory=list)
    failures: list[tuple[str, str, str]] = field(default_factory=list)
    faults: list[tuple[str, BaseException]] = field(default_factory=list)
    metered: list[tuple[str, int | None, int | None]] = field(default_factory=list)

    def drained(self, host: str, input_tokens: int | None, output_tokens: int | None) -> None:
        self.metered.append((host, input_tokens, output_tokens))

    def spill(self, record: Record) -> None:
        self.spilled.append(record)

    def attempt_failed(self, request_id: str, host: str, detail: str) -> None:
        self.failures.append((request_id, host, detail))

    def fault(self, request_id: str, error: BaseException) -> None:
        self.faults.append((request_id, error))


@dataclass(frozen=True, slots=True)
class Running:
    """A gateway that serves. `token` is a live key of the organisation `default`."""

    url: str
    token: str
    gateway: Gateway
    noted: Noted

    @property
    def store(self) -> Store:
        return self.gateway.service.parts.store

    def client(self, **headers: str) -> httpx.AsyncClient:
        """An HTTP client with the key."""
        return httpx.AsyncClient(
            base_url=self.url, headers={"authorization": f"Bearer {self.token}", **headers}, timeout=30
        )


class _Server(uvicorn.Server):
    """Tells when it serves."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()


@asynccontextmanager
async def running_gateway(
    folder: Path,
    upstream_url: str,
    *,
    clock: Clock | None = None,
    variables: dict[str, str] | None = None,
    catalog: str = CATALOG,
    replace_store: Callable[[Store], Store] | None = None,
    journal: Journal | None = None,
    observers: Sequence[Observer] = (),
) -> AsyncIterator[Running]:
    """Serve a gateway until the context ends.

    Args:
        folder: Where its database goes.
        upstream_url: The address of the only vendor's server, without `/v1`.
        clock: The gateway's time; the machine's unless given.
        variables: More of its environment.
        catalog: Its own catalog file; `{upstream}` stands for the address.
        replace_store: Wraps the store, for faults.
        journal: Where it notes things; in the `noted` of what is yielded unless given.
        observers: Who is told of its requests.
    """
    environment = {"HEADRACE_SQLITE_PATH": str(folder / "headrace.db"), **(variables or {})}
    noted = Noted()
    gateway = Gateway(
        read_settings(environment),
        environment,
        transport=ServerTransport,
        clock=clock,
        own_catalog=(("test.toml", catalog.format(upstream=upstream_url)),),
        wrap_store=replace_store,
        journal=journal or noted,
        observers=observers,
    )
    await gateway.connect()  # here, so that a failure is the test's own; the server then finds it done
    server = _Server(uvicorn.Config(gateway.app, port=0, log_level="error", lifespan="on"))
    serving = asyncio.ensure_future(server.serve())
    started = asyncio.ensure_future(server.is_up.wait())
    await asyncio.wait({serving, started}, return_when=asyncio.FIRST_COMPLETED)
    try:
        port = server.servers[0].sockets[0].getsockname()[1]
        token, _ = await create_key(gateway.service.parts.store, "default", "tests")
        yield Running(f"http://127.0.0.1:{port}", token, gateway, noted)
    finally:
        server.should_exit = True
        await serving
