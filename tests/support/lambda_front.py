"""The emulated REST API on a free loopback port, before whatever has events handled."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import DEVNULL

import uvicorn

from functions.local.emulator.call import Call
from functions.local.emulator.environment import Function
from functions.local.emulator.fleet import Fleet
from functions.local.emulator.front import RestFront
from functions.local.lambda_front import STAGE, gateway_function

ROOT = Path(__file__).parents[2]
VARIABLES = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}


class _Server(uvicorn.Server):
    """Tells when it serves."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()


@asynccontextmanager
async def fronted(invoke: Callable[[bytes], Awaitable[Call]]) -> AsyncIterator[str]:
    """Serve until the context ends; gives the address with the stage."""
    server = _Server(uvicorn.Config(RestFront(invoke, STAGE), port=0, log_level="critical", lifespan="off"))
    serving = asyncio.ensure_future(server.serve())
    await server.is_up.wait()
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/{STAGE}"
    finally:
        server.should_exit = True
        await serving


@asynccontextmanager
async def fleet_of(function: Function, most: int = 10) -> AsyncIterator[tuple[str, Fleet]]:
    """Serve a function with processes of its own; gives the address with the stage, and the fleet."""
    fleet = Fleet(function, most)
    async with fronted(fleet.invoke) as url:
        try:
            yield url, fleet
        finally:
            for environment in fleet.environments:
                environment.kill()
            await fleet.close()


def small_function(*, timeout_s: float = 60.0, concurrency: int = 1) -> Function:
    """The small app of the tests under the real runtime loop."""
    command = (sys.executable, "-m", "tests.support.streaming_app")
    return Function(command, VARIABLES, timeout_s, concurrency, DEVNULL)


def whole_function(variables: dict[str, str], *, concurrency: int = 1) -> Function:
    """The gateway itself, started by the wrapper."""
    return gateway_function({**VARIABLES, **variables}, timeout_s=60.0, concurrency=concurrency, output=DEVNULL)
