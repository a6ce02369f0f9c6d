"""`headrace dev`: the gateway on this machine, with a real small model, a SQLite store and a key that works."""

import asyncio
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
import uvicorn
from rich.console import Console

from functions.gateway.compose import Gateway
from functions.local.catalog.demo import DEMO_MODEL, demo_catalog, keep_demo
from functions.local.output import counted
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
from functions.local.transport import ServerTransport
from functions.settings import environment, read_settings


def dev(
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to serve on.")] = 8080,
    host: Annotated[str, typer.Option(help="The address to serve on.")] = "127.0.0.1",
    catalog: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="A catalog file of your own.")
    ] = None,
    data: Data = None,
    demo: Annotated[bool, typer.Option(help="Serve the demo model too.")] = True,
) -> None:
    """Serve on this machine. Needs no provider key; those in the environment add their vendors' models."""
    console = Console(stderr=True)
    check_port(host, port)
    folder, variables = kept_in(data, environment())
    if catalog is not None:
        variables["HEADRACE_CATALOG"] = str(catalog)
    settings = read_settings(variables)
    asyncio.run(check_start(settings, variables))
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        own: tuple[tuple[str, str], ...] = ()
        if demo:
            llama = stack.enter_context(demo_server(folder, console))
            own = (("the demo model", demo_catalog(llama.base_url, CONTEXT_TOKENS)),)
        keep_demo(folder, own[0][1] if own else None)
        token = asyncio.run(dev_key(settings, folder))
        gateway = Gateway(
            settings,
            variables,
            transport=ServerTransport,
            own_catalog=own,
            keeps_up=True,
            log_stream=sys.stderr,  # standard output has what can be copied
        )
        model, url = DEMO_MODEL if demo else "MODEL", f"http://{host}:{port}"
        server = AnnouncedServer(
            uvicorn.Config(gateway.app, host=host, port=port, log_level="warning", access_log=False, lifespan="on"),
            lambda: welcome(console, _headline(url, gateway), f"{url}/v1", token, model, settings),
        )
        server.run()


def _headline(url: str, gateway: Gateway) -> str:
    count = len(gateway.service.parts.catalog.models)
    return f"[bold]Headrace serves on {url}[/bold]  ({counted(count, 'model')}, stop with Ctrl-C)"
