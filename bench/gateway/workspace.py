"""What the measured gateways are set up with: a catalog of sixty models, an organisation, a key with limits or not."""

import random
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from core.accounts.keys import ENTROPY_BYTES, digest, hint, make_key
from core.ports import Store
from core.tenant import Key, Limits, Organisation
from functions.gateway.compose import open_store
from functions.gateway.openapi.decision import TASKS
from functions.local.catalog.writer import write_toml
from functions.settings import read_settings

MODELS: Final = 60
ORG: Final = "bench"
ROOMY: Final = Limits(
    day_micros=10**12, month_micros=10**13, day_requests=10**9, minute_requests=10**8, minute_tokens=10**11
)
"""Limits of every kind but on parallel requests; nothing here reaches them."""


def catalog(upstream_port: int) -> str:
    """A catalog file: models of one host, whose prices and scores are drawn, always the same."""
    draw = random.Random(60)
    vendor = {"format": "openai", "base_url": f"http://127.0.0.1:{upstream_port}/v1", "auth": "none"}
    return write_toml({"vendors": {"bench": vendor}, "models": [_model(draw, number) for number in range(MODELS)]})


def _model(draw: random.Random, number: int) -> dict[str, Any]:
    price = draw.randrange(1, 40) / 4
    prices = {"input": price, "output": price * 4, "source": "drawn", "date": "2026-11-30"}
    return {
        "id": f"bench/m{number}",
        "context_tokens": 1_000_000,
        "max_output_tokens": 32_768,
        "abilities": {"tools": True, "json_mode": True},
        "quality": {
            task: {"value": round(draw.random(), 3), "source": "drawn", "date": "2026-11-30"} for task in TASKS
        },
        "hosts": [{"vendor": "bench", "upstream_model": f"m{number}", "prices": prices}],
    }


def settings_in(folder: Path, upstream_port: int, **more: str) -> dict[str, str]:
    """The environment of a gateway that keeps its things in a folder; they are the store's too."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "catalog.toml"
    path.write_text(catalog(upstream_port), "utf-8")
    return {
        "HEADRACE_SQLITE_PATH": str(folder / "headrace.db"),
        "HEADRACE_CATALOG": str(path),
        **more,
    }


async def keys_in(variables: Mapping[str, str]) -> tuple[str, str]:
    """Make an organisation with two keys, the second one with limits."""
    store = open_store(read_settings(variables))
    try:
        await store.save_organisation(Organisation(id=ORG, name=ORG, created_ms=_now_ms()))
        return await _key(store, Limits()), await _key(store, ROOMY)
    finally:
        await store.close()


async def _key(store: Store, limits: Limits) -> str:
    token = make_key(secrets.token_bytes(ENTROPY_BYTES))
    key_id = f"key_{secrets.token_hex(8)}"
    key = Key(
        id=key_id,
        org=ORG,
        name="bench",
        digest=digest(token),
        hint=hint(token),
        created_ms=_now_ms(),
        limits=limits,
    )
    await store.save_key(key)
    return token


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
