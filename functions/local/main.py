"""The `headrace` command: what it takes, and how it fails; each subcommand has its own module."""

import io
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated

import typer
from rich.console import Console

from core.catalog.file import CatalogError
from core.errors import GatewayError, StoreUnavailable
from functions.local import (
    budgets,
    dev,
    keys,
    lambda_front,
    ledger,
    operator,
    orgs,
    own_keys,
    plans,
    policies,
    route,
    usage,
)
from functions.local.catalog import commands
from functions.local.catalog.overlay import OverlayError
from functions.local.catalog.sources.folder import SourcesMissing
from functions.local.demo_model import DemoModelError
from functions.local.doctor.command import doctor
from functions.local.llama_server import LlamaError
from functions.local.output import Refusal
from functions.settings import SettingsError


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"headrace {version('headrace')}")
        raise typer.Exit


app = typer.Typer(
    name="headrace",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def headrace(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """An LLM gateway that exists only while it is called."""


app.command("dev")(dev.dev)
app.command("lambda")(lambda_front.lambda_front)
app.command("route")(route.route)
app.command("doctor")(doctor)
app.command("usage")(usage.usage)
app.add_typer(ledger.app, name="ledger")
app.add_typer(orgs.app, name="orgs")
app.add_typer(keys.app, name="keys")
app.add_typer(policies.app, name="policies")
app.add_typer(plans.app, name="plans")
app.add_typer(budgets.app, name="budgets")
app.add_typer(operator.app, name="operator")
app.add_typer(own_keys.app, name="own-keys")
app.add_typer(commands.app, name="catalog")

EXPECTED = (
    *(Refusal, DemoModelError, LlamaError, CatalogError, OverlayError, SourcesMissing, SettingsError, GatewayError),
    OSError,
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; an expected failure is one clear line and exit code 1.

    Args:
        arguments: What stands after the command's name; the process's own unless given.
    """
    given = sys.argv[1:] if arguments is None else [*arguments]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a sign shows its number
    try:
        for argument in given:
            if any("\ud800" <= sign <= "\udfff" for sign in argument):
                raise Refusal(f"{argument.encode('utf-8', 'backslashreplace').decode()} is not UTF-8.")
        app(args=given)
    except EXPECTED as error:
        # What a store says is for callers of the API; its detail is for whoever runs it.
        words: object = error.detail if isinstance(error, StoreUnavailable) and error.detail else error
        if isinstance(error, OSError) and error.filename is not None:
            words = f"{error.filename}: {error.strerror}"
        Console(stderr=True, highlight=False).print(f"headrace: {words}", markup=False, soft_wrap=True)
        sys.exit(1)
