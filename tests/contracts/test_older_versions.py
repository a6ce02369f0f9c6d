"""What an earlier version wrote is read, and settled, by this one. The files in `kept/` are never edited."""

import sqlite3
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import orjson

from core.chat import Usage
from core.money import Charge, Cost
from core.ports import ToolTurn
from core.record import AttemptRow, Record
from core.tenant import Key, Organisation
from core.totals import By, Counts, counted
from tests.contracts.backends import Backend, SqliteBackend
from tests.contracts.values import TOOL_TURN, final

FILES = Path(__file__).parent / "kept" / "v1"
CREATED_MS = 1_790_000_000_000
LATER_MS = CREATED_MS + 60_011

DECISION: dict[str, Any] = {"object": "routing", "pick": "small", "task_confidence": 0.75}
LEAST = Record(
    org="acme",
    request_id="req-0000000000000000000000000000000c",
    key_id="key_1",
    created_ms=CREATED_MS + 10,
    lease_until_ms=CREATED_MS + 60_010,
    requested_model="auto",
    surface="routing",
    stream=True,
)
OPEN = replace(
    LEAST,
    request_id="req-0000000000000000000000000000000a",
    decision=DECISION,
)
EXTRA: dict[str, Any] = {"accepted_prediction_tokens": 2}
USAGE = Usage(
    input_tokens=10,
    cached_tokens=4,
    cache_write_tokens=1,
    output_tokens=7,
    reasoning_tokens=3,
    service_tier="default",
    extra=EXTRA,
)
FAILED = AttemptRow(
    model="small",
    host="vendor/small-1",
    outcome="rate_limited",
    ms=20,
    upstream_status=429,
    upstream_code="slow_down",
)
SERVED = AttemptRow(
    model="small",
    host="vendor/small-2",
    outcome="served",
    ms=220,
    usage=USAGE,
    cost=Cost(Fraction(10_000_000), Fraction(7, 3)),
    charged=True,
)
SETTLED = replace(
    LEAST,
    request_id="req-0000000000000000000000000000000b",
    model="small",
    attempts=(FAILED, SERVED),
    outcome="served",
    usage=USAGE,
    charge=Charge(total=12, input=10, output=2),
    settled_ms=CREATED_MS + 260,
    latency_ms=250,
    ttft_ms=90,
    finish_reason="stop",
)


def kept(name: str) -> dict[str, Any]:
    item: dict[str, Any] = orjson.loads((FILES / f"{name}.json").read_bytes())
    return item


async def test_records_of_version_1_are_read(backend: Backend) -> None:
    for name in ("record_open", "record_settled", "record_least"):
        backend.plant_record(kept(name))
    store = backend.store()
    assert await store.record("acme", OPEN.request_id) == OPEN
    assert await store.records("acme", 10) == [LEAST, SETTLED, OPEN]
    assert await store.overdue(LATER_MS, 10) == [OPEN, LEAST]
    await store.close()


async def test_records_of_version_1_are_renewed_and_settled_once(backend: Backend) -> None:
    for name in ("record_open", "record_settled"):
        backend.plant_record(kept(name))
    store = backend.store()
    await store.renew("acme", OPEN.request_id, LATER_MS)
    assert await store.overdue(LATER_MS, 10) == []
    assert await store.settle(final(OPEN)) is True
    assert await store.settle(final(OPEN)) is False
    assert await store.settle(replace(SETTLED, outcome="swept")) is False
    assert await store.records("acme", 10) == [SETTLED, final(OPEN)]
    await store.close()


async def test_a_newer_version_is_read_as_far_as_it_is_known(backend: Backend) -> None:
    backend.plant_record(kept("record_newer"))
    store = backend.store()
    found = await store.record("acme", "req-0000000000000000000000000000000d")
    attempt = AttemptRow(model="small", host="vendor/small-1", outcome="served", ms=5)
    number = "req-0000000000000000000000000000000d"
    assert found == replace(LEAST, request_id=number, version=2, attempts=(attempt,))
    await store.close()


async def test_keys_and_organisations_of_version_1_are_read(backend: Backend) -> None:
    backend.plant_key(kept("key"))
    backend.plant_key(kept("key_least"))
    backend.plant_organisation(kept("organisation"))
    backend.plant_organisation(kept("organisation_least"))
    store = backend.store()
    full = Key(
        digest=kept("key")["digest"],
        id="key_1",
        org="acme",
        name="laptop",
        hint="x9Qz",
        created_ms=CREATED_MS,
        expires_ms=1_800_000_000_000,
        revoked_ms=1_795_000_000_000,
        policies=("default", "cheap"),
        models=("small",),
    )
    digest = kept("key_least")["digest"]
    smallest = Key(digest, "key_2", "acme", "server", "a1B2", CREATED_MS + 1)
    assert await store.key(full.digest) == full
    assert await store.keys("acme") == [full, smallest]
    assert await store.organisations() == [
        Organisation("acme", "Acme", CREATED_MS, markup=Fraction(1, 20), discount=Fraction(1, 3)),
        Organisation("beta", "Beta", CREATED_MS),
    ]
    await store.close()


async def test_tool_turns_of_version_1_are_read(backend: Backend) -> None:
    backend.plant_tool_turn("acme", "call_1", LATER_MS, kept("tool_turn"))
    backend.plant_tool_turn("acme", "call_2", LATER_MS, kept("tool_turn_least"))
    store = backend.store()
    found = await store.recall("acme", ["call_1", "call_2"], CREATED_MS)
    assert found == {"call_1": TOOL_TURN, "call_2": ToolTurn("large", "vendor/large-1")}
    assert await store.recall("acme", ["call_1", "call_2"], LATER_MS) == {}
    await store.close()


async def test_what_was_settled_before_there_were_totals_is_counted(sqlite: SqliteBackend) -> None:
    """Only on SQLite: on DynamoDB nothing was released without them."""
    for name in ("record_open", "record_settled"):
        sqlite.plant_record(kept(name))
    failed = {**kept("record_least"), "request_id": "req-f", "settled_ms": CREATED_MS + 20, "outcome": "failed"}
    sqlite.plant_record({**failed, "decision": {"pick": "large", "task": "code"}})
    damaged = sqlite3.connect(sqlite.path)
    with damaged:
        damaged.execute("INSERT INTO record VALUES (99, 'acme', 'req-d', 0, 1, 0, '{')")
    damaged.close()
    store = sqlite.store()
    found = await store.totals("acme", range(2**40), frozenset(By))
    open_too = await store.record("acme", OPEN.request_id)
    assert open_too == OPEN
    assert await store.settle(final(OPEN)) is True
    after = await store.totals("acme", range(2**40), frozenset())
    await store.close()
    settled, broken = sorted(found, key=lambda total: total.bucket.task)
    assert settled == counted(SETTLED)
    assert broken.bucket == replace(settled.bucket, model="large", task="code")
    assert broken.counts == Counts(requests=1, errors=1, unpriced=1)
    assert [total.counts for total in after] == [settled.counts + broken.counts + counted(final(OPEN)).counts]
