"""`headrace route`: shows which model a prompt would get, and why; it calls no model."""

import asyncio
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
from rich.console import Console

from core.catalog.loader import load_catalog
from core.decision import Objective
from core.providers.refusals import refusal_traits
from core.routing.router import Router
from core.service import Service
from core.surfaces.surface import ROUTING
from core.tenant import Key
from functions.gateway.compose import Gateway
from functions.local.output import Refusal, show
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
    max_tokens: Annotated[int | None, typer.Option("--max-tokens", help="The limit of the answer.")] = None,
    max_cost_micros: Annotated[
        int | None, typer.Option("--max-cost-micros", help="The most that the request may cost.")
    ] = None,
    all_vendors: Annotated[
        bool, typer.Option("--all-vendors", help="As if the key of every vendor were there.")
    ] = False,
    top: Annotated[int, typer.Option("--top", min=1, help="How many models to show.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print the decision as JSON.")] = False,
) -> None:
    """Show which model a prompt would get, and why. No model is called."""
    routing: Body = {"models": only, "exclude": exclude, "max_cost_micros": max_cost_micros}
    routing["optimize"] = None if optimize is None else optimize.value
    asked = _body(prompt, body)
    if max_tokens is not None:
        asked["max_tokens"] = max_tokens
    # What the command says narrows what the file says.
    said = {name: value for name, value in routing.items() if value is not None}
    asked["routing"] = {**(asked.get("routing") or {}), **said}
    decision = asyncio.run(_decide(asked, all_vendors))
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
    text = sys.stdin.read() if prompt == "-" else prompt
    if not text.strip():
        raise Refusal('There is nothing to ask. Try: headrace route "Why is the sky blue?"')
    return {"model": "auto", "messages": [{"role": "user", "content": text}]}


async def _decide(asked: Body, all_vendors: bool) -> Mapping[str, Any]:
    variables = environment()
    settings = read_settings(variables)
    gateway = Gateway(settings, variables)
    await gateway.connect()
    try:
        service = _with_all_vendors(gateway.service, settings) if all_vendors else gateway.service
        now_ms = time.time_ns() // 1_000_000
        key = Key(digest="", id="route", org="default", name="headrace route", hint="", created_ms=now_ms)
        request_id = service.parts.new_request_id()
        return await service.route(ROUTING, key, request_id, orjson.dumps(asked), full=True)
    finally:
        await gateway.close()


def _with_all_vendors(service: Service, settings: Settings) -> Service:
    own = [] if settings.catalog is None else [(str(settings.catalog), settings.catalog.read_text("utf-8"))]
    catalog = load_catalog(own)
    return Service(
        replace(service.parts, catalog=catalog, router=Router(catalog, service.parts.router.read, refusal_traits))
    )


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
