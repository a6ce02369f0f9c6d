"""What both stores promise about records."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from core.ports import Store
from core.record import Record
from tests.contracts.backends import Backend
from tests.contracts.values import LEASE_MS, NOW_MS, final, open_record, records, request_id

# The store is kept between examples, which differ in their request ids.
kept_store = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


async def test_a_record_is_open_until_it_is_settled(store: Store) -> None:
    record = open_record(1)
    await store.open(record)
    assert await store.record("acme", record.request_id) == record
    assert await store.settle(final(record)) is True
    assert await store.record("acme", record.request_id) == final(record)


async def test_opening_twice_keeps_the_first(store: Store) -> None:
    record = open_record(1)
    await store.open(record)
    await store.open(replace(record, requested_model="other"))
    assert await store.record("acme", record.request_id) == record


async def test_the_first_settle_wins(store: Store) -> None:
    record = open_record(1)
    await store.open(record)
    assert await store.settle(final(record, total=12)) is True
    assert await store.settle(final(record, total=99)) is False
    assert await store.settle(final(record, total=12)) is False
    assert await store.record("acme", record.request_id) == final(record, total=12)


async def test_settling_works_without_opening(store: Store) -> None:
    record = open_record(1)
    assert await store.settle(final(record)) is True
    assert await store.settle(final(record)) is False
    assert await store.record("acme", record.request_id) == final(record)


async def test_an_open_that_arrives_after_the_settle_changes_nothing(store: Store) -> None:
    record = open_record(1)
    await store.settle(final(record))
    await store.open(record)
    assert await store.record("acme", record.request_id) == final(record)
    assert await store.overdue(record.lease_until_ms + 1, 10) == []


async def test_a_lease_is_extended_and_never_cut_short(store: Store) -> None:
    record = open_record(1)
    await store.open(record)
    later = record.lease_until_ms + 5_000
    await store.renew("acme", record.request_id, later)
    assert await store.record("acme", record.request_id) == replace(record, lease_until_ms=later)
    await store.renew("acme", record.request_id, later - 1)
    assert await store.record("acme", record.request_id) == replace(record, lease_until_ms=later)


async def test_a_renewed_record_is_settled_as_it_is_given(store: Store) -> None:
    record = open_record(1)
    await store.open(record)
    await store.renew("acme", record.request_id, record.lease_until_ms + 5_000)
    assert await store.settle(final(record)) is True
    assert await store.record("acme", record.request_id) == final(record)


async def test_what_is_settled_or_not_there_has_no_lease(store: Store) -> None:
    record = open_record(1)
    await store.settle(final(record))
    await store.renew("acme", record.request_id, record.lease_until_ms + 5_000)
    await store.renew("acme", request_id(2), NOW_MS)
    assert await store.record("acme", record.request_id) == final(record)
    assert await store.record("acme", request_id(2)) is None


async def test_a_record_belongs_to_its_organisation(store: Store) -> None:
    record = open_record(1, org="acme")
    await store.open(record)
    await store.renew("other", record.request_id, record.lease_until_ms + 1)
    assert await store.record("other", record.request_id) is None
    assert await store.records("other", 10) == []
    assert await store.record("acme", record.request_id) == record


async def test_two_organisations_never_share_a_record(store: Store) -> None:
    ours, theirs = open_record(1, org="acme"), open_record(1, org="other")
    await store.open(ours)
    assert await store.settle(final(theirs)) is True
    assert await store.record("acme", ours.request_id) == ours
    assert await store.record("other", ours.request_id) == final(theirs)


@pytest.mark.parametrize("wanted", ["", "x" * 10_000, "req-\0", "é" * 400, "' OR 1=1 --"])
async def test_any_text_may_be_asked_for(store: Store, wanted: str) -> None:
    assert await store.record("acme", wanted) is None


async def test_records_come_newest_first_and_no_more_than_asked_for(store: Store) -> None:
    made = [open_record(number) for number in range(30)]
    for record in made[::2] + made[1::2]:
        await store.open(record)
    await store.open(open_record(99, org="other"))
    newest = made[::-1]
    assert await store.records("acme", 100) == newest
    assert await store.records("acme", 7) == newest[:7]
    assert await store.records("acme", 0) == []
    assert await store.records("acme", -1) == []


async def test_records_go_on_before_any_id(store: Store) -> None:
    made = [open_record(number) for number in range(30)]
    for record in (*made, open_record(31, org="other")):
        await store.open(record)
    newest = made[::-1]
    for place in (0, 7, 28):
        assert await store.records("acme", 100, newest[place].request_id) == newest[place + 1 :]
        assert await store.records("acme", 5, newest[place].request_id) == newest[place + 1 : place + 6]
    assert await store.records("acme", 5, newest[-1].request_id) == []
    assert await store.records("acme", 2, request_id(99)) == newest[:2]


async def test_many_records_are_listed(store: Store) -> None:
    made = [open_record(number) for number in range(230)]
    await asyncio.gather(*(store.open(record) for record in made))
    assert await store.records("acme", 220) == made[:9:-1]


async def test_overdue_are_those_open_whose_lease_has_passed(store: Store) -> None:
    early, late, over, done = (open_record(number) for number in range(4))
    moment = NOW_MS + 10 * LEASE_MS
    early = replace(early, lease_until_ms=moment - 2)
    late = replace(late, lease_until_ms=moment)
    over = replace(over, lease_until_ms=moment - 3, org="other")
    done = replace(done, lease_until_ms=moment - 4)
    renewed = open_record(5, lease_until_ms=moment - 5)
    for record in (early, late, over, done, renewed):
        await store.open(record)
    await store.settle(final(done))
    await store.renew("acme", renewed.request_id, moment + 1)
    assert await store.overdue(moment, 10) == [over, early]
    assert await store.overdue(moment, 1) == [over]
    assert await store.overdue(moment, 0) == []
    assert await store.overdue(moment - 3, 10) == []
    assert await store.overdue(moment + 1, 10) == [over, early, late]


async def test_overdue_records_with_one_lease_come_by_id(store: Store) -> None:
    made = [open_record(number, lease_until_ms=NOW_MS) for number in range(20)]
    for record in made[::-1]:
        await store.open(record)
    assert await store.overdue(NOW_MS + 1, 5) == made[:5]


async def test_one_of_many_settles_it(store: Store, backend: Backend) -> None:
    other = backend.store()
    record = open_record(1)
    await store.open(record)
    tries = [(store if number % 2 else other).settle(final(record, total=number)) for number in range(24)]
    won = await asyncio.gather(*tries)
    await other.close()
    assert won.count(True) == 1
    assert await store.record("acme", record.request_id) == final(record, total=won.index(True))


async def test_one_of_many_identical_settles_is_the_one(store: Store) -> None:
    record = open_record(1)
    won = await asyncio.gather(*(store.settle(final(record)) for _ in range(16)))
    assert won.count(True) == 1


async def test_open_and_settle_may_race(store: Store) -> None:
    made = [open_record(number) for number in range(32)]
    won = await asyncio.gather(*(work for record in made for work in (store.settle(final(record)), store.open(record))))
    assert won.count(True) == len(made)
    assert await store.records("acme", 100) == [final(record) for record in made[::-1]]


async def test_many_records_are_opened_at_once(store: Store) -> None:
    made = [open_record(number) for number in range(64)]
    await asyncio.gather(*(store.open(record) for record in made))
    assert await store.records("acme", 100) == made[::-1]


@kept_store
@given(record=records)
async def test_every_member_of_a_record_comes_back(store: Store, record: Record) -> None:
    if record.is_settled:
        assert await store.settle(record) is True
    else:
        await store.open(record)
    assert await store.record(record.org, record.request_id) == record


async def test_a_large_decision_comes_back(store: Store) -> None:
    models = [{"model": f"vendor/model-{number}", "score": number / 7} for number in range(5_000)]
    record = open_record(1, decision={"alternatives": models})
    await store.open(record)
    assert await store.record("acme", record.request_id) == record


async def test_open_and_settled_are_not_mixed_up(store: Store) -> None:
    record = open_record(1)
    with pytest.raises(ValueError, match="settled"):
        await store.open(final(record))
    with pytest.raises(ValueError, match="not settled"):
        await store.settle(record)
    assert await store.record("acme", record.request_id) is None


async def test_a_record_that_cannot_be_written_harms_nobody_else(store: Store) -> None:
    fine = [open_record(number) for number in range(8)]
    spoilt = open_record(9, decision={"what": object()})
    results = await asyncio.gather(
        *(store.open(record) for record in [*fine[:4], spoilt, *fine[4:]]), return_exceptions=True
    )
    assert [type(result) for result in results if result is not None] == [TypeError]
    assert await store.records("acme", 100) == fine[::-1]
