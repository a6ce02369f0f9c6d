"""`headrace route`: shows which model a prompt would get, and why; it calls no model."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
from rich.console import Console

from core.accounts.directory import CachedDirectory
from core.decision import BUILT_IN_POLICY, Objective
from core.errors import Overloaded, StoreUnavailable
from core.parts import Parts
from core.ports import Clock, Store
from core.routing.router import Router
from core.service import Service
from core.surfaces.surface import ROUTING
from core.tenant import Key, Organisation
from core.workspace import Workspace
from functions.gateway.compose import Gateway, every_offer
from functions.local.catalog.demo import kept_demo
from functions.local.office import DEFAULT_ORG, Org
from functions.local.output import Refusal, bound, show, standard_input
from functions.settings import Settings, environment, read_settings

COLUMNS = ("model", "score", "quality", "cost", "first_token")

Body = dict[str, Any]


def route(
    prompt: Annotated[str, typer.Argument(help="What to ask; '-' reads it from standard input.")] = "",
    body: Annotated[
        Path | None, typer.Option("--body", exists=True, dir_okay=False, help="A whole request instead, as JSON.")
    ] = None,
    optimize: Annotated[Objective | None, typer.Option("--optimize", help="What counts.")] = None,
    only: Annotated[list[str] | None, typer.Option("--only", help="A model that may serve; can be repeated.")] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", help="A model that may not; can be repeated.")
    ] = None,
    max_tokens: Annotated[int | None, bound("The limit of the answer.", least=1)] = None,
    max_cost_micros: Annotated[int | None, bound("The most that the request may cost.")] = None,
    org: Org = DEFAULT_ORG,
    policy: Annotated[str | None, typer.Option("--policy", help="A policy of theirs.")] = None,
    all_vendors: Annotated[
        bool, typer.Option("--all-vendors", help="As if the key of every vendor were there.")
    ] = False,
    top: Annotated[int, typer.Option("--top", min=1, help="How many models to show.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print the decision as JSON.")] = False,
) -> None:
    """Show which model a prompt would get, and why. No model is called."""
    routing: Body = {"models": only, "exclude": exclude, "max_cost_micros": max_cost_micros, "policy": policy}
    routing["optimize"] = None if optimize is None else optimize.value
    asked = _body(prompt, body)
    if max_tokens is not None:
        asked["max_tokens"] = max_tokens
    # What the command says narrows what the file says.
    said = {name: value for name, value in routing.items() if value is not None}
    written = asked.get("routing")
    if said or written is not None:
        if not isinstance(written, dict | None):
            raise Refusal("'routing' must be an object.")
        asked["routing"] = {**(written or {}), **said}
    try:
        request = orjson.dumps(asked)
    except TypeError as error:
        raise Refusal(f"That cannot be sent: {error}.") from None
    decision = asyncio.run(_decide(request, org, all_vendors))
    if as_json:
        print(orjson.dumps(decision, option=orjson.OPT_INDENT_2).decode())
        return
    _print(decision, top)


def _body(prompt: str, file: Path | None) -> Body:
    if file is not None:
        if prompt:
            raise Refusal("Give a prompt or --body, not both.")
        try:
            read = orjson.loads(file.read_bytes())
        except orjson.JSONDecodeError as error:
            raise Refusal(f"{file} is not JSON: {error}") from None
        if not isinstance(read, dict):
            raise Refusal(f"{file} is not a request: it must be a JSON object.")
        return {"model": "auto", **read}
    text = standard_input() if prompt == "-" else prompt
    if not text.strip():
        raise Refusal('There is nothing to ask. Try: headrace route "Why is the sky blue?"')
    return {"model": "auto", "messages": [{"role": "user", "content": text}]}


async def _decide(request: bytes, org: str, all_vendors: bool) -> Mapping[str, Any]:
    variables = environment()
    settings = read_settings(variables)
    gateway = Gateway(settings, variables, own_catalog=kept_demo(settings))
    await gateway.connect()
    try:
        parts = gateway.service.parts
        now_ms = round(parts.clock.now() * 1000)
        found = await parts.store.workspace(org)
        if found is None and org != DEFAULT_ORG:
            raise Refusal(f"There is no organisation {org!r}.")
        workspace = found or Workspace(Organisation(id=org, name=org, created_ms=now_ms))
        parts = replace(parts, directory=_Only(parts.store, parts.clock, workspace))
        service = _with_all_vendors(parts, settings) if all_vendors else Service(parts)
        default = BUILT_IN_POLICY.name
        names = (default, *sorted(workspace.policies.keys() - {default}))
        key = Key("", id="route", org=org, name="headrace route", hint="", created_ms=now_ms, policies=names)
        request_id = service.parts.new_request_id()
        return await service.route(ROUTING, key, request_id, request, full=True)
    except Overloaded as error:
        if all_vendors or isinstance(error, StoreUnavailable):
            raise
        raise Refusal(f"{error.message} Or see what every vendor would offer: headrace route --all-vendors.") from error
    finally:
        await gateway.close()


class _Only(CachedDirectory):
    """A directory of one organisation, which need not be stored."""

    def __init__(self, store: Store, clock: Clock, workspace: Workspace) -> None:
        super().__init__(store, clock)
        self._workspace = workspace

    async def workspace(self, org: str) -> Workspace | None:
        """The organisation's, whatever is asked for."""
        return self._workspace


def _with_all_vendors(parts: Parts, settings: Settings) -> Service:
    offers = every_offer(settings, kept_demo(settings))
    return Service(replace(parts, catalog=offers.common.catalog, router=Router(offers, parts.router.read)))


def _print(decision: Mapping[str, Any], top: int) -> None:
    console = Console(highlight=False, soft_wrap=True)
    console.print(decision["reasoning"], markup=False)
    facts = [decision["optimize"], f"policy {decision['policy']}", f"decisiveness {decision['decisiveness']:.2f}"]
    if decision["task"] is not None:
        sure, complexity = decision["task_confidence"], decision["complexity"]
        facts = [f"{decision['task']} ({sure:.0%} sure)", f"complexity {complexity:.2f}", *facts]
    console.print(", ".join(facts), markup=False)
    show([_row(each) for each in decision["alternatives"][:top]], COLUMNS, as_json=False)
    totals = decision.get("excluded_totals", {})
    for reason, models in decision["excluded"].items():
        count = totals.get(reason, len(models))
        shown = ", ".join([*models[:3], "..."] if count > 3 else models)
        console.print(f"left out, {reason}: {count} ({shown})", markup=False)


def _row(alternative: Mapping[str, Any]) -> dict[str, object]:
    micros, ttft_ms = alternative["estimated_cost_micros"], alternative["estimated_ttft_ms"]
    return {
        "model": alternative["model"],
        "score": _two_digits(alternative["score"]),
        "quality": _two_digits(alternative["quality"]) or alternative["quality_basis"],
        "cost": None if micros is None else f"${micros / 1_000_000:.6f}",
        "first_token": None if ttft_ms is None else f"{ttft_ms} ms",
    }


def _two_digits(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"
