"""What only DynamoDB does to limits: cancel transactions that meet, throttle, lose answers."""

import asyncio
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from core.errors import StoreUnavailable
from core.reservation import ORGANISATION, Amount, Held, Standing
from core.store.dynamodb import DynamoStore
from core.store.dynamodb_limits import LONGEST_WAIT_S, MOST_TRIES
from tests.contracts.backends import DynamoBackend
from tests.contracts.cutting_proxy import CuttingProxy
from tests.contracts.faulty_client import FaultyClient
from tests.contracts.limit_values import BOTH, DAY, KEY, ROOM, asking, room_for
from tests.contracts.values import NOW_MS

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

USED = Amount(micros=3, tokens=7)


def answer(code: str, *reasons: str) -> ClientError:
    cancelled: Any = {"Error": {"Code": code, "Message": f"a {code}"}}
    if reasons:
        cancelled["CancellationReasons"] = [{"Code": reason} for reason in reasons]
    return ClientError(cancelled, "TransactWriteItems")


IN_THE_WAY = {
    "transact_write_items": [
        answer("TransactionCanceledException", "None", "TransactionConflict"),
        answer("TransactionCanceledException", "ThrottlingError", "None"),
        answer("TransactionCanceledException", "None", "ProvisionedThroughputExceeded"),
        answer("TransactionInProgressException"),
        answer("ThrottlingException"),
    ],
    "update_item": [
        answer("TransactionConflictException"),
        answer("ProvisionedThroughputExceededException"),
        answer("ThrottlingException"),
        answer("RequestLimitExceeded"),
    ],
}


class BusyClient(FaultyClient):
    """One whose writes are refused at random, a share of them, because others are in the way."""

    def __init__(self, client: "DynamoDBClient", share: float) -> None:
        super().__init__(client)
        self.random = Random(7)
        self.share = share

    def _call(self, operation: str, request: dict[str, Any]) -> Any:
        if operation in IN_THE_WAY and self.random.random() < self.share:
            self.calls[operation] += 1
            raise self.random.choice(IN_THE_WAY[operation])
        return super()._call(operation, request)


class Waits(list[float]):
    async def pause(self, seconds: float) -> None:
        self.append(seconds)


def busy(dynamodb: DynamoBackend, share: float) -> tuple[DynamoStore, BusyClient, Waits]:
    client, waits = BusyClient(dynamodb.client, share), Waits()
    return dynamodb.store(client=client.made, pause=waits.pause), client, waits


def faulty(dynamodb: DynamoBackend) -> tuple[DynamoStore, FaultyClient]:
    client = FaultyClient(dynamodb.client)
    return dynamodb.store(client=client.made), client


@pytest.mark.parametrize("subjects", [(KEY,), BOTH], ids=["one", "two"])
async def test_as_many_pass_as_fit_while_writes_get_in_each_others_way(
    dynamodb: DynamoBackend, subjects: tuple[str, ...]
) -> None:
    store, client, waits = busy(dynamodb, 0.3)
    asked = [asking(number, *subjects) for number in range(64)]
    admissions = await asyncio.gather(*(store.reserve(each, room_for(ROOM, *subjects)) for each in asked))
    taken = [each for each, admission in zip(asked, admissions, strict=True) if admission.is_taken]
    assert len(taken) == ROOM
    settled = await asyncio.gather(*(store.settle_reservation(each, USED, NOW_MS) for each in taken))
    assert settled == [True] * ROOM
    for standing in (await store.standings("acme", subjects)).values():
        assert (standing.counters[DAY], standing.held) == (3 * ROOM, {})
    assert waits
    assert max(waits) <= LONGEST_WAIT_S
    assert client.calls["transact_write_items"] >= (64 if len(subjects) > 1 else 0)
    await store.close()


async def test_one_who_is_always_in_the_way_is_given_up_on(dynamodb: DynamoBackend) -> None:
    store, client, waits = busy(dynamodb, 1.0)
    with pytest.raises(StoreUnavailable, match="cannot reach") as caught:
        await store.reserve(asking(1, *BOTH), {})
    assert "dynamodb" in caught.value.detail.lower() or "entr" in caught.value.detail
    assert client.calls["transact_write_items"] == MOST_TRIES
    assert len(waits) == MOST_TRIES - 1
    assert waits == sorted(waits)
    with pytest.raises(StoreUnavailable):
        await store.settle_reservation(asking(1), USED, NOW_MS)
    await store.close()


async def test_every_failure_that_passes_is_waited_for(dynamodb: DynamoBackend) -> None:
    store, client = faulty(dynamodb)
    for number, failure in enumerate(IN_THE_WAY["transact_write_items"]):
        client.fail("transact_write_items", failure)
        assert (await store.reserve(asking(number, *BOTH), {})).is_taken
    for number, failure in enumerate(IN_THE_WAY["update_item"]):
        client.fail("update_item", failure)
        assert await store.settle_reservation(asking(number, *BOTH), USED, NOW_MS)
    await store.close()


@pytest.mark.parametrize("subjects", [(KEY,), BOTH], ids=["one", "two"])
async def test_a_success_that_was_reported_as_a_time_out_is_taken_once(
    dynamodb: DynamoBackend, subjects: tuple[str, ...]
) -> None:
    store, client = faulty(dynamodb)
    operation = "transact_write_items" if len(subjects) > 1 else "update_item"
    client.fail(operation, ReadTimeoutError(endpoint_url="http://127.0.0.1"), after=True)
    asked = asking(1, *subjects)
    with pytest.raises(StoreUnavailable):
        await store.reserve(asked, room_for(1, *subjects))
    assert (await store.reserve(asked, room_for(1, *subjects))).is_taken
    for standing in (await store.standings("acme", subjects)).values():
        assert (standing.counters[DAY], set(standing.held)) == (5, {asked.request_id})
    client.fail("update_item", ReadTimeoutError(endpoint_url="http://127.0.0.1"), after=True)
    with pytest.raises(StoreUnavailable):
        await store.settle_reservation(asked, USED, NOW_MS)
    await store.settle_reservation(asked, USED, NOW_MS)
    for standing in (await store.standings("acme", subjects)).values():
        assert (standing.counters[DAY], standing.held) == (3, {})
    await store.close()


@pytest.mark.parametrize("subjects", [(KEY,), BOTH], ids=["one", "two"])
async def test_answers_that_are_lost_on_the_way_change_nothing(
    dynamodb: DynamoBackend, subjects: tuple[str, ...]
) -> None:
    async with CuttingProxy(dynamodb.server.port) as proxy:
        three = {"mode": "standard", "total_max_attempts": 3}
        store = dynamodb.store(client=lambda: dynamodb.server.client(proxy.endpoint, retries=three))
        asked = asking(1, *subjects)
        proxy.cut_next = 1
        assert (await store.reserve(asked, room_for(1, *subjects))).is_taken
        for standing in (await store.standings("acme", subjects)).values():
            assert standing == Standing(asked.amounts[KEY], {asked.request_id: asked.held(KEY)})
        proxy.cut_next = 1
        await store.settle_reservation(asked, USED, NOW_MS)
        for standing in (await store.standings("acme", subjects)).values():
            assert (standing.counters[DAY], standing.held) == (3, {})
        await store.close()


async def test_what_is_held_at_one_subject_alone_is_made_whole(dynamodb: DynamoBackend) -> None:
    store = dynamodb.store()
    await store.reserve(asking(1, KEY), {})
    assert (await store.reserve(asking(1, *BOTH), room_for(1, *BOTH))).is_taken
    for standing in (await store.standings("acme", BOTH)).values():
        assert standing.counters[DAY] == 5
    await store.close()


def changing(dynamodb: DynamoBackend, change: Callable[[int], None]) -> DynamoStore:
    """A store whose every write finds that somebody was there just before."""

    class Hasty(FaultyClient):
        def _call(self, operation: str, request: dict[str, Any]) -> Any:
            if operation == "update_item":
                change(self.calls[operation])
            return super()._call(operation, request)

    return dynamodb.store(client=Hasty(dynamodb.client).made)


async def test_what_never_stays_as_it_was_found_is_given_up_on(dynamodb: DynamoBackend) -> None:
    def change(number: int) -> None:
        dynamodb.client.update_item(
            TableName=dynamodb.ledger_table,
            Key={"pk": {"S": f"LIMIT#acme#{KEY}"}, "sk": {"S": "ORG#acme"}},
            UpdateExpression="SET #held = :held",
            ExpressionAttributeNames={"#held": f"held:{asking(1).request_id}"},
            ExpressionAttributeValues={":held": {"S": f"{NOW_MS} {DAY}={number}"}},
        )

    store = changing(dynamodb, change)
    with pytest.raises(StoreUnavailable) as caught:
        await store.reserve(asking(1), {})
    assert "changes faster" in caught.value.detail
    with pytest.raises(StoreUnavailable) as caught:
        await store.settle_reservation(asking(1), USED, NOW_MS)
    assert "changes faster" in caught.value.detail
    await store.close()


async def test_other_failures_are_not_waited_for(dynamodb: DynamoBackend) -> None:
    store, client = faulty(dynamodb)
    client.fail("transact_write_items", answer("TransactionCanceledException", "ValidationError", "None"))
    with pytest.raises(StoreUnavailable):
        await store.reserve(asking(1, *BOTH), {})
    assert client.calls["transact_write_items"] == 1
    await store.close()


async def test_a_subject_is_found_when_its_organisation_is_deleted(dynamodb: DynamoBackend) -> None:
    store = dynamodb.store()
    await store.reserve(asking(1, *BOTH), {})
    await store.delete_organisation("acme")
    assert await store.standings("acme", BOTH) == {KEY: Standing(), ORGANISATION: Standing()}
    await store.close()


async def test_the_item_is_what_it_is_documented_to_be(dynamodb: DynamoBackend) -> None:
    store = dynamodb.store()
    asked = asking(1)
    await store.reserve(asked, {})
    item = dynamodb.client.get_item(
        TableName=dynamodb.ledger_table, Key={"pk": {"S": f"LIMIT#acme#{KEY}"}, "sk": {"S": "ORG#acme"}}
    )["Item"]
    assert item[DAY] == {"N": "5"}
    assert item[f"held:{asked.request_id}"]["S"].startswith(f"{asked.expires_ms} ")
    (standing,) = (await store.standings("acme", [KEY])).values()
    assert standing.held == {asked.request_id: Held(asked.amounts[KEY], asked.expires_ms)}
    await store.close()
