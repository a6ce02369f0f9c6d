"""What both stores promise about totals: each settled record is in them once, as what it was settled for in the end."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from core.money import Charge
from core.ports import Store
from core.record import LOST, Record
from core.totals import MOST, NOTHING, OPENING_MS, QUARTER_MS, Bucket, By, Counts, Total, counted, summed
from tests.contracts.backends import Backend
from tests.contracts.values import LEASE_MS, NOW_MS, final, open_record

EVER = range(0, 2**40)
ALL = frozenset(By)
QUARTER = NOW_MS // QUARTER_MS


def in_order(totals: Any) -> list[Total]:
    return sorted(totals, key=lambda total: (total.bucket.quarter, total.bucket.key_id, total.bucket.model))


def added_up(records: list[Record]) -> Counts:
    return sum((counted(record).counts for record in records), NOTHING)


async def everything(store: Store, org: str = "acme") -> Counts:
    found = [total.counts for total in await store.totals(org, EVER, frozenset())]
    assert len(found) <= 1
    return sum(found, NOTHING)


def lost(record: Record) -> Record:
    given_up = replace(final(record), outcome=LOST, usage=None, attempts=(), charge=Charge(0, 0, 0))
    return replace(given_up, settled_ms=record.lease_until_ms + 1)


async def test_nothing_was_used_where_nothing_was_settled(store: Store, backend: Backend) -> None:
    await store.open(open_record(1))
    await backend.count()
    assert await store.totals("acme", EVER, ALL) == []


async def test_a_settled_record_is_counted_once_where_it_belongs(store: Store, backend: Backend) -> None:
    record = open_record(1, decision={"pick": "other", "task": "code"})
    await store.open(record)
    for _ in range(2):
        await store.settle(final(record))
        await backend.count()
    bucket = Bucket(QUARTER, "key_1", "small", "code")
    counts = Counts(requests=1, input_tokens=10, cached_tokens=4, output_tokens=7, cost_micros=12)
    assert await store.totals("acme", EVER, ALL) == [Total(bucket, counts)]
    assert await store.totals("other", EVER, ALL) == []


async def test_a_record_that_was_never_opened_is_counted_too(store: Store, backend: Backend) -> None:
    await store.settle(final(open_record(1)))
    await store.open(open_record(1))
    await backend.count()
    assert (await everything(store)).requests == 1


async def test_what_nothing_served_is_an_error_of_the_model_ranked_first(store: Store, backend: Backend) -> None:
    record = replace(final(open_record(1)), outcome="failed", model=None, usage=None, charge=None)
    await store.settle(record)
    await backend.count()
    (total,) = await store.totals("acme", EVER, ALL)
    assert (total.bucket.model, total.bucket.task) == ("small", "")
    assert total.counts == Counts(requests=1, errors=1, unpriced=1)


async def test_totals_can_be_told_apart_by_what_is_asked_for(store: Store, backend: Backend) -> None:
    for number in range(8):
        record = open_record(number, key_id=f"key_{number % 2}", created_ms=NOW_MS + number % 3 * QUARTER_MS)
        await store.settle(replace(final(record, total=number), model=f"m{number // 4}"))
    await backend.count()
    by_key = in_order(await store.totals("acme", EVER, frozenset({By.KEY})))
    assert [(total.bucket, total.counts.cost_micros) for total in by_key] == [
        (Bucket(key_id="key_0"), 12),
        (Bucket(key_id="key_1"), 16),
    ]
    by_model = in_order(await store.totals("acme", EVER, frozenset({By.MODEL})))
    assert [(total.bucket.model, total.counts.cost_micros) for total in by_model] == [("m0", 6), ("m1", 22)]
    by_time = in_order(await store.totals("acme", EVER, frozenset({By.TIME})))
    assert [(total.bucket.quarter - QUARTER, total.counts.requests) for total in by_time] == [(0, 3), (1, 3), (2, 2)]
    whole = await store.totals("acme", EVER, ALL)
    assert in_order(summed(whole, {By.MODEL})) == by_model


async def test_totals_are_those_of_the_quarters_asked_for(store: Store, backend: Backend) -> None:
    for number in range(5):
        await store.settle(final(open_record(number, created_ms=NOW_MS + number * QUARTER_MS), total=10**number))
    await backend.count()
    (total,) = await store.totals("acme", range(QUARTER + 1, QUARTER + 4), frozenset())
    assert total.counts.cost_micros == 1_110
    assert await store.totals("acme", range(QUARTER + 5, QUARTER + 9), frozenset()) == []
    assert await store.totals("acme", range(QUARTER, QUARTER), frozenset()) == []


async def test_the_first_settle_is_the_one_that_counts(store: Store, backend: Backend) -> None:
    record = open_record(1)
    tries = [store.settle(final(record, total=number)) for number in range(1, 9)]
    won = await asyncio.gather(*tries)
    await backend.count()
    assert await everything(store) == counted(final(record, total=won.index(True) + 1)).counts


@pytest.mark.parametrize("counts_between", [True, False])
async def test_a_record_that_was_given_up_is_corrected_once(
    store: Store, backend: Backend, counts_between: bool
) -> None:
    record = open_record(1)
    await store.open(record)
    assert await store.settle(lost(record)) is True
    if counts_between:
        await backend.count()
        assert await everything(store) == Counts(requests=1, errors=1)
    assert await store.settle(lost(record)) is False
    assert await store.settle(final(record, total=30)) is True
    assert await store.settle(final(record, total=99)) is False
    assert await store.settle(lost(record)) is False
    await backend.count()
    assert await store.record("acme", record.request_id) == final(record, total=30)
    assert await everything(store) == counted(final(record, total=30)).counts
    assert await store.overdue(NOW_MS + 10 * LEASE_MS, 10) == []


async def test_nobody_gives_up_what_is_settled(store: Store, backend: Backend) -> None:
    record = open_record(1)
    await store.settle(final(record))
    assert await store.settle(lost(record)) is False
    await backend.count()
    assert await everything(store) == counted(final(record)).counts


async def test_one_of_many_late_settles_corrects(store: Store, backend: Backend) -> None:
    record = open_record(1)
    await store.settle(lost(record))
    won = await asyncio.gather(*(store.settle(final(record, total=number)) for number in range(1, 9)))
    assert won.count(True) == 1
    await backend.count()
    assert (await everything(store)).cost_micros == won.index(True) + 1


async def test_a_mark_changes_what_is_open_and_nothing_else(store: Store, backend: Backend) -> None:
    record, attempts = open_record(1), final(open_record(1)).attempts
    await store.mark(replace(record, attempts=attempts))
    assert await store.record("acme", record.request_id) is None
    await store.open(record)
    await store.renew("acme", record.request_id, record.lease_until_ms + 5_000)
    await store.mark(replace(record, attempts=attempts, model="small"))
    marked = replace(record, attempts=attempts, model="small", lease_until_ms=record.lease_until_ms + 5_000)
    assert await store.record("acme", record.request_id) == marked
    await store.settle(final(record))
    await store.mark(record)
    assert await store.record("acme", record.request_id) == final(record)
    await backend.count()
    assert (await everything(store)).requests == 1


async def test_totals_are_complete_up_to_the_oldest_open_request(store: Store, backend: Backend) -> None:
    now_ms = NOW_MS + 10 * LEASE_MS
    records = [open_record(number) for number in range(4)]
    for record in records:
        await store.open(record)
    await store.settle(final(records[0]))
    await backend.count()
    await store.catch_up(now_ms, 10)
    assert await store.complete_until("acme", now_ms) == records[1].created_ms
    for record in records:
        await store.settle(final(record))
    await backend.count()
    await store.catch_up(now_ms, 10)
    assert await store.complete_until("acme", now_ms) == now_ms - OPENING_MS


async def test_what_a_host_makes_up_harms_no_sum(store: Store, backend: Backend) -> None:
    tokens = [2**63 - 1, 0, 5, MOST]
    records = [final(open_record(number)) for number in range(len(tokens))]
    for record, count in zip(records, tokens, strict=True):
        assert record.usage is not None
        usage = replace(record.usage, input_tokens=count, cache_write_tokens=count, cache_write_5m_tokens=count)
        assert await store.settle(replace(record, usage=usage)) is True
    await backend.count()
    sums = await everything(store)
    assert (sums.requests, sums.cost_micros) == (4, 48)
    assert sums.input_tokens == 2 * MOST + 5
    assert sums.cache_write_tokens == 2 * MOST + 10
