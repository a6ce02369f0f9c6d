"""`headrace own-keys`: organisations' own keys at vendors; a key is read from a prompt or a pipe, never shown again."""

import sys
from typing import Annotated

import typer

from core.administration.office import Office
from core.administration.setup import delete_own_key, save_own_key
from core.surfaces.admin.organisations import is_secret
from core.tenant import OwnKey
from functions.local.office import DEFAULT_ORG, Org, day, in_office
from functions.local.output import Refusal, show, standard_input

app = typer.Typer(help="Organisations' own keys at vendors.", no_args_is_help=True)

Vendor = Annotated[str, typer.Argument(help="The vendor, as `headrace catalog list --json` names it.")]


@app.command()
def add(vendor: Vendor, org: Org = DEFAULT_ORG) -> None:
    """Keep a key, sealed; one for the same vendor is replaced. The key is asked for, or read from standard input."""
    secret = _read_secret(vendor)
    kept = in_office(lambda office: save_own_key(office, org, vendor, secret))
    typer.echo(f"{org} calls {vendor} with its own key …{kept.hint} from now on, as its policies say.")


@app.command("list")
def list_own_keys(
    org: Org = DEFAULT_ORG,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List an organisation's own keys; of a key itself only the last characters are ever shown."""

    async def work(office: Office) -> list[OwnKey]:
        own_keys = (await office.workspace(org)).own_keys
        return [own_keys[vendor] for vendor in sorted(own_keys)]

    show([_row(own_key) for own_key in in_office(work)], ["vendor", "hint", "created"], as_json=as_json)


@app.command()
def remove(vendor: Vendor, org: Org = DEFAULT_ORG) -> None:
    """Forget a key; gateways that know it stop using it within a minute."""
    in_office(lambda office: delete_own_key(office, org, vendor))
    typer.echo(f"{org} has no key of its own at {vendor} any more.")


def _read_secret(vendor: str) -> str:
    is_asked = sys.stdin.isatty()
    secret = str(
        typer.prompt(f"Key at {vendor} (not shown)", hide_input=True) if is_asked else standard_input()
    ).strip()
    if not is_secret(secret):
        raise Refusal("That is no key: send it alone, in one line, such as: headrace own-keys add openai < key.txt")
    return secret


def _row(own_key: OwnKey) -> dict[str, object]:
    created = day(own_key.created_ms // 1000)
    return {"org": own_key.org, "vendor": own_key.vendor, "hint": f"…{own_key.hint}", "created": created}
