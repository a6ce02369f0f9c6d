"""What the operator's commands work with: the store that the settings name, and the same use cases as `/admin/v1`."""

import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeVar

import orjson
import typer

from core.administration.office import Office
from core.ports import Store
from core.surfaces.admin.keys import LATEST_S
from functions.gateway.clock import SystemClock
from functions.gateway.compose import every_offer
from functions.gateway.sealing import make_sealer
from functions.local.catalog.demo import kept_demo
from functions.local.output import Refusal, standard_input
from functions.local.store import with_store
from functions.settings import environment, read_settings

T = TypeVar("T")

Org = Annotated[str, typer.Option("--org", help="The organisation.")]
"""Whose things are meant; `headrace orgs`, which is about organisations themselves, takes their ids as arguments."""

DEFAULT_ORG = "default"
"""The organisation of those who name none."""


def office_of(store: Store) -> Office:
    """The office over a store."""
    settings = read_settings(environment())
    return Office(
        store=store,
        directory=store,
        now_ms=now_ms,
        random_bytes=secrets.token_bytes,
        offers=cache(lambda: every_offer(settings, kept_demo(settings))),
        sealer=make_sealer(settings, SystemClock()),
    )


def in_office(work: Callable[[Office], Awaitable[T]]) -> T:
    """Do something with the office over the store that the settings name.

    Raises:
        SettingsError: The settings are wrong.
        StoreUnavailable: The store cannot be reached.
    """
    return with_store(lambda store: work(office_of(store)))


def now_ms() -> int:
    """Unix time in milliseconds."""
    return time.time_ns() // 1_000_000


def body(members: Mapping[str, Any]) -> bytes:
    """The options that were given as a body of `/admin/v1`, so that both are checked alike."""
    return orjson.dumps({name: value for name, value in members.items() if value is not None})


def text_of(file: str) -> str:
    """The text of a file; of standard input where it is called '-'.

    Raises:
        Refusal: It cannot be read.
    """
    if file == "-":
        return standard_input()
    try:
        return Path(file).read_text("utf-8")
    except OSError as error:
        raise Refusal(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise Refusal(f"{file} is not UTF-8: {error.reason} at {error.start}") from None


def named_in(text: str, member: str) -> str:
    """A name that stands in a JSON object itself.

    Raises:
        Refusal: It is no JSON object, or has no such name.
    """
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Refusal(f"That is not JSON: {error}") from None
    if not isinstance(found, dict) or not isinstance(found.get(member), str):
        raise Refusal(f"It must be a JSON object with {member!r}.")
    return str(found[member])


def show_json(value: object) -> None:
    """Print JSON, set out for reading."""
    print(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


def dollars(micros: int | None) -> str | None:
    """Micro-dollars as people read them."""
    return None if micros is None else f"${micros / 1_000_000:,.2f}"


def day(seconds: int | None) -> str | None:
    """A Unix time as people read it, in UTC."""
    return None if seconds is None else moment(seconds).strftime("%Y-%m-%d %H:%M")


def moment(seconds: int) -> datetime:
    """A Unix time in UTC; what lies after the year 9999, as its end."""
    return datetime.fromtimestamp(min(seconds, LATEST_S), UTC)
