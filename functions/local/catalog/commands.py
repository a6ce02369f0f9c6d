"""`headrace catalog`: list, check, build and compile catalogs."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from core.catalog.loader import Catalog, load_catalog
from core.catalog.model import Model
from functions.gateway.catalog_file import read_catalog_file
from functions.local.catalog.build import build as build_models
from functions.local.catalog.check import check as findings_of
from functions.local.catalog.findings import Severity
from functions.local.catalog.ship import compile_own, ship
from functions.local.output import Refusal, counted, show

app = typer.Typer(help="List, check, build and compile catalogs of models.", no_args_is_help=True)

Own = Annotated[
    list[Path] | None,
    typer.Option("--catalog", exists=True, dir_okay=False, help="A catalog file of your own; may be repeated."),
]
NOUNS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@app.command("list")
def list_models(catalog: Own = None, as_json: Json = False) -> None:
    """List models and what they cost, in US dollars per million tokens at the first host."""
    show(
        [_row(model) for model in _load(catalog).models],
        ["id", "hosts", "context_tokens", "input", "output", "thinking"],
        as_json=as_json,
    )


@app.command()
def check(
    catalog: Own = None,
    sources: Annotated[
        Path | None,
        typer.Option(
            "--sources", exists=True, file_okay=False, help="The folder with the sources, to say where they differ."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say what is missing, contradictory or about to end; exit code 1 if there are errors. Of a file of your own, what
    is said of the models that ship is left out, and counted."""
    differ = () if sources is None else build_models(sources).disagreements
    whole = findings_of(_load(catalog), datetime.now(UTC).date(), differ)
    shipped = frozenset(findings_of(load_catalog(), datetime.now(UTC).date(), differ) if catalog else ())
    findings = [finding for finding in whole if finding not in shipped]
    rows: list[dict[str, object]] = [
        {
            "severity": finding.severity.value,
            "model": finding.model,
            "field": finding.field,
            "message": finding.message,
        }
        for finding in findings
    ]
    show(rows, ["severity", "model", "field", "message"], as_json=as_json)
    counts = Counter(finding.severity for finding in findings)
    if not as_json:
        words = ", ".join(counted(counts[severity], NOUNS[severity]) for severity in Severity)
        Console(stderr=True).print(words, highlight=False)
        if left_out := len(whole) - len(findings):
            said = counted(left_out, "finding")
            Console(stderr=True).print(f"{said} about what ships: headrace catalog check", highlight=False)
    if counts[Severity.ERROR]:
        raise typer.Exit(1)


@app.command()
def build(
    sources: Annotated[Path, typer.Argument(exists=True, file_okay=False, help="The folder with the dated sources.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Report, write nothing.")] = False,
) -> None:
    """Build the shipped catalog from dated sources and the overlay."""
    report = build_models(sources)
    if not dry_run:
        ship(report)
    console = Console()
    console.print(counted(len(report.models), "model"), highlight=False)
    for vendor, count in sorted(report.hosts_by_vendor.items(), key=lambda item: -item[1]):
        console.print(f"  {vendor} {count}", highlight=False)
    differ = counted(len(report.disagreements), "disagreement")
    console.print(
        f"{differ} between sources; `headrace catalog check --sources DIR` lists them", highlight=False, soft_wrap=True
    )


@app.command("compile")
def compile_catalog(
    source: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A catalog file in TOML.")],
    target: Annotated[Path, typer.Argument(dir_okay=False, help="Where its compiled form goes.")],
) -> None:
    """Compile a catalog file of your own, so that thousands of models load quickly."""
    if source.resolve() == target.resolve():
        raise Refusal(f"{target} would be overwritten by its own compiled form. Name another file.")
    name, text = read_catalog_file(source)
    target.write_bytes(compile_own(text, name))


def _load(own: list[Path] | None) -> Catalog:
    return load_catalog([read_catalog_file(path) for path in own or ()])


def _row(model: Model) -> dict[str, object]:
    prices = model.hosts[0].prices
    return {
        "id": model.id,
        "hosts": len(model.hosts),
        "vendors": [*dict.fromkeys(host.vendor for host in model.hosts)],
        "context_tokens": model.context_tokens,
        "max_output_tokens": model.max_output_tokens,
        "input": None if prices is None else prices.base.input / 1_000_000,
        "output": None if prices is None else prices.base.output / 1_000_000,
        "thinking": model.abilities.thinking.value,
    }
