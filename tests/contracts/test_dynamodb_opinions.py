"""What only DynamoDB does to scores and to news of hosts: others in between, lost answers, several regions."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from core.errors import StoreUnavailable
from core.ports import HostNews
from core.store.dynamodb import DynamoStore
from core.workspace import Opinion
from tests.contracts.backends import DynamoBackend
from tests.contracts.faulty_client import FaultyClient
from tests.contracts.values import NOW_MS

LATE = ReadTimeoutError(endpoint_url="http://127.0.0.1")
SCORE = ("acme", "req-1", "a/x", "code")
COUNTED = {("a/x", "code"): Opinion(1, 900)}


def faulty(dynamodb: DynamoBackend) -> tuple[DynamoStore, FaultyClient]:
    client = FaultyClient(dynamodb.client)
    return dynamodb.store(client=client.made), client


def cancelled(*reasons: str) -> ClientError:
    answer: Any = {
        "Error": {"Code": "TransactionCanceledException", "Message": "cancelled"},
        "CancellationReasons": [{"Code": reason} for reason in reasons],
    }
    return ClientError(answer, "TransactWriteItems")


async def test_a_score_that_another_write_was_in_the_way_of_is_written_again(dynamodb: DynamoBackend) -> None:
    store, client = faulty(dynamodb)
    client.fail("transact_write_items", cancelled("None", "TransactionConflict"))
    await store.rate(*SCORE, 900, NOW_MS)
    assert client.calls["transact_write_items"] == 2
    assert await store.opinions("acme") == COUNTED
    await store.close()


async def test_a_score_that_somebody_else_changed_meanwhile_is_counted_from_what_it_is(dynamodb: DynamoBackend) -> None:
    store, client = faulty(dynamodb)
    other = dynamodb.store()
    between: Iterator[int] = iter((300, 400))

    def meanwhile() -> None:
        score = next(between, None)
        if score is not None:
            asyncio.run(other.rate(*SCORE, score, NOW_MS))

    client.before_transaction = meanwhile
    await store.rate(*SCORE, 900, NOW_MS)
    assert client.calls["transact_write_items"] == 3
    assert await store.opinions("acme") == COUNTED
    await store.close()
    await other.close()


async def test_others_who_never_stop_are_given_up_on(dynamodb: DynamoBackend) -> None:
    store, client = faulty(dynamodb)
    client.before_transaction = lambda: client.fail("transact_write_items", cancelled("ConditionalCheckFailed", "None"))
    with pytest.raises(StoreUnavailable) as caught:
        await store.rate(*SCORE, 900, NOW_MS)
    assert "the same score" in caught.value.detail
    assert caught.value.retry_after_s
    await store.close()


async def test_a_score_whose_answer_was_lost_counts_once_when_it_is_sent_again(dynamodb: DynamoBackend) -> None:
    store, client = faulty(dynamodb)
    client.fail("transact_write_items", LATE, after=True)
    with pytest.raises(StoreUnavailable):
        await store.rate(*SCORE, 900, NOW_MS)
    await store.rate(*SCORE, 900, NOW_MS)
    assert await store.opinions("acme") == COUNTED
    await store.close()


@pytest.mark.parametrize("failure", [cancelled("ValidationError"), LATE, cancelled("ThrottlingError", "None")])
async def test_a_score_that_fails_for_another_reason_is_not_counted(
    dynamodb: DynamoBackend, failure: Exception
) -> None:
    store, client = faulty(dynamodb)
    client.fail("transact_write_items", failure)
    with pytest.raises(StoreUnavailable):
        await store.rate(*SCORE, 900, NOW_MS)
    assert client.calls["transact_write_items"] == 1
    assert await store.opinions("acme") == {}
    await store.close()


async def test_each_region_adds_to_items_of_its_own(dynamodb: DynamoBackend) -> None:
    here = dynamodb.store()
    elsewhere, client = faulty(dynamodb)
    client.region = "us-west-2"
    for number, store in enumerate((here, here, elsewhere)):
        await store.rate("acme", f"req-{number}", "a/x", "code", 100 + number, NOW_MS)
    found = dynamodb.client.query(
        TableName=dynamodb.config_table,
        KeyConditionExpression="pk = :org",
        ExpressionAttributeValues={":org": {"S": "ORG#acme"}},
    )["Items"]
    sums = {item["sk"]["S"]: (item["count_code"]["N"], item["sum_code"]["N"]) for item in found}
    assert sums == {"OPINION#eu-central-1#a/x": ("2", "201"), "OPINION#us-west-2#a/x": ("1", "102")}
    assert await here.opinions("acme") == {("a/x", "code"): Opinion(3, 303)}
    await here.close()
    await elsewhere.close()


async def test_a_score_goes_when_its_decision_does(dynamodb: DynamoBackend) -> None:
    store = dynamodb.store(retention_days=2)
    await store.rate(*SCORE, 900, NOW_MS)
    await store.tell_health({"a": HostNews(NOW_MS + 1_000, 1), "b": HostNews(ttft_ms=5)}, NOW_MS)
    items = dynamodb.client.scan(TableName=dynamodb.ledger_table)["Items"]
    expiries = {item["pk"]["S"] + item["sk"]["S"]: int(item["expires_at"]["N"]) for item in items}
    assert expiries.pop("SCORE#req-1ORG#acme") == NOW_MS // 1000 + 2 * 86_400
    assert set(expiries) == {"HEALTHHOST#a", "HEALTHHOST#b"}
    assert all(expiry > NOW_MS // 1000 + 3_600 for expiry in expiries.values())
    await store.close()


async def test_news_that_cannot_be_written_are_a_store_that_is_away(dynamodb: DynamoBackend) -> None:
    store, client = faulty(dynamodb)
    client.fail("update_item", LATE)
    with pytest.raises(StoreUnavailable):
        await store.tell_health({"a": HostNews(NOW_MS + 1_000, 1)}, NOW_MS)
    denied: Any = {"Error": {"Code": "AccessDeniedException", "Message": "no"}}
    client.fail("update_item", ClientError(denied, "UpdateItem"))
    with pytest.raises(StoreUnavailable):
        await store.tell_health({"a": HostNews(NOW_MS + 1_000, 1)}, NOW_MS)
    await store.close()
