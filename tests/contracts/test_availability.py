"""What both stores promise when they cannot be reached, are given up on, or are closed."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from core.decision import Policy
from core.errors import StoreUnavailable
from core.kept import Claim, Held, Phase
from core.ports import HostNews, Store
from core.reservation import Amount
from core.tenant import OwnKey, Plan
from tests.contracts.backends import Backend
from tests.contracts.limit_values import KEY, asking
from tests.contracts.values import NOW_MS, TOOL_TURN, final, key, open_record, organisation

RECORD = open_record(1)
CLAIM = Claim("acme", "key_1", "name", "body", "req-1", NOW_MS + 5, NOW_MS + 9)

USES: dict[str, Callable[[Store], Awaitable[object]]] = {
    "open": lambda store: store.open(RECORD),
    "renew": lambda store: store.renew("acme", RECORD.request_id, NOW_MS),
    "mark": lambda store: store.mark(RECORD),
    "settle": lambda store: store.settle(final(RECORD)),
    "record": lambda store: store.record("acme", RECORD.request_id),
    "any_record": lambda store: store.any_record(RECORD.request_id),
    "records": lambda store: store.records("acme", 5),
    "overdue": lambda store: store.overdue(NOW_MS, 5),
    "key": lambda store: store.key(key(1).digest),
    "keys": lambda store: store.keys("acme"),
    "save_key": lambda store: store.save_key(key(1)),
    "organisation": lambda store: store.organisation("acme"),
    "organisations": lambda store: store.organisations(),
    "save_organisation": lambda store: store.save_organisation(organisation("acme")),
    "workspace": lambda store: store.workspace("acme"),
    "delete_key": lambda store: store.delete_key(key(9)),
    "touch_key": lambda store: store.touch_key(key(9).digest, NOW_MS),
    "pay_in": lambda store: store.pay_in("acme", "first", 5, NOW_MS),
    "save_policy": lambda store: store.save_policy("acme", Policy()),
    "delete_policy": lambda store: store.delete_policy("acme", "cheap"),
    "save_own_key": lambda store: store.save_own_key(OwnKey("acme", "lab", "sealed", "last", NOW_MS)),
    "delete_own_key": lambda store: store.delete_own_key("acme", "lab"),
    "save_catalog": lambda store: store.save_catalog("acme", ""),
    "plans": lambda store: store.plans(),
    "save_plan": lambda store: store.save_plan(Plan("big", "Big")),
    "delete_plan": lambda store: store.delete_plan("big"),
    "delete_organisation": lambda store: store.delete_organisation("other"),
    "remember": lambda store: store.remember("acme", ["call_1"], TOOL_TURN, NOW_MS),
    "recall": lambda store: store.recall("acme", ["call_1"], NOW_MS),
    "begin": lambda store: store.begin(CLAIM, NOW_MS),
    "finish": lambda store: store.finish(CLAIM, "sealed"),
    "fetch": lambda store: store.fetch(CLAIM, Held("body", "req-2", Phase.KEPT, pieces=2)),
    "drop": lambda store: store.drop(CLAIM),
    "rate": lambda store: store.rate("acme", RECORD.request_id, "a/x", "code", 900, NOW_MS),
    "opinions": lambda store: store.opinions("acme"),
    "tell_health": lambda store: store.tell_health({"a/x": HostNews(NOW_MS + 1, 1)}, NOW_MS),
    "told_health": lambda store: store.told_health(NOW_MS),
    "totals": lambda store: store.totals("acme", range(9), frozenset()),
    "complete_until": lambda store: store.complete_until("acme", NOW_MS),
    "catch_up": lambda store: store.catch_up(NOW_MS, 5),
    "reserve": lambda store: store.reserve(asking(1), {}),
    "settle_reservation": lambda store: store.settle_reservation(asking(1), Amount(), NOW_MS),
    "standings": lambda store: store.standings("acme", [KEY]),
    "ping": lambda store: store.ping(),
}


def test_every_method_is_used_here() -> None:
    methods = {name for name in dir(Store) if not name.startswith("_")}
    assert methods - {"close"} == set(USES)


async def test_a_store_that_is_there_answers_a_ping(store: Store) -> None:
    await store.ping()


async def test_what_cannot_be_reached_is_unavailable_in_every_method(backend: Backend) -> None:
    store = backend.away()
    for use in USES.values():
        with pytest.raises(StoreUnavailable) as caught:
            await use(store)
        assert caught.value.status == 503
        assert "cannot" in caught.value.detail
        assert "cannot reach its records" in caught.value.message
    await store.close()


async def test_a_closed_store_is_unavailable_in_every_method(backend: Backend) -> None:
    store = backend.store()
    await store.ping()
    await store.close()
    for use in USES.values():
        with pytest.raises(StoreUnavailable) as caught:
            await use(store)
        assert "closed" in caught.value.detail


async def test_closing_twice_or_unused_does_nothing(backend: Backend) -> None:
    unused = backend.store()
    await unused.close()
    await unused.close()
    used = backend.store()
    await used.open(RECORD)
    await asyncio.gather(used.close(), used.close())
    await used.close()


async def test_closing_finishes_what_is_under_way(backend: Backend) -> None:
    store = backend.store()
    made = [open_record(number) for number in range(40)]
    writes = [asyncio.ensure_future(store.open(record)) for record in made]
    await asyncio.sleep(0)
    await store.close()
    assert await asyncio.gather(*writes) == [None] * len(made)
    again = backend.store()
    assert await again.records("acme", 100) == made[::-1]
    await again.close()


WRITES = ("open", "renew", "settle", "save_key", "save_organisation", "remember", "rate", "tell_health")
GIVEN_UP = [(use, turns) for use in USES for turns in (range(3) if use in WRITES else (1,))]


@pytest.mark.parametrize(("use", "turns"), GIVEN_UP)
async def test_a_task_that_gives_up_leaves_things_whole(backend: Backend, use: str, turns: int) -> None:
    store = backend.store()
    await store.open(RECORD)
    task = asyncio.ensure_future(USES[use](store))
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    await store.close()
    again = backend.store()
    started = turns > 0
    record = await again.record("acme", RECORD.request_id)
    assert record == (final(RECORD) if use == "settle" and started else RECORD)
    assert await again.settle(final(RECORD)) is not (use == "settle" and started)
    assert await again.keys("acme") == ([key(1)] if use == "save_key" and started else [])
    organisations = [organisation("acme")] if use == "save_organisation" and started else []
    assert await again.organisations() == organisations
    turn = {"call_1": TOOL_TURN} if use == "remember" and started else {}
    assert await again.recall("acme", ["call_1"], NOW_MS) == turn
    await again.close()


async def test_what_one_store_wrote_another_reads(backend: Backend) -> None:
    first, second = backend.store(), backend.store()
    await first.open(RECORD)
    assert await second.settle(final(RECORD)) is True
    assert await first.record("acme", RECORD.request_id) == final(RECORD)
    await first.close()
    await second.close()


def test_one_store_serves_several_event_loops(backend: Backend) -> None:
    store = backend.store()
    asyncio.run(store.open(RECORD))
    assert asyncio.run(store.record("acme", RECORD.request_id)) == RECORD
    asyncio.run(store.close())
