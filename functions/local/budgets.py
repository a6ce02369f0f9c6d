"""`headrace budgets`: the limits of an organisation, or of one of its keys."""

from dataclasses import replace
from typing import Annotated

import typer

from core.administration import keys, organisations
from core.administration.office import Office
from core.surfaces.admin.limits import LIMIT_NAMES, limits_object
from core.tenant import Limits
from functions.local.office import DEFAULT_ORG, Org, in_office, show_json
from functions.local.output import Refusal, bound, show

app = typer.Typer(help="Bound what an organisation or a key may use.", no_args_is_help=True)

Key = Annotated[str | None, typer.Option("--key", help="A key's id, for the limits of that key.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Subjects = dict[str, Limits]
"""The limits that hold together, by whose they are; the first are those that were asked for."""

_COUNTING = frozenset(LIMIT_NAMES) - {"parallel"}  # that one is about what is under way


@app.command("show")
def show_limits(org: Org = DEFAULT_ORG, key: Key = None, as_json: Json = False) -> None:
    """Show limits, beside those that hold as well: its organisation's, its plan's. Money is in micro-dollars, days and
    months are those of UTC. JSON has its own alone."""
    _show(in_office(lambda office: _subjects(office, org, key)), as_json=as_json)


@app.command("set")
def set_limits(
    org: Org = DEFAULT_ORG,
    key: Key = None,
    day_micros: Annotated[int | None, bound("Micro-dollars a day.")] = None,
    month_micros: Annotated[int | None, bound("Micro-dollars a month.")] = None,
    day_requests: Annotated[int | None, bound("Requests a day.")] = None,
    month_requests: Annotated[int | None, bound("Requests a month.")] = None,
    minute_requests: Annotated[int | None, bound("Requests a minute.")] = None,
    minute_tokens: Annotated[int | None, bound("Tokens a minute, of prompts and answers.")] = None,
    parallel: Annotated[int | None, bound("Requests at the same time.")] = None,
    as_json: Json = False,
) -> None:
    """Set limits; those that are left out stay as they are. A new limit counts from now on."""
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
    before, subjects = in_office(lambda office: _change(office, org, key, bounds))
    _show(subjects, as_json=as_json)
    if new := [_option(name) for name in bounds if name in _COUNTING and getattr(before, name) is None]:
        verb = "counts" if len(new) == 1 else "count"
        typer.echo(f"{', '.join(new)} {verb} from now on: what was used before is not counted.", err=True)


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
    _, subjects = in_office(lambda office: _change(office, org, key, dict.fromkeys(wanted)))
    _show(subjects, as_json=as_json)


async def _subjects(office: Office, org: str, key: str | None) -> Subjects:
    workspace = await office.workspace(org)
    above = {"organisation": workspace.organisation.limits, "plan": workspace.plan.limits}
    return above if key is None else {"key": (await office.key(org, key)).limits, **above}


async def _change(office: Office, org: str, key: str | None, bounds: dict[str, int | None]) -> tuple[Limits, Subjects]:
    """Returns the limits before, and all after."""
    subjects = await _subjects(office, org, key)
    whose, before = next(iter(subjects.items()))
    changed = replace(before, **bounds)
    if key is None:
        await organisations.change(office, org, {"limits": changed})
    else:
        await keys.change(office, org, key, {"limits": changed})
    return before, {**subjects, whose: changed}


def _show(subjects: Subjects, *, as_json: bool) -> None:
    bounds = {whose: limits_object(limits) for whose, limits in subjects.items()}
    if as_json:
        show_json(next(iter(bounds.values())))
        return
    rows: list[dict[str, object]] = [
        {"limit": _option(name), **{whose: _cell(of[name]) for whose, of in bounds.items()}} for name in LIMIT_NAMES
    ]
    show(rows, ("limit", *bounds), as_json=False)


def _cell(bound: object) -> str:
    return "none" if bound is None else f"{bound:,}"


def _option(name: str) -> str:
    return name.replace("_", "-")
