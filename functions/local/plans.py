"""`headrace plans`: what organisations can agree on, shown and written as JSON."""

from typing import Annotated

import typer

from core.administration import organisations
from core.administration.office import Office
from core.surfaces.admin.changes import LONGEST_NAME, is_identifier
from core.surfaces.admin.plans import parse_plan, plan_object
from functions.local.office import in_office, named_in, show_json, text_of
from functions.local.output import Refusal, show

app = typer.Typer(help="Read and write plans.", no_args_is_help=True)

COLUMNS = ("id", "name", "paid", "limits", "max_input_tokens", "max_output_tokens")

PlanId = Annotated[str, typer.Argument(help="The plan's id.")]


@app.command("list")
def list_plans(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List all plans, those built in among them."""
    rows = [plan_object(plan) for plan in in_office(lambda office: office.store.plans())]
    if as_json:
        show_json(rows)
        return
    for row in rows:
        row["paid"] = "free" if row["is_free"] else "prepaid" if row["is_prepaid"] else "by the month"
        row["limits"] = ", ".join(f"{name} {bound}" for name, bound in row["limits"].items() if bound is not None)
    show(rows, COLUMNS, as_json=False)


@app.command("show")
def show_plan(
    plan_id: PlanId, as_json: Annotated[bool, typer.Option("--json", help="Print JSON, as is done anyway.")] = True
) -> None:
    """Print a plan as JSON, with every member."""
    show_json(plan_object(in_office(lambda office: organisations.plan(office, plan_id))))


@app.command("put")
def put_plan(
    file: Annotated[str, typer.Argument(help="A JSON file that has an 'id'; '-' is standard input.")],
) -> None:
    """Write a plan; one that is built in gives way to it."""
    text = text_of(file)
    plan_id = named_in(text, "id")
    if not is_identifier(plan_id):
        raise Refusal(f"A plan's id must be 1 to {LONGEST_NAME} letters, digits, dots, hyphens or underscores.")
    plan = parse_plan(plan_id, text.encode())

    async def work(office: Office) -> None:
        await office.directory.save_plan(plan)

    in_office(work)
    typer.echo(f"There is the plan {plan_id}.")


@app.command()
def delete(plan_id: PlanId) -> None:
    """Delete a plan that no organisation has."""
    in_office(lambda office: organisations.delete_plan(office, plan_id))
    typer.echo(f"The stored plan {plan_id} is deleted.")
