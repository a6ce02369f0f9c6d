"""`headrace lambda`: the streaming function as Lambda runs it, behind an emulated REST API on this machine."""

import asyncio
import logging
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import typer
import uvicorn
from rich.console import Console

from core.sweep import keep_swept
from functions import gateway
from functions.gateway.clock import SystemClock
from functions.gateway.compose import open_store
from functions.local.catalog.demo import DEMO_MODEL, FILE, demo_catalog, keep_demo
from functions.local.emulator.environment import Function
from functions.local.emulator.fleet import Fleet
from functions.local.emulator.front import RestFront
from functions.local.serving import (
    CONTEXT_TOKENS,
    AnnouncedServer,
    Data,
    check_port,
    check_start,
    demo_server,
    dev_key,
    kept_in,
    welcome,
)
from functions.settings import Settings, environment, read_settings

STAGE = "live"
BOOTSTRAP = Path(gateway.__file__).with_name("bootstrap")
# What Lambda would run if the wrapper did not take its place.
STOCK_CLIENT = "/var/runtime/bootstrap.py"


def lambda_front(
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to serve on.")] = 8080,
    catalog: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="A catalog file of your own, in place of the demo model."),
    ] = None,
    data: Data = None,
    environments: Annotated[
        int, typer.Option(min=1, help="The most function processes; a request beyond them is throttled.")
    ] = 10,
    concurrency: Annotated[
        int, typer.Option(min=1, help="Requests that one process serves at a time, as on Managed Instances.")
    ] = 1,
    timeout: Annotated[float, typer.Option(min=10, help="The function's timeout, in seconds.")] = 900,
) -> None:
    """Serve the streaming function on this machine as Lambda and API Gateway do: processes come and go, events go in,
    response streams come out."""
    console = Console(stderr=True)
    logging.basicConfig(format="headrace lambda: %(message)s", level=logging.WARNING)
    check_port("127.0.0.1", port)
    folder, variables = kept_in(data, environment())
    if catalog is not None:
        variables["HEADRACE_CATALOG"] = str(catalog.absolute())
    model = "MODEL"
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        if "HEADRACE_CATALOG" not in variables:
            llama = stack.enter_context(demo_server(folder, console))
            keep_demo(folder, demo_catalog(llama.base_url, CONTEXT_TOKENS))
            variables["HEADRACE_CATALOG"] = str(folder / FILE)
            model = DEMO_MODEL
        settings = read_settings(variables)
        asyncio.run(check_start(settings, variables))
        token = asyncio.run(dev_key(settings, folder))
        base_url = f"http://127.0.0.1:{port}/{STAGE}/v1"
        headline = f"[bold]The function serves on {base_url}[/bold]  (stop with Ctrl-C)"
        function = gateway_function(variables, timeout_s=timeout, concurrency=concurrency, output=sys.stderr.fileno())
        fleet = Fleet(function, environments)
        asyncio.run(serve(fleet, port, settings, lambda: welcome(console, headline, base_url, token, model, settings)))


def gateway_function(
    variables: Mapping[str, str], *, timeout_s: float = 900.0, concurrency: int = 1, output: int | None = None
) -> Function:
    """The streaming function, started as Lambda starts it: by the exec wrapper, with the stock client's command.

    Args:
        variables: Its environment.
        timeout_s: Its timeout.
        concurrency: Invocations that a process gets at a time.
        output: Where it writes; see `Function`.
    """
    command = [str(BOOTSTRAP), sys.executable, STOCK_CLIENT]
    return Function(command, variables, timeout_s, concurrency, output)


async def serve(fleet: Fleet, port: int, settings: Settings, on_started: Callable[[], None]) -> None:
    """Serve on a port of 127.0.0.1 until told to stop by a signal; then end all processes.

    Records that killed processes left open are settled every minute, which is the sweeper function's work on AWS.
    """
    front = RestFront(fleet.invoke, STAGE)
    # What it would log as an error is how a broken response is told to the caller.
    config = uvicorn.Config(
        front, host="127.0.0.1", port=port, log_level="critical", lifespan="off", server_header=False
    )
    server, told = _Server(config, on_started), asyncio.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, told.set)
    store = open_store(settings)
    serving = asyncio.create_task(server.serve())
    background = [asyncio.create_task(told.wait()), asyncio.create_task(keep_swept(store, SystemClock()))]
    try:
        await asyncio.wait([serving, *background], return_when=asyncio.FIRST_COMPLETED)
    finally:
        server.should_exit = True
        await fleet.close()
        await serving
        for task in background:
            task.cancel()
        await asyncio.wait(background)
        await store.close()


class _Server(AnnouncedServer):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to `serve`, which has more to end than the server."""
        yield
