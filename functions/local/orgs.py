"""`headrace orgs`: organisations, what they pay in, and their own catalogs."""

from collections.abc import Awaitable, Sequence
from typing import Annotated, Any

import typer

from core.administration import organisations, setup
from core.administration.office import Office
from core.surfaces.admin.organisations import (
    MOST_PAID,
    organisation_object,
    parse_changes,
    parse_organisation,
    parse_payment,
)
from core.tenant import Organisation
from core.usage import balance
from functions.local.office import body, day, dollars, in_office, show_json, text_of
from functions.local.output import Refusal, counted, show

app = typer.Typer(help="Make, change and delete organisations.", no_args_is_help=True)
catalog = typer.Typer(help="Read and write an organisation's own catalog.", no_args_is_help=True)
app.add_typer(catalog, name="catalog")

COLUMNS = ("id", "name", "plan", "markup", "discount", "paid_in", "left", "made")

Row = dict[str, Any]
Org = Annotated[str, typer.Argument(help="The organisation's id.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Name = Annotated[str | None, typer.Option("--name", help="What people call it.")]
Plan = Annotated[str | None, typer.Option("--plan", help="A plan's id; see: headrace plans list.")]
Markup = Annotated[str | None, typer.Option("--markup", help="Share added to provider prices, such as 0.05 or 1/20.")]
Discount = Annotated[str | None, typer.Option("--discount", help="Share taken off, from 0 to 1.")]


@app.command("list")
def list_organisations(as_json: Json = False) -> None:
    """List all organisations."""

    async def work(office: Office) -> Sequence[Row]:
        return [await _row(office, each) for each in await office.store.organisations()]

    _show(in_office(work), as_json=as_json)


@app.command("show")
def show_organisation(org: Org, as_json: Json = False) -> None:
    """Show one organisation."""
    _show([in_office(lambda office: _of(office, office.organisation(org)))], as_json=as_json)


@app.command()
def create(
    org: Org,
    name: Name = None,
    plan: Plan = None,
    markup: Markup = None,
    discount: Discount = None,
    as_json: Json = False,
) -> None:
    """Make an organisation."""
    members = parse_organisation(body({"id": org, "name": name, "plan": plan, "markup": markup, "discount": discount}))
    _show([in_office(lambda office: _of(office, organisations.create(office, members)))], as_json=as_json)


@app.command()
def change(
    org: Org,
    name: Name = None,
    plan: Plan = None,
    markup: Markup = None,
    discount: Discount = None,
    as_json: Json = False,
) -> None:
    """Change an organisation; what is left out stays as it is."""
    members = parse_changes(body({"name": name, "plan": plan, "markup": markup, "discount": discount}))
    _show([in_office(lambda office: _of(office, organisations.change(office, org, members)))], as_json=as_json)


@app.command()
def pay(
    org: Org,
    micros: Annotated[
        int,
        typer.Argument(
            min=-MOST_PAID, max=MOST_PAID, help="Micro-dollars to add to the credits; -- and a minus take back."
        ),
    ],
    payment: Annotated[str, typer.Option("--id", help="What the payment is called. One of that name counts once.")],
    as_json: Json = False,
) -> None:
    """Add a payment to an organisation's credits; the same one again changes nothing."""
    name, amount = parse_payment(body({"id": payment, "micros": micros}))

    async def work(office: Office) -> tuple[Row, bool]:
        paid, is_new = await organisations.pay_in(office, org, name, amount)
        return await _row(office, paid), is_new

    row, is_new = in_office(work)
    if not is_new:
        typer.echo(f"The payment {name} is already paid in; nothing was added.", err=True)
    _show([row], as_json=as_json)


@app.command()
def delete(
    org: Org, yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether that is meant.")] = False
) -> None:
    """Delete an organisation with its keys, policies, records and totals. They cannot be brought back."""
    if not yes and not typer.confirm(f"Delete {org} and everything that is kept of it?"):
        raise Refusal("Nothing was deleted.")
    in_office(lambda office: organisations.delete(office, org))
    typer.echo(f"{org} is deleted.")


@catalog.command("show")
def show_catalog(org: Org) -> None:
    """Print an organisation's own catalog."""
    typer.echo(in_office(lambda office: setup.catalog(office, org)), nl=False)


@catalog.command("put")
def put_catalog(org: Org, file: Annotated[str, typer.Argument(help="A TOML file; '-' is standard input.")]) -> None:
    """Check a catalog and put it into force for one organisation."""
    text = text_of(file)
    count = in_office(lambda office: setup.save_catalog(office, org, text))
    typer.echo(f"{org} has {counted(count, 'model')} of its own.")


@catalog.command("delete")
def delete_catalog(org: Org) -> None:
    """Take an organisation's own catalog away."""
    in_office(lambda office: setup.delete_catalog(office, org))
    typer.echo(f"{org} has no catalog of its own any more.")


async def _of(office: Office, found: Awaitable[Organisation]) -> Row:
    return await _row(office, await found)


async def _row(office: Office, organisation: Organisation) -> Row:
    left = await balance(office.store, await office.workspace(organisation.id))
    return {**organisation_object(organisation), "balance_micros": left}


def _show(rows: Sequence[Row], *, as_json: bool) -> None:
    if as_json:
        show_json(rows)
        return
    cells = [
        {
            **row,
            "paid_in": dollars(row["credit_micros"]),
            "left": dollars(row["balance_micros"]),
            "made": day(row["created"]),
        }
        for row in rows
    ]
    show(cells, COLUMNS, as_json=False)
