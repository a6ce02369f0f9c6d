"""The functions of the schedule and of the stream, on a real table."""

import asyncio

from core.ports import Store
from core.totals import OPENING_MS
from functions.sweeper.handler import SweeperHandler
from tests.contracts.backends import DynamoBackend
from tests.contracts.test_totals import everything
from tests.contracts.values import LEASE_MS, NOW_MS, final, open_record

MOST = 4
NOW_S = (NOW_MS + 100 * LEASE_MS) / 1_000


class Context:
    """What is left of the time at each look."""

    def __init__(self, *left_ms: int) -> None:
        self._left_ms = [*left_ms]

    def get_remaining_time_in_millis(self) -> int:
        return self._left_ms.pop(0)


async def leave_open(store: Store, count: int) -> None:
    await asyncio.gather(*(store.open(open_record(number)) for number in range(count)))


async def test_what_was_left_is_settled_and_counted_in_rounds(dynamodb: DynamoBackend) -> None:
    store = dynamodb.store()
    await leave_open(store, MOST + 3)
    await store.settle(final(open_record(MOST + 5), total=70))
    handler = SweeperHandler(dynamodb.store, lambda: NOW_S, MOST)
    done = await asyncio.to_thread(handler, {}, Context(*[60_000] * 9))
    assert done["settled"] == MOST + 3
    # What was settled a moment ago is the stream's to bring; its lease has passed long since, though.
    assert 1 <= done["counted"] <= MOST + 4
    await asyncio.to_thread(handler, {}, Context(*[60_000] * 9))
    totals = await everything(store)
    assert (totals.requests, totals.errors, totals.cost_micros) == (MOST + 4, MOST + 3, 70)
    assert await store.complete_until("acme", 0) == round(NOW_S * 1_000) - OPENING_MS
    await store.close()


async def test_it_stops_before_its_time_is_up(dynamodb: DynamoBackend) -> None:
    store = dynamodb.store()
    await leave_open(store, MOST + 3)
    handler = SweeperHandler(dynamodb.store, lambda: NOW_S, MOST)
    done = await asyncio.to_thread(handler, {}, Context(14_000))
    assert done["settled"] == MOST
    await store.close()
