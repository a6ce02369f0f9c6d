"""`headrace doctor`: what it takes, and how it shows what was found."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from importlib.metadata import version
from typing import Annotated

import orjson
import typer
from rich.console import Console
from rich.markup import escape

from functions.local.doctor.examine import Step, examine_deployment, examine_installation
from functions.local.doctor.finding import Finding, Level, fine
from functions.local.output import Refusal, plain_table, print_table, standard_input
from functions.settings import environment

_STYLES = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "bold red"}


def doctor(
    url: Annotated[str | None, typer.Option("--url", help="A gateway's address, to look at it from outside.")] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", help="A key of it; '-' reads it from standard input. It pays for one short answer."),
    ] = None,
    model: Annotated[str, typer.Option("--model", help="The model that is asked whether it streams.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Look at this installation, as the variables describe it, or at a gateway from outside; say what to do.

    Exit codes: 0 when it works, 1 when something is broken.
    """
    if url is None and key is not None:
        raise Refusal("--key goes with --url: without it, the installation is looked at by its settings.")
    if url is not None and not url.startswith(("http://", "https://")):
        raise Refusal(f"{url} is no address: it begins with https:// or http://.")
    token = standard_input().strip() if key == "-" else key
    steps = examine_installation(environment()) if url is None else examine_deployment(url, token, model)
    found = [fine("headrace", f"version {version('headrace')}"), *asyncio.run(_all(steps))]
    if as_json:
        print(orjson.dumps({"ok": _works(found), "findings": [*map(_row, found)]}, option=orjson.OPT_INDENT_2).decode())
    else:
        _show(found)
    if not _works(found):
        raise typer.Exit(1)


async def _all(steps: AsyncIterator[Step]) -> Sequence[Finding]:
    console = Console(stderr=True)
    found: list[Finding] = []
    with console.status("Looking at the settings") as status:
        async for step in steps:
            found += step.found
            status.update(f"Looking at {step.title}")
    return found


def _works(found: Sequence[Finding]) -> bool:
    return all(each.level is not Level.FAIL for each in found)


def _row(finding: Finding) -> dict[str, str | None]:
    return {"about": finding.about, "level": finding.level.value, "says": finding.says, "do": finding.do}


def _show(found: Sequence[Finding]) -> None:
    table = plain_table("", "about", "what was found", "what to do")
    for each in found:
        style = _STYLES[each.level]
        table.add_row(f"[{style}]{each.level.value}[/{style}]", *map(escape, (each.about, each.says, each.do or "")))
    print_table(table)
