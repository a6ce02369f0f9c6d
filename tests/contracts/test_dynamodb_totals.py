"""Totals behind a stream that repeats itself, comes late and out of order, and a table that fails."""

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from core.errors import StoreUnavailable
from core.record import Record
from core.store.dynamodb import DynamoStore
from core.store.dynamodb_totals import MOST_COUNTED
from core.totals import OPENING_MS, Counts
from functions.rollup.handler import RollupHandler, image_of
from tests.contracts.backends import DynamoBackend
from tests.contracts.faulty_client import FaultyClient
from tests.contracts.test_totals import added_up, everything, lost
from tests.contracts.values import LEASE_MS, NOW_MS, final, open_record
from tests.support.table_stream import to_be_counted

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Change = dict[str, Any]
MUCH_LATER_MS = NOW_MS + 100 * LEASE_MS


def changes_of(dynamodb: DynamoBackend) -> list[Change]:
    return to_be_counted(dynamodb.server, dynamodb.ledger_table)


async def roll_up(store: DynamoStore, changes: Sequence[Change]) -> list[str]:
    """Where the batch failed."""
    answer = await asyncio.to_thread(RollupHandler(lambda: store), {"Records": [*changes]}, None)
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


async def settle_some(store: DynamoStore, count: int, org: str = "acme") -> list[Record]:
    """Records in every state that settles leave: given up and corrected ones among them."""
    made = [final(open_record(number, org=org), total=7 * number) for number in range(count)]
    for number, record in enumerate(made):
        if number % 3 == 0:
            await store.open(open_record(number, org=org))
            await store.settle(lost(open_record(number, org=org)))
        if number % 6 != 0:
            await store.settle(record)
        else:
            made[number] = lost(open_record(number, org=org))
    return made


def conflict(reasons: list[str]) -> ClientError:
    body: Any = {
        "Error": {"Code": "TransactionCanceledException", "Message": "cancelled"},
        "CancellationReasons": [{"Code": reason} for reason in reasons],
    }
    return ClientError(body, "TransactWriteItems")


async def test_totals_are_kept_for_ever(dynamodb: DynamoBackend) -> None:
    store = dynamodb.store(retention_days=1)
    await store.settle(final(open_record(1)))
    assert await roll_up(store, changes_of(dynamodb)) == []
    found = dynamodb.client.scan(TableName=dynamodb.ledger_table)["Items"]
    totals = [item for item in found if item["pk"]["S"].startswith("TOTAL#")]
    assert totals
    assert all("expires_at" not in item for item in totals)
    await store.close()


@pytest.mark.parametrize("seed", range(2))
async def test_the_order_and_number_of_deliveries_change_nothing(dynamodb: DynamoBackend, seed: int) -> None:
    dice = random.Random(seed)
    store, other = dynamodb.store(), dynamodb.store()
    records = await settle_some(store, 12)
    delivered = changes_of(dynamodb)
    again = dice.choices(delivered, k=len(delivered)) + delivered
    dice.shuffle(again)
    half = len(again) // 2
    failures = await asyncio.gather(roll_up(store, again[:half]), roll_up(other, again[half:]))
    assert [*failures] == [[], []]
    assert await everything(store) == added_up(records)
    assert await roll_up(store, again) == []
    assert await everything(store) == added_up(records)
    await store.close()
    await other.close()


async def test_more_than_one_transaction_holds_are_all_counted(dynamodb: DynamoBackend) -> None:
    store = dynamodb.store()
    records = [final(open_record(number, key_id=f"key_{number}"), total=number) for number in range(MOST_COUNTED + 8)]
    await asyncio.gather(*(store.settle(record) for record in records))
    assert await roll_up(store, changes_of(dynamodb)) == []
    assert await everything(store) == added_up(records)
    await store.close()


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_a_transaction_whose_answer_is_lost_comes_again(dynamodb: DynamoBackend, after: bool) -> None:
    faulty = FaultyClient(dynamodb.client)
    store = dynamodb.store(client=faulty.made)
    records = [final(open_record(number), total=number) for number in range(5)]
    for record in records:
        await store.settle(record)
    changes = changes_of(dynamodb)
    faulty.fail("transact_write_items", ReadTimeoutError(endpoint_url="http://ledger"), after=after)
    with pytest.raises(StoreUnavailable):
        await store.count([image_of(change) for change in changes])
    assert await roll_up(store, changes) == []
    assert await everything(store) == added_up(records)
    await store.close()


async def test_a_transaction_that_meets_another_is_repeated(dynamodb: DynamoBackend) -> None:
    faulty = FaultyClient(dynamodb.client)
    store = dynamodb.store(client=faulty.made)
    records = await settle_some(store, 3)
    faulty.fail("transact_write_items", conflict(["None", "TransactionConflict"]))
    assert await roll_up(store, changes_of(dynamodb)) == []
    assert await everything(store) == added_up(records)
    await store.close()


async def test_one_that_always_meets_another_fails_and_comes_again(dynamodb: DynamoBackend) -> None:
    faulty = FaultyClient(dynamodb.client)
    store = dynamodb.store(client=faulty.made)
    records = await settle_some(store, 3)
    changes = changes_of(dynamodb)
    faulty.before_transaction = lambda: faulty.fail("transact_write_items", conflict(["TransactionConflict"]))
    assert await roll_up(store, changes) == [changes[0]["dynamodb"]["SequenceNumber"]]
    assert await everything(store) == Counts()
    faulty.before_transaction = lambda: None
    await roll_up(store, changes)  # the fault that was still told is met once
    await roll_up(store, changes)
    assert await everything(store) == added_up(records)
    await store.close()


async def test_what_is_settled_anew_while_it_is_counted_is_counted_as_that(dynamodb: DynamoBackend) -> None:
    faulty = FaultyClient(dynamodb.client)
    store, other = dynamodb.store(client=faulty.made), dynamodb.store()
    record = open_record(1)
    await store.settle(lost(record))
    changes = changes_of(dynamodb)

    def settle_elsewhere() -> None:
        faulty.before_transaction = lambda: None
        asyncio.run(other.settle(final(record, total=44)))

    faulty.before_transaction = settle_elsewhere
    assert await roll_up(store, changes) == []
    assert await everything(store) == Counts()
    assert await roll_up(store, changes_of(dynamodb)) == []
    assert await everything(store) == added_up([final(record, total=44)])
    await store.close()
    await other.close()


async def test_a_damaged_record_holds_up_nothing_before_it(dynamodb: DynamoBackend) -> None:
    store = dynamodb.store()
    records = [final(open_record(number), total=number) for number in range(6)]
    for record in records:
        await store.settle(record)
    changes = changes_of(dynamodb)
    changes[3]["dynamodb"]["NewImage"]["item"] = {"S": "{"}
    assert await roll_up(store, changes) == [changes[3]["dynamodb"]["SequenceNumber"]]
    assert await everything(store) == added_up(records[:3])
    await store.close()


async def test_a_record_that_is_gone_is_not_counted(dynamodb: DynamoBackend) -> None:
    store = dynamodb.store()
    await store.settle(final(open_record(1)))
    changes = changes_of(dynamodb)
    dynamodb.client.delete_item(TableName=dynamodb.ledger_table, Key=changes[0]["dynamodb"]["Keys"])
    assert await roll_up(store, changes) == []
    assert await everything(store) == Counts()
    await store.close()


async def test_totals_go_with_their_organisation(dynamodb: DynamoBackend) -> None:
    store = dynamodb.store()
    await settle_some(store, 2, org="acme")
    kept = await settle_some(store, 2, org="other")
    await roll_up(store, changes_of(dynamodb))
    await store.delete_organisation("acme")
    assert await everything(store) == Counts()
    assert await everything(store, "other") == added_up(kept)
    await store.close()


async def test_what_the_stream_never_brought_is_counted_by_and_by(dynamodb: DynamoBackend) -> None:
    store = dynamodb.store()
    records = await settle_some(store, 9)
    assert await store.complete_until("acme", MUCH_LATER_MS) is None
    assert await store.catch_up(NOW_MS, 100) == 0, "the stream has its time"
    assert await store.complete_until("acme", NOW_MS) == min(NOW_MS - OPENING_MS, records[0].created_ms)
    assert await store.catch_up(MUCH_LATER_MS, 4) == 4
    assert (await everything(store)).requests == 4
    assert await store.catch_up(MUCH_LATER_MS, 100) == 5
    assert await everything(store) == added_up(records)
    assert await store.catch_up(MUCH_LATER_MS, 100) == 0
    assert await store.complete_until("acme", MUCH_LATER_MS) == MUCH_LATER_MS - OPENING_MS
    await roll_up(store, changes_of(dynamodb))
    assert await everything(store) == added_up(records)
    await store.close()


async def test_totals_are_not_complete_beyond_what_cannot_be_counted(dynamodb: DynamoBackend) -> None:
    store = dynamodb.store()
    records = [final(open_record(number)) for number in range(3)]
    for record in records:
        await store.settle(record)
    image = changes_of(dynamodb)[1]["dynamodb"]["NewImage"]
    dynamodb.client.put_item(TableName=dynamodb.ledger_table, Item={**image, "item": {"S": "{"}})
    assert await store.catch_up(MUCH_LATER_MS, 100) == 2
    assert await store.complete_until("acme", MUCH_LATER_MS) == records[1].created_ms
    assert await everything(store) == added_up([records[0], records[2]])
    await store.close()


async def test_of_the_time_of_older_versions_nothing_is_known(dynamodb: DynamoBackend) -> None:
    store = dynamodb.store()
    dynamodb.plant_record(
        {
            **{"org": "acme", "request_id": "req-1", "key_id": "k", "created_ms": NOW_MS, "lease_until_ms": NOW_MS},
            **{"requested_model": "m", "surface": "plain", "stream": False},
        }
    )
    await store.catch_up(MUCH_LATER_MS, 100)
    assert await store.complete_until("acme", MUCH_LATER_MS) == 0
    await store.close()


async def test_an_index_that_lags_behind_counts_nothing_twice(dynamodb: DynamoBackend) -> None:
    faulty = FaultyClient(dynamodb.client)
    store = dynamodb.store(client=faulty.made)
    records = await settle_some(store, 4)
    changes = changes_of(dynamodb)
    faulty_get = Lagging(faulty, lambda: asyncio.run(dynamodb_count(dynamodb, changes)))
    lagging = dynamodb.store(client=faulty_get.made)
    await lagging.catch_up(MUCH_LATER_MS, 100)
    assert await everything(store) == added_up(records)
    await store.close()
    await lagging.close()


async def dynamodb_count(dynamodb: DynamoBackend, changes: Sequence[Change]) -> None:
    store = dynamodb.store()
    await roll_up(store, changes)
    await store.close()


class Lagging:
    """A client whose index shows what is counted by somebody else before it is looked at."""

    def __init__(self, client: FaultyClient, before_get: Callable[[], None]) -> None:
        self._client, self._before_get, self._is_done = client, before_get, False

    def made(self) -> "DynamoDBClient":
        return self  # type: ignore[return-value]  # a client as far as the store uses one

    def get_item(self, **request: Any) -> Any:
        if not self._is_done:
            self._is_done = True
            self._before_get()
        return self._client.get_item(**request)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)


async def test_a_late_settle_that_lost_its_answer_knows_it(dynamodb: DynamoBackend) -> None:
    faulty = FaultyClient(dynamodb.client)
    store, other = dynamodb.store(client=faulty.made), dynamodb.store()
    record = open_record(1)
    await other.settle(lost(record))
    refused: Any = {"Error": {"Code": "ConditionalCheckFailedException", "Message": ""}, "Item": {}}
    faulty.fail("update_item", ClientError(refused, "UpdateItem"))
    assert await store.settle(final(record)) is False, "somebody else corrected it"
    broken: Any = {"Error": {"Code": "InternalServerError", "Message": ""}}
    faulty.fail("update_item", ClientError(broken, "UpdateItem"))
    with pytest.raises(StoreUnavailable):
        await store.settle(final(record))
    faulty.fail("put_item", ReadTimeoutError(endpoint_url="http://ledger"))
    with pytest.raises(StoreUnavailable):
        await store.settle(final(record))
    assert await store.settle(final(record)) is True
    await store.close()
    await other.close()


async def test_a_mark_that_fails_is_told(dynamodb: DynamoBackend) -> None:
    faulty = FaultyClient(dynamodb.client)
    store = dynamodb.store(client=faulty.made)
    await store.open(open_record(1))
    broken: Any = {"Error": {"Code": "InternalServerError", "Message": ""}}
    faulty.fail("update_item", ClientError(broken, "UpdateItem"))
    with pytest.raises(StoreUnavailable):
        await store.mark(open_record(1))
    await store.close()
