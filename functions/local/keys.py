"""`headrace keys`: make, list and revoke callers' keys in the store that the settings name."""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, TypeVar

import typer

from core.accounts.keys import ENTROPY_BYTES, digest, hint, make_key
from core.ports import Store
from core.tenant import Key, Organisation
from functions.gateway.compose import open_store
from functions.local.output import Refusal, show
from functions.settings import environment, read_settings

app = typer.Typer(help="Make, list and revoke the keys that callers use.", no_args_is_help=True)

Org = Annotated[str, typer.Option("--org", help="The organisation that the key belongs to.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
T = TypeVar("T")


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="What the key is for, in your words.")],
    org: Org = "default",
    days: Annotated[int | None, typer.Option("--days", min=1, help="Days until it expires; never if left out.")] = None,
    as_json: Json = False,
) -> None:
    """Make a key and show it, this once."""
    token, key = _with_store(lambda store: create_key(store, org, name, days))
    row = {**_row(key), "key": token}
    if as_json:
        show([row], ["key"], as_json=True)
        return
    typer.echo(token)
    typer.echo(f"Keep it now: only its hash is stored. Its id is {key.id}.", err=True)


@app.command("list")
def list_keys(org: Org = "default", as_json: Json = False) -> None:
    """List an organisation's keys; a key itself is never shown again."""
    keys = _with_store(lambda store: store.keys(org))
    show([_row(key) for key in keys], ["id", "name", "hint", "created", "expires", "revoked"], as_json=as_json)


@app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(help="The id that `headrace keys list` shows.")], org: Org = "default"
) -> None:
    """Revoke a key; gateways that know it refuse it within a minute."""

    async def work(store: Store) -> None:
        for key in await store.keys(org):
            if key.id == key_id:
                await store.save_key(replace(key, revoked_ms=_now_ms()))
                return
        raise Refusal(f"{org} has no key {key_id}. See: headrace keys list --org {org}")

    _with_store(work)
    typer.echo(f"{key_id} is revoked.")


async def create_key(store: Store, org: str, name: str, days: int | None = None) -> tuple[str, Key]:
    """Make a key, and its organisation if there is none of that id yet; returns the token and what is stored of it."""
    now = _now_ms()
    if await store.organisation(org) is None:
        await store.save_organisation(Organisation(id=org, name=org, created_ms=now))
    token = make_key(secrets.token_bytes(ENTROPY_BYTES))
    key = Key(
        digest=digest(token),
        id=f"key_{secrets.token_hex(8)}",
        org=org,
        name=name,
        hint=hint(token),
        created_ms=now,
        expires_ms=None if days is None else now + days * 86_400_000,
    )
    await store.save_key(key)
    return token, key


def _with_store(work: Callable[[Store], Awaitable[T]]) -> T:
    async def run() -> T:
        store = open_store(read_settings(environment()))
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(run())


def _row(key: Key) -> dict[str, object]:
    return {
        "id": key.id,
        "org": key.org,
        "name": key.name,
        "hint": f"…{key.hint}",
        "created": _date(key.created_ms),
        "expires": _date(key.expires_ms),
        "revoked": _date(key.revoked_ms),
    }


def _date(milliseconds: int | None) -> str | None:
    return (
        None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="seconds")
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
