"""What is made up for: records that dead processes left open, and records that wait in the log."""

import asyncio
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from core.accounts.limits import used_by
from core.errors import StoreUnavailable
from core.money import Charge
from core.ports import Store
from core.record import LOST, AttemptRow, Record
from core.replay import Applied, replay, tally
from core.reservation import ORGANISATION, Reservation
from core.sweep import keep_swept, sweep
from core.totals import Counts, counted
from tests.contracts.backends import Backend
from tests.contracts.test_totals import added_up, everything, lost
from tests.contracts.values import LEASE_MS, NOW_MS, final, open_record, organisation
from tests.support.away import AwayStore
from tests.support.clock import ManualClock

LATER_MS = NOW_MS + 10 * LEASE_MS
NOTHING_KNOWN = AttemptRow("small", "vendor/small-1", LOST, 40, likely_pico=Fraction(7_000_000_000))


def holding(record: Record, micros: int = 500) -> Record:
    amounts = {ORGANISATION: {"micros:2026-09": micros, "parallel": 1}}
    reservation = Reservation(record.org, record.request_id, record.lease_until_ms, amounts)
    return replace(record, reservation=reservation)


async def held(store: Store) -> Any:
    return (await store.standings("acme", [ORGANISATION]))[ORGANISATION].counters


async def take(store: Store, record: Record) -> None:
    assert record.reservation is not None
    assert (await store.reserve(record.reservation, {})).is_taken
    await store.open(record)


async def applied(store: Store, records: list[Record], **options: bool) -> list[Applied]:
    return [outcome async for _, outcome in replay(store, records, LATER_MS, **options)]


async def test_a_record_whose_lease_has_passed_is_given_up(store: Store, backend: Backend) -> None:
    await store.open(open_record(1))
    assert await sweep(store, open_record(1).lease_until_ms, 10) == []
    (swept,) = await sweep(store, LATER_MS, 10)
    assert swept == await store.record("acme", swept.request_id)
    assert (swept.outcome, swept.settled_ms, swept.charge) == (LOST, LATER_MS, Charge(0, 0, 0))
    assert await sweep(store, LATER_MS, 10) == []
    await backend.count()
    assert await everything(store) == Counts(requests=1, errors=1)


async def test_only_what_hosts_reported_is_charged(store: Store, backend: Backend) -> None:
    await store.save_organisation(organisation("acme", markup=Fraction(1, 2)))
    record = open_record(1)
    reported = final(record).attempts[0]
    await store.open(record)
    await store.mark(replace(record, model="small", attempts=(reported, NOTHING_KNOWN)))
    (swept,) = await sweep(store, LATER_MS, 10)
    assert swept.attempts == (reported, NOTHING_KNOWN)
    assert (swept.usage, swept.charge) == (reported.usage, Charge(total=15, input=15, output=0))
    assert swept.model == "small"
    assert swept.attempts[1].likely_pico == 7_000_000_000


async def test_what_the_host_of_the_attempt_under_way_reported_is_charged_too(store: Store, backend: Backend) -> None:
    record = open_record(1)
    failed = replace(final(record).attempts[0], outcome="no_content")
    under_way = replace(final(record).attempts[0], outcome=LOST, likely_pico=Fraction(9))
    await store.open(record)
    await store.mark(replace(record, attempts=(failed,)))
    await store.renew("acme", record.request_id, record.lease_until_ms + 1)
    await store.mark(replace(record, model="small", attempts=(failed, under_way)))
    (swept,) = await sweep(store, LATER_MS, 10)
    assert swept.attempts == (failed, under_way)
    assert swept.charge == Charge(total=20, input=20, output=0)
    shown: Any = swept.decision
    assert [(row["outcome"], row["cost_micros"]) for row in shown["attempts"]] == [("no_content", 10), (LOST, 10)]
    assert shown["model"] == "small"
    await backend.count()
    assert await everything(store) == counted(swept).counts


async def test_an_attempt_of_unknown_price_makes_the_charge_unknown(store: Store, backend: Backend) -> None:
    record = open_record(1)
    unpriced = replace(final(record).attempts[0], cost=None)
    await store.open(replace(record, attempts=(unpriced,)))
    (swept,) = await sweep(store, LATER_MS, 10)
    assert swept.charge is None
    await backend.count()
    assert (await everything(store)).unpriced == 1


async def test_no_more_are_swept_than_asked_for_and_the_oldest_first(store: Store) -> None:
    records = [open_record(number) for number in range(5)]
    for record in records:
        await store.open(record)
    assert [each.request_id for each in await sweep(store, LATER_MS, 2)] == [each.request_id for each in records[:2]]
    assert len(await sweep(store, LATER_MS, 10)) == 3


async def test_what_is_renewed_or_settled_in_the_meantime_is_let_be(store: Store) -> None:
    renewed, done, gone = (open_record(number) for number in range(3))
    for record in (renewed, done):
        await store.open(record)

    class Meanwhile(AwayStore):
        async def overdue(self, now_ms: int, limit: int) -> list[Record]:
            found = [*await store.overdue(now_ms, limit), gone]
            await store.renew("acme", renewed.request_id, LATER_MS)
            await store.settle(final(done))
            return found

    assert await sweep(Meanwhile(store), LATER_MS, 10) == []
    assert await store.record("acme", done.request_id) == final(done)


async def test_one_that_is_settled_at_the_last_moment_is_let_be(store: Store) -> None:
    record = open_record(1)
    await store.open(record)

    class Meanwhile(AwayStore):
        async def settle(self, given_up: Record) -> bool:
            await store.settle(final(record))
            return await store.settle(given_up)

    assert await sweep(Meanwhile(store), LATER_MS, 10) == []
    assert await store.record("acme", record.request_id) == final(record)


async def test_who_is_first_wins(store: Store, backend: Backend) -> None:
    records = [open_record(number) for number in range(12)]
    for record in records:
        await store.open(record)
    settles = (store.settle(final(record, total=5)) for record in records)
    sweeping = asyncio.ensure_future(sweep(store, LATER_MS, 20))
    won = await asyncio.gather(*settles)
    swept = await sweeping
    assert all(won), "a live process settles its record, or corrects what was given up"
    assert await sweep(store, LATER_MS, 20) == []
    await backend.count()
    assert await everything(store) == added_up([final(record, total=5) for record in records])
    assert len(swept) <= len(records)


async def test_what_a_lost_request_holds_is_given_back_and_can_be_corrected(store: Store) -> None:
    record = holding(open_record(1))
    await take(store, record)
    assert (await held(store))["micros:2026-09"] == 500
    (swept,) = await sweep(store, LATER_MS, 10)
    assert {name: value for name, value in (await held(store)).items() if value} == {}
    late = replace(final(record, total=33), reservation=record.reservation)
    assert await store.settle(late) is True
    assert record.reservation is not None
    assert await store.settle_reservation(record.reservation, used_by(late), LATER_MS) is True
    assert (await held(store))["micros:2026-09"] == 33
    assert swept.reservation == record.reservation


async def test_spilled_records_are_applied_and_a_second_time_changes_nothing(store: Store, backend: Backend) -> None:
    one, two, three, four = (open_record(number) for number in range(4))
    await store.open(two)
    await store.settle(lost(three))
    await store.settle(final(four))
    spilt = [one, final(one), final(one), final(two), final(three), final(four), open_record(9), open_record(9)]
    expected = [
        *(Applied.OPENED, Applied.SETTLED, Applied.KNOWN),
        *(Applied.SETTLED, Applied.SETTLED, Applied.KNOWN, Applied.OPENED, Applied.KNOWN),
    ]
    assert await applied(store, spilt, dry_run=True) == expected
    assert await store.record("acme", one.request_id) is None
    assert await applied(store, spilt) == expected
    assert await applied(store, spilt) == [Applied.KNOWN] * 8
    await backend.count()
    assert await everything(store) == added_up([final(record) for record in (one, two, three, four)])
    assert tally(expected) == {"settled": 3, "opened": 2, "known": 3}


async def test_an_open_record_does_not_come_after_the_settled_one(store: Store) -> None:
    record = open_record(1)
    assert await applied(store, [final(record), record]) == [Applied.SETTLED, Applied.KNOWN]
    assert await store.record("acme", record.request_id) == final(record)


async def test_one_that_is_settled_while_it_is_replayed_is_known(store: Store) -> None:
    record = open_record(1)

    class Meanwhile(AwayStore):
        async def settle(self, late: Record) -> bool:
            await store.settle(final(record, total=99))
            return await store.settle(late)

    outcomes = [each async for each in replay(Meanwhile(store), [final(record)], LATER_MS)]
    assert outcomes == [(final(record), Applied.KNOWN)]


async def test_a_replay_ends_what_the_request_holds(store: Store) -> None:
    record = holding(open_record(1))
    await take(store, record)
    late = replace(final(record, total=21), reservation=record.reservation)
    assert await applied(store, [late]) == [Applied.SETTLED]
    assert (await held(store))["micros:2026-09"] == 21
    assert await applied(store, [late]) == [Applied.KNOWN]
    assert (await held(store))["micros:2026-09"] == 21


@pytest.mark.parametrize("seed", range(2))
async def test_whatever_the_store_did_not_take_a_replay_makes_good(store: Store, backend: Backend, seed: int) -> None:
    dice = random.Random(seed)
    flaky = AwayStore(store)
    spilt: list[Record] = []

    async def write(operation: str, record: Record) -> None:
        flaky.away = {operation} if dice.random() < 0.4 else set()
        try:
            await getattr(flaky, operation)(record)
        except StoreUnavailable:
            spilt.append(record)

    records = [final(open_record(number), total=10**number) for number in range(10)]
    for number, record in enumerate(records):
        await write("open", open_record(number))
        if dice.random() < 0.3:
            await sweep(store, LATER_MS, 100)
        await write("settle", record)
    dice.shuffle(spilt)
    for _ in range(2):
        await applied(store, spilt)
        await backend.count()
        assert [await store.record("acme", record.request_id) for record in records] == records
        sums = await everything(store)
        assert sums == added_up(records)
        assert sums.cost_micros == 1_111_111_111
    assert all(counted(record).counts.requests == 1 for record in records)


async def test_a_server_sweeps_every_minute_and_bears_a_store_that_is_away(store: Store) -> None:
    clock, flaky = ManualClock(), AwayStore(store)
    now_ms = round(clock.now() * 1000)
    early, late = (open_record(number, lease_until_ms=now_ms + number * 90_000 - 1) for number in range(2))
    for record in (early, late):
        await store.open(record)
    sweeping = asyncio.ensure_future(keep_swept(flaky, clock))

    async def swept_by(seconds: float) -> list[bool]:
        if seconds:
            await clock.advance(seconds)
        await clock.sleeper_within(60)
        found = [await store.record("acme", record.request_id) for record in (early, late)]
        return [record is not None and record.is_settled for record in found]

    flaky.away = {"*"}
    assert await swept_by(0) == [False, False]
    flaky.away = set()
    assert await swept_by(60) == [True, False]
    assert await swept_by(30) == [True, False]
    assert await swept_by(30) == [True, True]
    sweeping.cancel()
    await asyncio.wait([sweeping])
