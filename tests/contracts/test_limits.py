"""What both stores promise about limits."""

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.accounts.limits import ending
from core.counters import LINGERS_MS, MICROS, PARALLEL, REQUESTS, TOKENS, day_counter, minute_counter
from core.ports import Store
from core.reservation import (
    ORGANISATION,
    Amount,
    Held,
    Reservation,
    Standing,
    admitted,
    applied,
    settled_amounts,
    settling,
)
from tests.contracts.backends import Backend, SqliteBackend
from tests.contracts.limit_values import (
    BOTH,
    DAY,
    DAY_REQUESTS,
    KEY,
    MINUTE_TOKENS,
    MONTH,
    ROOM,
    asking,
    room_for,
)
from tests.contracts.values import LEASE_MS, NOW_MS, request_id

SUBJECTS = [(KEY,), BOTH]
USED = Amount(micros=3, tokens=7)

# The store is kept between examples, which differ in their organisations.
kept_store = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)


@pytest.mark.parametrize("subjects", SUBJECTS, ids=["one", "two"])
async def test_what_is_held_is_settled_to_what_was_used(store: Store, subjects: tuple[str, ...]) -> None:
    asked = asking(1, *subjects)
    admission = await store.reserve(asked, room_for(1, *subjects))
    assert admission.is_taken
    standings = await store.standings("acme", subjects)
    for subject in subjects:
        assert standings[subject] == Standing(asked.amounts[subject], {asked.request_id: asked.held(subject)})
    assert await store.settle_reservation(asked, USED, NOW_MS) is True
    counters = {DAY: 3, MONTH: 3, DAY_REQUESTS: 1, MINUTE_TOKENS: 7, PARALLEL: 0}
    assert await store.standings("acme", subjects) == dict.fromkeys(subjects, Standing(counters, {}))


async def test_a_subject_that_stands_alone_is_told_where_it_stands(store: Store) -> None:
    taken = await store.reserve(asking(1), room_for(1))
    assert taken.standings == await store.standings("acme", [KEY])
    refused = await store.reserve(asking(2), room_for(1))
    assert not refused.is_taken
    assert refused.standings == taken.standings


async def test_nothing_is_known_of_a_subject_that_never_asked(store: Store) -> None:
    assert await store.standings("acme", [KEY, ORGANISATION]) == {KEY: Standing(), ORGANISATION: Standing()}


@pytest.mark.parametrize("subjects", SUBJECTS, ids=["one", "two"])
async def test_of_64_as_many_pass_as_fit_and_nothing_stays_held(
    store: Store, backend: Backend, subjects: tuple[str, ...]
) -> None:
    other = backend.store()
    asked = [asking(number, *subjects) for number in range(64)]
    bounds = room_for(ROOM, *subjects)
    admissions = await asyncio.gather(
        *((store if number % 2 else other).reserve(each, bounds) for number, each in enumerate(asked))
    )
    taken = [each for each, admission in zip(asked, admissions, strict=True) if admission.is_taken]
    assert len(taken) == ROOM
    await asyncio.gather(*(store.settle_reservation(each, USED, NOW_MS) for each in taken))
    await other.close()
    for standing in (await store.standings("acme", subjects)).values():
        assert standing.held == {}
        assert standing.counters == {
            DAY: ROOM * 3,
            MONTH: ROOM * 3,
            DAY_REQUESTS: ROOM,
            MINUTE_TOKENS: ROOM * 7,
            PARALLEL: 0,
        }


async def test_if_one_subject_has_no_room_nothing_is_taken_of_the_other(store: Store) -> None:
    bounds = {KEY: {DAY: 100}, ORGANISATION: {DAY: 4}}
    refused = await store.reserve(asking(1, *BOTH), bounds)
    assert not refused.is_taken
    assert refused.standings[ORGANISATION] == Standing()
    assert await store.standings("acme", BOTH) == dict.fromkeys(BOTH, Standing())


async def test_one_request_that_is_larger_than_the_limit_is_refused_at_once(store: Store) -> None:
    assert not (await store.reserve(asking(1, micros=11), {KEY: {DAY: 10}})).is_taken
    assert (await store.reserve(asking(2, micros=10), {KEY: {DAY: 10}})).is_taken


async def test_what_does_not_grow_is_not_refused(store: Store) -> None:
    assert (await store.reserve(asking(1, micros=10), {KEY: {DAY: 10}})).is_taken
    free = asking(2, micros=0)
    assert (await store.reserve(free, {KEY: {DAY: 5}})).is_taken


async def test_parallel_requests_are_leases(store: Store) -> None:
    bounds = {KEY: {PARALLEL: 2}}
    first, second, third = (Reservation("acme", request_id(n), NOW_MS, {KEY: {PARALLEL: 1}}) for n in range(3))
    assert (await store.reserve(first, bounds)).is_taken
    assert (await store.reserve(second, bounds)).is_taken
    refused = await store.reserve(third, bounds)
    assert not refused.is_taken
    standing = refused.standings[KEY]
    assert standing is not None
    assert standing.expired(NOW_MS) == [first.request_id, second.request_id]
    await store.settle_reservation(first, USED, NOW_MS)
    assert (await store.reserve(third, bounds)).is_taken


@pytest.mark.parametrize("subjects", SUBJECTS, ids=["one", "two"])
async def test_a_repeat_takes_nothing_more(store: Store, subjects: tuple[str, ...]) -> None:
    bounds = room_for(1, *subjects)
    assert (await store.reserve(asking(1, *subjects), bounds)).is_taken
    before = await store.standings("acme", subjects)
    assert (await store.reserve(asking(1, *subjects), bounds)).is_taken
    assert await store.standings("acme", subjects) == before


@pytest.mark.parametrize("subjects", SUBJECTS, ids=["one", "two"])
async def test_more_is_taken_where_it_fits(store: Store, subjects: tuple[str, ...]) -> None:
    bounds = {subject: {DAY: 12} for subject in subjects}
    asked, more, too_much = (asking(1, *subjects, micros=micros) for micros in (5, 12, 13))
    assert (await store.reserve(asked, bounds)).is_taken
    assert not (await store.reserve(too_much, bounds)).is_taken
    assert (await store.standings("acme", subjects))[KEY].counters[DAY] == 5
    assert (await store.reserve(more, bounds)).is_taken
    assert (await store.standings("acme", subjects))[KEY].counters[DAY] == 12
    # The first amounts are all that a record knows.
    assert await store.settle_reservation(asked, USED, NOW_MS) is True
    for standing in (await store.standings("acme", subjects)).values():
        assert (standing.counters[DAY], standing.held) == (3, {})


async def test_settling_twice_counts_once(store: Store) -> None:
    asked = asking(1, *BOTH)
    await store.reserve(asked, {})
    assert await store.settle_reservation(asked, USED, NOW_MS) is True
    once = await store.standings("acme", BOTH)
    assert await store.settle_reservation(asked, Amount(micros=9), NOW_MS) is False
    assert await store.standings("acme", BOTH) == once


async def test_many_settle_at_once_and_one_counts(store: Store, backend: Backend) -> None:
    other = backend.store()
    asked = asking(1, *BOTH)
    await store.reserve(asked, {})
    await asyncio.gather(
        *((store if number % 2 else other).settle_reservation(asked, USED, NOW_MS) for number in range(16))
    )
    await other.close()
    for standing in (await store.standings("acme", BOTH)).values():
        assert (standing.counters[DAY], standing.counters[DAY_REQUESTS], standing.held) == (3, 1, {})


async def test_settling_what_was_never_taken_changes_nothing(store: Store) -> None:
    assert await store.settle_reservation(asking(1), USED, NOW_MS) is False
    assert await store.standings("acme", [KEY]) == {KEY: Standing()}


async def test_a_settling_that_is_not_final_may_be_corrected(store: Store) -> None:
    asked = asking(1)
    await store.reserve(asked, {})
    assert await store.settle_reservation(asked, Amount(), NOW_MS, keep_until_ms=NOW_MS + 9) is True
    (standing,) = (await store.standings("acme", [KEY])).values()
    kept = settled_amounts(asked.amounts[KEY], Amount())
    assert standing == Standing(kept, {asked.request_id: Held(kept, NOW_MS + 9)})
    assert await store.settle_reservation(asked, USED, NOW_MS) is True
    (standing,) = (await store.standings("acme", [KEY])).values()
    assert (standing.counters[DAY], standing.counters[MINUTE_TOKENS], standing.held) == (3, 7, {})


async def test_midnight_between_taking_and_settling_needs_no_care(store: Store) -> None:
    midnight = 1_790_035_200_000
    today, tomorrow = (day_counter(MICROS, midnight + offset) for offset in (-1, 0))
    assert today != tomorrow

    def of(number: int, counter: str) -> Reservation:
        return Reservation("acme", request_id(number), midnight + LEASE_MS, {KEY: {counter: 5}})

    bounds = {KEY: {today: 50, tomorrow: 50}}
    late = [of(number, today) for number in range(32)]
    early = [of(number, tomorrow) for number in range(32, 64)]
    admissions = await asyncio.gather(*(store.reserve(each, bounds) for each in late + early))
    taken = [each for each, admission in zip(late + early, admissions, strict=True) if admission.is_taken]
    assert [each in late for each in taken].count(True) == [each in early for each in taken].count(True) == ROOM
    await asyncio.gather(*(store.settle_reservation(each, USED, midnight + 1) for each in taken))
    (standing,) = (await store.standings("acme", [KEY])).values()
    assert standing == Standing({today: 30, tomorrow: 30}, {})


async def test_counters_that_nobody_asks_for_any_more_go_with_a_settling(store: Store) -> None:
    minute = minute_counter(REQUESTS, NOW_MS)
    first = Reservation("acme", request_id(1), NOW_MS, {KEY: {minute: 1}})
    slow = Reservation("acme", request_id(2), NOW_MS, {KEY: {minute: 1, MONTH: 5}})
    for asked in (first, slow):
        await store.reserve(asked, {})
    await store.settle_reservation(first, USED, NOW_MS)
    later = NOW_MS + 2 * LINGERS_MS
    now = minute_counter(REQUESTS, later)
    last = Reservation("acme", request_id(3), later, {KEY: {now: 1}})
    (standing,) = (await store.reserve(last, {})).standings.values()
    assert standing is not None
    assert standing.lapsed(later) == [minute]
    await store.settle_reservation(last, USED, later, lapsed={KEY: standing.lapsed(later)})
    (standing,) = (await store.standings("acme", [KEY])).values()
    assert standing.counters == {now: 1, MONTH: 5}
    # It does not come back with the last one that held something of it.
    await store.settle_reservation(slow, USED, later)
    assert await store.standings("acme", [KEY]) == {KEY: Standing({now: 1, MONTH: 3}, {})}


async def test_organisations_and_subjects_are_apart(store: Store) -> None:
    mine, theirs = asking(1, *BOTH), asking(1, *BOTH, org="other")
    await store.reserve(mine, {})
    assert await store.standings("other", BOTH) == dict.fromkeys(BOTH, Standing())
    assert await store.settle_reservation(theirs, USED, NOW_MS) is False
    another = asking(2, "key:key_2")
    await store.reserve(another, {})
    assert (await store.standings("acme", [KEY]))[KEY].held.keys() == {mine.request_id}


async def test_a_task_that_gives_up_on_reserving_leaves_what_can_be_given_back(backend: Backend) -> None:
    store = backend.store()
    asked = asking(1, *BOTH)
    task = asyncio.ensure_future(store.reserve(asked, {}))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    await store.close()
    again = backend.store()
    assert await again.settle_reservation(asked, Amount(requests=0), NOW_MS) is True
    for standing in (await again.standings("acme", BOTH)).values():
        assert set(standing.counters.values()) == {0}
        assert standing.held == {}
    await again.close()


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX's")
async def test_what_a_killed_process_held_is_there_until_somebody_ends_it(sqlite: SqliteBackend) -> None:
    holder = Path(__file__).with_name("limit_holder.py")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, holder, sqlite.path),
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(holder.parents[2])},
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"held\n"
    process.kill()
    await process.wait()
    store = sqlite.store()
    bounds = {KEY: {PARALLEL: 1}}
    refused = await store.reserve(asking(2), bounds)
    standing = refused.standings[KEY]
    assert (refused.is_taken, standing is not None) == (False, True)
    assert standing is not None
    now_ms = NOW_MS + LEASE_MS
    (lost,) = standing.expired(now_ms)
    end = ending(standing.held[lost], await store.record("acme", lost), now_ms)
    assert end is not None
    hold = Reservation("acme", lost, now_ms, {KEY: standing.held[lost].amounts})
    assert await store.settle_reservation(hold, end[0], now_ms, keep_until_ms=end[1])
    assert (await store.reserve(asking(2), bounds)).is_taken
    await store.close()


numbers = st.integers(min_value=0, max_value=8)
amounts = st.fixed_dictionaries(
    {},
    optional={
        DAY: numbers,
        day_counter(REQUESTS, NOW_MS): st.just(1),
        minute_counter(TOKENS, NOW_MS): numbers,
        PARALLEL: st.just(1),
    },
).filter(bool)
steps = st.one_of(
    st.tuples(st.just("reserve"), st.integers(0, 3), st.sampled_from([(KEY,), (ORGANISATION,), BOTH]), amounts),
    st.tuples(
        st.just("settle"), st.integers(0, 3), st.just(BOTH), st.tuples(numbers, numbers, st.sampled_from([0, 9]))
    ),
)
_orgs = iter(range(10**9))


@kept_store
@given(
    done=st.lists(steps, max_size=12),
    bounds=st.fixed_dictionaries(
        {KEY: st.dictionaries(st.sampled_from([DAY, PARALLEL, DAY_REQUESTS]), numbers), ORGANISATION: st.just({DAY: 9})}
    ),
)
async def test_stores_do_what_the_pure_functions_say(
    store: Store, done: list[Any], bounds: Mapping[str, Mapping[str, int]]
) -> None:
    org = f"org-{next(_orgs)}"
    model: dict[str, Standing] = dict.fromkeys(BOTH, Standing())
    for kind, number, subjects, what in done:
        name = request_id(number)
        if kind == "reserve":
            held = {subject: model[subject].held.get(name, Held({}, 0)).amounts for subject in subjects}
            # A request only ever asks for more than it holds.
            wanted = {
                subject: {c: max(what.get(c, 0), held[subject].get(c, 0)) for c in {*what, *held[subject]}}
                for subject in subjects
            }
            asked = Reservation(org, name, NOW_MS + number, wanted)
            expected = admitted({subject: model[subject] for subject in subjects}, asked, bounds)
            assert (await store.reserve(asked, bounds)).is_taken is (expected is not None)
            model |= expected or {}
        else:
            micros, tokens, keep = what
            used = Amount(micros, tokens)
            asked = Reservation(
                org, name, NOW_MS, {s: m.held[name].amounts for s, m in model.items() if name in m.held}
            )
            settled = await store.settle_reservation(asked, used, NOW_MS, keep_until_ms=keep)
            assert settled is bool(asked.amounts)
            for subject in asked.amounts:
                change = settling(model[subject].held[name], used, NOW_MS, keep_until_ms=keep)
                model[subject] = applied(model[subject], name, change)
    found = await store.standings(org, BOTH)
    assert {subject: _seen(standing) for subject, standing in found.items()} == {
        subject: _seen(standing) for subject, standing in model.items()
    }


def _seen(standing: Standing) -> Standing:
    """Without counters at nothing: they may be there or not."""
    return replace(standing, counters={name: value for name, value in standing.counters.items() if value})
