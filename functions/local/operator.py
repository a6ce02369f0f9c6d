"""`headrace operator`: the key for `/admin/v1`, and what only the operator sees."""

import secrets
from typing import Annotated

import typer

from core.accounts.keys import ENTROPY_BYTES, digest
from core.accounts.operator import make_operator_key
from core.administration import decisions
from functions.local.office import in_office, show_json
from functions.local.output import Refusal
from functions.settings import environment, read_settings

app = typer.Typer(help="Make the operator's key; look at any decision.", no_args_is_help=True)

VARIABLE = "HEADRACE_OPERATOR_KEY_SHA256"


@app.command()
def init(
    replace: Annotated[bool, typer.Option("--replace", help="Make another key although one is configured.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make the operator's key and show it, this once; only its hash is to be configured."""
    if read_settings(environment()).operator_key_sha256 is not None and not replace:
        raise Refusal(f"{VARIABLE} names a key already. Give --replace to make another one in its place.")
    key = make_operator_key(secrets.token_bytes(ENTROPY_BYTES))
    if as_json:
        show_json({"key": key, "sha256": digest(key)})
        return
    typer.echo(key)
    typer.echo(
        f"Keep it now: it is stored nowhere. Start the gateway with\n{VARIABLE}={digest(key)}\n"
        "(the parameter OperatorKeyHash of the stack), and send the key to /admin/v1.",
        err=True,
    )


@app.command()
def decision(
    response_id: Annotated[str, typer.Argument(help="The id of an answer or a decision, in either form.")],
) -> None:
    """Print a decision of any organisation's as JSON, with the hosts that were called."""
    show_json(in_office(lambda office: decisions.decision(office, response_id)))
