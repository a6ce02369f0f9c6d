"""`headrace policies`: an organisation's policies, shown and written as JSON."""

from typing import Annotated

import typer

from core.administration import setup
from core.surfaces.admin.changes import LONGEST_NAME, is_identifier
from core.surfaces.admin.policies import parse_policy, policy_object
from functions.local.office import DEFAULT_ORG, Org, in_office, named_in, show_json, text_of
from functions.local.output import Refusal, joined, show

app = typer.Typer(help="Read and write an organisation's policies.", no_args_is_help=True)

COLUMNS = ("name", "optimize", "models", "hosts", "max_cost_micros", "max_attempts")

Name = Annotated[str, typer.Argument(help="The policy's name.")]


@app.command("list")
def list_policies(
    org: Org = DEFAULT_ORG,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List an organisation's policies."""
    found = in_office(lambda office: office.workspace(org)).policies
    rows = [policy_object(found[name]) for name in sorted(found)]
    if as_json:
        show_json(rows)
        return
    cells = [{**row, "models": joined(row["allow_models"]), "hosts": joined(row["allow_providers"])} for row in rows]
    show(cells, COLUMNS, as_json=False)


@app.command("show")
def show_policy(
    name: Name,
    org: Org = DEFAULT_ORG,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, as is done anyway.")] = True,
) -> None:
    """Print a policy as JSON, with every member."""
    show_json(policy_object(in_office(lambda office: setup.policy(office, org, name))))


@app.command("put")
def put_policy(
    file: Annotated[str, typer.Argument(help="A JSON file that has a 'name'; '-' is standard input.")],
    org: Org = DEFAULT_ORG,
) -> None:
    """Write a policy; what it does not say is as in the built-in policy."""
    text = text_of(file)
    name = named_in(text, "name")
    if not is_identifier(name):
        raise Refusal(f"A policy's name must be 1 to {LONGEST_NAME} letters, digits, dots, hyphens or underscores.")
    policy = parse_policy(name, text.encode())
    in_office(lambda office: setup.save_policy(office, org, policy))
    typer.echo(f"{org} has the policy {name}.")


@app.command()
def delete(name: Name, org: Org = DEFAULT_ORG) -> None:
    """Delete a policy that no key names."""
    in_office(lambda office: setup.delete_policy(office, org, name))
    typer.echo(f"{org} has no policy {name} of its own any more.")
