"""What every way to serve on this machine needs: a free port, a model, a key, and words on how to call it."""

import gc
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer
import uvicorn
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from core.accounts.keys import digest
from core.ports import Store
from functions.gateway.compose import Gateway, open_store
from functions.local.catalog.demo import UPSTREAM_NAME
from functions.local.demo_model import SMOLLM2, fetch_demo_model
from functions.local.keys import create_key
from functions.local.llama_server import LlamaServer, LlamaSettings
from functions.local.output import Refusal
from functions.settings import Settings, unknown_settings

KEY_FILE = "dev-key"
DATABASE = "HEADRACE_SQLITE_PATH"
DATA = Path(".headrace")

Data = Annotated[
    Path | None,
    typer.Option(
        file_okay=False,
        help=f"Where the database and the key are kept: {DATA}, or where {DATABASE} says.",
        show_default=False,
    ),
]
CONTEXT_TOKENS = 4_096


class AnnouncedServer(uvicorn.Server):
    """Says that it serves once it does."""

    def __init__(self, config: uvicorn.Config, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_started = on_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then call back."""
        await super().startup(sockets)
        if self.started:
            # What is there now stays: no later look for garbage needs to go through it, nor come as often as for a
            # program that keeps little.
            gc.collect()
            gc.freeze()
            gc.set_threshold(5_000, 20, 100)
            self._on_started()


async def check_start(settings: Settings, variables: Mapping[str, str]) -> None:
    """Fail as the start would, before a server turns a wrong catalog into pages of stack.

    Variables that have no effect are named on standard error.
    """
    if strangers := unknown_settings(variables):
        typer.echo(f"headrace: no settings, and without effect: {', '.join(strangers)}", err=True)
    gateway = Gateway(settings, variables)
    await gateway.connect()
    await gateway.close()


def kept_in(data: Path | None, variables: Mapping[str, str]) -> tuple[Path, dict[str, str]]:
    """The folder where a server on this machine keeps things, and the variables that lead its store there.

    Args:
        data: The folder that the command was given; it wins. Without it, the database is the one that the settings
            name, as for every other command.
        variables: The environment.
    """
    if data is None and (named := variables.get(DATABASE)):
        database = Path(named).absolute()
    else:
        database = (data or DATA).absolute() / "headrace.db"
    return database.parent, {**variables, DATABASE: str(database)}


def check_port(host: str, port: int) -> None:
    """Fail unless the address is free.

    Raises:
        Refusal: It is not.
    """
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise Refusal(
                f"cannot serve on {host}:{port}: {error.strerror}. Stop what uses it, or choose another with --port "
                "(make dev ARGS='--port 9000')."
            ) from error


def demo_server(data: Path, console: Console) -> LlamaServer:
    """The demo model, served; fetched first where it is not there yet.

    Raises:
        DemoModelError: It cannot be fetched.
        LlamaError: It cannot be served.
    """
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


async def dev_key(settings: Settings, data: Path) -> str:
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


def welcome(console: Console, headline: str, base_url: str, token: str, model: str, settings: Settings) -> None:
    """Say what serves, and print a `curl` line and a program that work as they are.

    Args:
        console: Takes the headline, the key, and where the API is described.
        headline: What serves where, in rich's markup.
        base_url: What an OpenAI SDK takes; it ends in `/v1`.
        token: The key.
        model: What to ask for.
        settings: They name what it keeps things in.
    """
    tables = f"the tables {settings.config_table} and {settings.ledger_table}"
    kept = settings.sqlite_path if settings.store == "sqlite" else tables
    console.print(f"\n{headline}\n", highlight=False)
    docs = f"{base_url.removesuffix('/v1')}/docs"
    console.print(f"Key: {token}\nKept in: {kept}\nDocs: {docs}\n", highlight=False, markup=False, soft_wrap=True)
    print(
        f"""curl -N {base_url}/chat/completions \\
  -H "Authorization: Bearer {token}" -H "Content-Type: application/json" \\
  -d '{{"model": "{model}", "stream": true, "messages": [{{"role": "user", "content": "Why is the sky blue?"}}]}}'

from openai import OpenAI
client = OpenAI(base_url="{base_url}", api_key="{token}")
stream = client.chat.completions.create(
    model="{model}", stream=True, messages=[{{"role": "user", "content": "Why is the sky blue?"}}])
for chunk in stream: print(chunk.choices[0].delta.content or "", end="", flush=True)
""",
        flush=True,
    )
