"""`headrace budgets`: the limits of an organisation, or of one of its keys."""

from dataclasses import replace
from typing import Annotated

import typer

from core.administration import keys, organisations
from core.administration.office import Office
from core.surfaces.admin.limits import LARGEST, LIMIT_NAMES, limits_object
from core.tenant import Limits
from functions.local.office import DEFAULT_ORG, Org, in_office, show_json
from functions.local.output import Refusal, show

app = typer.Typer(help="Bound what an organisation or a key may use.", no_args_is_help=True)

Key = Annotated[str | None, typer.Option("--key", help="A key's id, for the limits of that key.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Bound = Annotated[int | None, typer.Option(min=0, max=LARGEST)]


@app.command("show")
def show_limits(org: Org = DEFAULT_ORG, key: Key = None, as_json: Json = False) -> None:
    """Show limits; money is in micro-dollars, days and months are those of UTC."""
    _show(in_office(lambda office: _limits(office, org, key)), as_json=as_json)


@app.command("set")
def set_limits(
    org: Org = DEFAULT_ORG,
    key: Key = None,
    day_micros: Bound = None,
    month_micros: Bound = None,
    day_requests: Bound = None,
    month_requests: Bound = None,
    minute_requests: Bound = None,
    minute_tokens: Bound = None,
    parallel: Bound = None,
    as_json: Json = False,
) -> None:
    """Set limits; those that are left out stay as they are."""
    given = {
        "day_micros": day_micros,
        "month_micros": month_micros,
        "day_requests": day_requests,
        "month_requests": month_requests,
        "minute_requests": minute_requests,
        "minute_tokens": minute_tokens,
        "parallel": parallel,
    }
    bounds: dict[str, int | None] = {name: bound for name, bound in given.items() if bound is not None}
    if not bounds:
        raise Refusal(f"Name a limit to set: {', '.join(f'--{_option(name)}' for name in LIMIT_NAMES)}.")
    _show(in_office(lambda office: _change(office, org, key, bounds)), as_json=as_json)


@app.command()
def clear(
    names: Annotated[list[str] | None, typer.Argument(help="Limits to take away; all if none is named.")] = None,
    org: Org = DEFAULT_ORG,
    key: Key = None,
    as_json: Json = False,
) -> None:
    """Take limits away."""
    wanted = [name.replace("-", "_") for name in names or LIMIT_NAMES]
    for name in wanted:
        if name not in LIMIT_NAMES:
            raise Refusal(f"There is no limit {name!r}. There are: {', '.join(map(_option, LIMIT_NAMES))}.")
    _show(in_office(lambda office: _change(office, org, key, dict.fromkeys(wanted))), as_json=as_json)


async def _limits(office: Office, org: str, key: str | None) -> Limits:
    return (await office.organisation(org)).limits if key is None else (await office.key(org, key)).limits


async def _change(office: Office, org: str, key: str | None, bounds: dict[str, int | None]) -> Limits:
    changed = replace(await _limits(office, org, key), **bounds)
    if key is None:
        await organisations.change(office, org, {"limits": changed})
    else:
        await keys.change(office, org, key, {"limits": changed})
    return changed


def _show(found: Limits, *, as_json: bool) -> None:
    bounds = limits_object(found)
    if as_json:
        show_json(bounds)
        return
    rows: list[dict[str, object]] = [
        {"limit": _option(name), "bound": "none" if bound is None else f"{bound:,}"} for name, bound in bounds.items()
    ]
    show(rows, ("limit", "bound"), as_json=False)


def _option(name: str) -> str:
    return name.replace("_", "-")
