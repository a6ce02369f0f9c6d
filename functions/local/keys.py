"""`headrace keys`: callers' keys in the store that the settings name."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from core.administration import keys
from core.administration.office import Office
from core.ports import Store
from core.surfaces.admin.changes import is_identifier
from core.surfaces.admin.keys import MOST_OVERLAP_HOURS, USUAL_OVERLAP_HOURS, key_object, parse_key, parse_key_changes
from core.surfaces.admin.limits import limits_object
from core.tenant import Key, Organisation, Scope
from core.workspace import Workspace
from functions.local.office import (
    DEFAULT_ORG,
    Org,
    body,
    in_office,
    moment,
    now_ms,
    office_of,
    show_json,
)
from functions.local.output import Refusal, joined, show

app = typer.Typer(help="Make, change, rotate and revoke the keys that callers use.", no_args_is_help=True)

COLUMNS = ("id", "name", "hint", "policies", "scopes", "created", "expires", "revoked", "last_used")
DAY_S = 86_400
MOST_DAYS = 1_000_000

KeyId = Annotated[str, typer.Argument(help="The id that `headrace keys list` shows.")]
Days = Annotated[int | None, typer.Option("--days", min=1, max=MOST_DAYS, help="Days from now until it expires.")]
Policies = Annotated[
    list[str] | None, typer.Option("--policy", help="A policy that it may use, its default first; can be repeated.")
]
Models = Annotated[list[str] | None, typer.Option("--model", help="A model that it may use; can be repeated.")]
Scopes = Annotated[list[Scope] | None, typer.Option("--scope", help="What it is for; can be repeated. All if none.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="What the key is for, in your words.")],
    org: Org = DEFAULT_ORG,
    days: Days = None,
    policies: Policies = None,
    models: Models = None,
    scopes: Scopes = None,
    as_json: Json = False,
) -> None:
    """Make a key and show it, this once. An organisation that is not there yet is made with it."""
    members = parse_key(body({"name": name, **_bounds(days, policies, models, scopes)}))

    _show_made(*in_office(lambda office: _create(office, org, members)), as_json=as_json)


@app.command("list")
def list_keys(org: Org = DEFAULT_ORG, as_json: Json = False) -> None:
    """List an organisation's keys; a key itself is never shown again."""

    async def work(office: Office) -> Sequence[Key]:
        await office.organisation(org)
        return await office.store.keys(org)

    found = in_office(work)
    if as_json:
        show([_row(key) for key in found], COLUMNS, as_json=True)
        return
    show([_cells(key) for key in found], COLUMNS, as_json=False)


@app.command("show")
def show_key(key_id: KeyId, org: Org = DEFAULT_ORG) -> None:
    """Print everything that is kept of a key, as JSON."""
    show_json(key_object(in_office(lambda office: office.key(org, key_id))))


@app.command()
def change(
    key_id: KeyId,
    org: Org = DEFAULT_ORG,
    name: Annotated[str | None, typer.Option("--name", help="What it is for.")] = None,
    days: Days = None,
    forever: Annotated[bool, typer.Option("--forever", help="It does not expire.")] = False,
    policies: Policies = None,
    models: Models = None,
    all_models: Annotated[bool, typer.Option("--all-models", help="It may use every model.")] = False,
    scopes: Scopes = None,
) -> None:
    """Change a key; what is left out stays as it is."""
    if (forever and days) or (all_models and models):
        raise Refusal("Give --days or --forever, and --model or --all-models, not both.")
    members = parse_key_changes(body({"name": name, **_bounds(days, policies, models, scopes)}))
    cleared = {"expires_ms": None} if forever else {}
    cleared |= {"models": None} if all_models else {}
    show_json(key_object(in_office(lambda office: keys.change(office, org, key_id, {**members, **cleared}))))


@app.command()
def rotate(
    key_id: KeyId,
    org: Org = DEFAULT_ORG,
    overlap_hours: Annotated[
        int, typer.Option("--overlap-hours", min=0, max=MOST_OVERLAP_HOURS, help="How long the old one lives on.")
    ] = USUAL_OVERLAP_HOURS,
    as_json: Json = False,
) -> None:
    """Make a key that takes another one's place, and show it, this once."""
    _show_made(*in_office(lambda office: keys.rotate(office, org, key_id, overlap_hours)), as_json=as_json)


@app.command()
def revoke(key_id: KeyId, org: Org = DEFAULT_ORG) -> None:
    """Revoke a key; gateways that know it refuse it within a minute."""
    in_office(lambda office: keys.revoke(office, org, key_id))
    typer.echo(f"{key_id} is revoked.")


@app.command()
def delete(key_id: KeyId, org: Org = DEFAULT_ORG) -> None:
    """Forget a key; gateways that know it refuse it within a minute."""
    in_office(lambda office: keys.delete(office, org, key_id))
    typer.echo(f"{key_id} is deleted.")


async def create_key(store: Store, org: str, name: str, days: int | None = None) -> tuple[str, Key]:
    """Make a key, and its organisation if there is none of that id yet; returns the token and what is stored of it."""
    expires_ms = None if days is None else now_ms() + days * DAY_S * 1000
    return await _create(office_of(store), org, {"name": name, "expires_ms": expires_ms})


async def _create(office: Office, org: str, members: Mapping[str, Any]) -> tuple[str, Key]:
    if await office.store.organisation(org) is None:
        if not is_identifier(org):
            raise Refusal(f"{org!r} cannot be an organisation's id; use letters, digits, dots, hyphens, underscores.")
        made = Organisation(id=org, name=org, created_ms=office.now_ms())
        keys.check(office, Workspace(made), members)  # first, so that a mistake leaves nothing behind
        await office.directory.save_organisation(made)
    return await keys.create(office, org, members)


def _bounds(
    days: int | None, policies: list[str] | None, models: list[str] | None, scopes: list[Scope] | None
) -> dict[str, Any]:
    return {
        "expires": None if days is None else now_ms() // 1000 + days * DAY_S,
        "policies": policies or None,
        "models": models or None,
        "scopes": [scope.value for scope in scopes] if scopes else None,
    }


def _show_made(token: str, key: Key, *, as_json: bool) -> None:
    if as_json:
        show([{**_row(key), "key": token}], ["key"], as_json=True)
        return
    typer.echo(token)
    typer.echo(f"Keep it now: only its hash is stored. Its id is {key.id}.", err=True)


def _row(key: Key) -> dict[str, object]:
    return {
        "id": key.id,
        "org": key.org,
        "name": key.name,
        "hint": f"…{key.hint}",
        "created": _date(key.created_ms),
        "expires": _date(key.expires_ms),
        "revoked": _date(key.revoked_ms),
        "last_used": _date(key.last_used_ms),
        "policies": list(key.policies),
        "models": None if key.models is None else list(key.models),
        "scopes": [scope.value for scope in key.scopes],
        "limits": limits_object(key.limits),
        "successor": key.successor,
    }


def _cells(key: Key) -> dict[str, object]:
    times = ("created", key.created_ms), ("expires", key.expires_ms), ("revoked", key.revoked_ms)
    return {
        **_row(key),
        "policies": joined(key.policies),
        "scopes": _scopes(key),
        **{name: _day(at_ms) for name, at_ms in (*times, ("last_used", key.last_used_ms))},
    }


def _day(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else f"{moment(milliseconds // 1000):%Y-%m-%d}"


def _scopes(key: Key) -> str:
    return "all" if set(key.scopes) == set(Scope) else joined([scope.value for scope in key.scopes])


def _date(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else moment(milliseconds // 1000).isoformat(timespec="seconds")
