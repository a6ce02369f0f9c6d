"""`headrace dev`: the gateway on this machine, with a real small model, a SQLite store and a key that works."""

import asyncio
import socket
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
import uvicorn
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from core.accounts.keys import digest
from core.ports import Store
from functions.gateway.compose import Gateway, open_store
from functions.local.catalog.demo import DEMO_MODEL, UPSTREAM_NAME, demo_catalog
from functions.local.demo_model import SMOLLM2, fetch_demo_model
from functions.local.keys import create_key
from functions.local.llama_server import LlamaServer, LlamaSettings
from functions.local.output import Refusal
from functions.local.transport import ServerTransport
from functions.settings import Settings, environment, read_settings

KEY_FILE = "dev-key"
CONTEXT_TOKENS = 4_096


def dev(
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to serve on.")] = 8080,
    host: Annotated[str, typer.Option(help="The address to serve on.")] = "127.0.0.1",
    catalog: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="A catalog file of your own.")
    ] = None,
    data: Annotated[Path, typer.Option(file_okay=False, help="Where the database and the key are kept.")] = Path(
        ".headrace"
    ),
    demo: Annotated[bool, typer.Option(help="Serve the demo model too.")] = True,
) -> None:
    """Serve on this machine. Needs no provider key; those in the environment add their vendors' models."""
    console = Console(stderr=True)
    _check_port(host, port)
    variables = {**environment(), "HEADRACE_SQLITE_PATH": str(data / "headrace.db")}
    if catalog is not None:
        variables["HEADRACE_CATALOG"] = str(catalog)
    settings = read_settings(variables)
    asyncio.run(_check_start(settings, variables))
    data.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        own: tuple[tuple[str, str], ...] = ()
        if demo:
            llama = stack.enter_context(_demo_server(data, console))
            own = (("the demo model", demo_catalog(llama.base_url, CONTEXT_TOKENS)),)
        token = asyncio.run(_dev_key(settings, data))
        gateway = Gateway(settings, variables, transport=ServerTransport, own_catalog=own, keeps_up=True)
        model = DEMO_MODEL if demo else "MODEL"
        server = _Server(
            uvicorn.Config(gateway.app, host=host, port=port, log_level="warning", access_log=False, lifespan="on"),
            lambda: _welcome(console, f"http://{host}:{port}", token, model, gateway),
        )
        server.run()


class _Server(uvicorn.Server):
    """Says that it serves once it does."""

    def __init__(self, config: uvicorn.Config, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_started = on_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then call back."""
        await super().startup(sockets)
        if self.started:
            self._on_started()


async def _check_start(settings: Settings, variables: Mapping[str, str]) -> None:
    """Fail as the start would, before the server turns a wrong catalog into pages of stack."""
    gateway = Gateway(settings, variables)
    await gateway.connect()
    await gateway.close()


def _check_port(host: str, port: int) -> None:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise Refusal(
                f"cannot serve on {host}:{port}: {error.strerror}. Stop what uses it, or choose another with --port."
            ) from error


def _demo_server(data: Path, console: Console) -> LlamaServer:
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with progress:
        task = progress.add_task("Fetching the demo model", total=SMOLLM2.download, visible=False)
        weights = fetch_demo_model(
            on_progress=lambda done, total: progress.update(
                task, completed=done, total=total or SMOLLM2.download, visible=True
            )
        )
    with console.status("Starting the demo model"):
        # So small a model repeats itself without end unless it is held back.
        settings = LlamaSettings(
            model=weights,
            alias=UPSTREAM_NAME,
            context_tokens=CONTEXT_TOKENS,
            answer_tokens=512,
            temperature=0.2,
            repeat_penalty=1.1,
        )
        return LlamaServer.start(settings, log_path=data / "demo-model.log")


async def _dev_key(settings: Settings, data: Path) -> str:
    """The key of earlier runs if the store still knows it, else a new one."""
    store: Store = open_store(settings)
    path = data / KEY_FILE
    try:
        if path.exists():
            token = path.read_text("utf-8").strip()
            if await store.key(digest(token)) is not None:
                return token
        token, _ = await create_key(store, "default", "headrace dev")
        path.touch(mode=0o600)
        path.write_text(token + "\n", "utf-8")
        return token
    finally:
        await store.close()


def _welcome(console: Console, url: str, token: str, model: str, gateway: Gateway) -> None:
    count = len(gateway.service.parts.catalog.models)
    console.print(f"\n[bold]Headrace serves on {url}[/bold]  ({count} models, stop with Ctrl-C)\n", highlight=False)
    console.print(f"Key: {token}\n", highlight=False, markup=False)
    print(
        f"""curl -N {url}/v1/chat/completions \\
  -H "Authorization: Bearer {token}" -H "Content-Type: application/json" \\
  -d '{{"model": "{model}", "stream": true, "messages": [{{"role": "user", "content": "Why is the sky blue?"}}]}}'

from openai import OpenAI
client = OpenAI(base_url="{url}/v1", api_key="{token}")
stream = client.chat.completions.create(
    model="{model}", stream=True, messages=[{{"role": "user", "content": "Why is the sky blue?"}}])
for chunk in stream: print(chunk.choices[0].delta.content or "", end="", flush=True)
""",
        flush=True,
    )
