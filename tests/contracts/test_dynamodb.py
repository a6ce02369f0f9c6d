"""What only DynamoDB does: throttle, conflict, lose answers, refuse credentials, lag behind in its indexes."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ReadTimeoutError,
)

from core.errors import StoreUnavailable
from core.store.dynamodb import DynamoStore
from core.store.dynamodb_items import ORG_SHARDS, key_address, key_attributes
from core.tenant import Key
from tests.contracts.backends import DynamoBackend
from tests.contracts.cutting_proxy import CuttingProxy
from tests.contracts.faulty_client import FaultyClient
from tests.contracts.values import LEASE_MS, NOW_MS, TOOL_TURN, final, key, open_record, request_id
from tests.support.ministack import REGION

RECORD = open_record(1)
LATE = ReadTimeoutError(endpoint_url="http://127.0.0.1")


def answer(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": f"a {code}"}}, "PutItem")


def faulty(dynamodb: DynamoBackend) -> tuple[DynamoStore, FaultyClient]:
    client = FaultyClient(dynamodb.client)
    return dynamodb.store(client=client.made), client


@pytest.mark.parametrize(
    ("failure", "words", "helps"),
    [
        (answer("ResourceNotFoundException"), "no such table", False),
        (answer("AccessDeniedException"), "lacks the permission", False),
        (answer("UnrecognizedClientException"), "refuses the credentials", False),
        (answer("ExpiredTokenException"), "refuses the credentials", False),
        (answer("ValidationException"), "finds the request invalid", False),
        (answer("ThrottlingException"), "throttles", True),
        (answer("ProvisionedThroughputExceededException"), "throttles", True),
        (answer("TransactionConflictException"), "another write", True),
        (answer("InternalServerError"), "reason of its own", True),
        (answer("SomethingNewException"), "reason of its own", True),
        (ClientError({}, "PutItem"), "reason of its own", True),
        (NoCredentialsError(), "no AWS credentials", False),
        (PartialCredentialsError(provider="env", cred_var="x"), "no AWS credentials", False),
        (CredentialRetrievalError(provider="role", error_msg="x"), "could not be fetched", True),
        (NoRegionError(), "no AWS region", False),
        (ConnectTimeoutError(endpoint_url="http://x"), "cannot be reached", True),
        (EndpointConnectionError(endpoint_url="http://x"), "cannot be reached", True),
        (ReadTimeoutError(endpoint_url="http://x"), "did not answer in time", True),
        (ConnectionClosedError(endpoint_url="http://x"), "did not answer in time", True),
        (BotoCoreError(), "the AWS client failed", True),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
async def test_every_failure_is_told_apart_for_the_operator(
    dynamodb: DynamoBackend, failure: ClientError | BotoCoreError, words: str, helps: bool
) -> None:
    store, client = faulty(dynamodb)
    uses: list[tuple[str, Callable[[], Any], str]] = [
        ("put_item", lambda: store.open(RECORD), dynamodb.ledger_table),
        ("update_item", lambda: store.renew("acme", "req-1", 5), dynamodb.ledger_table),
        ("get_item", lambda: store.key("0" * 64), dynamodb.config_table),
        ("query", lambda: store.records("acme", 5), dynamodb.ledger_table),
    ]
    for operation, use, table in uses:
        client.fail(operation, failure)
        with pytest.raises(StoreUnavailable) as caught:
            await use()
        assert words in caught.value.detail
        assert table in caught.value.detail
        assert (caught.value.retry_after_s is not None) is helps
        assert table not in caught.value.message
    await store.close()


@pytest.mark.parametrize("failure", [LATE, answer("InternalServerError")])
async def test_a_settle_that_was_carried_out_knows_it(dynamodb: DynamoBackend, failure: Exception) -> None:
    store, client = faulty(dynamodb)
    await store.open(RECORD)
    client.fail("put_item", failure, after=True)
    assert await store.settle(final(RECORD)) is True
    assert await store.settle(final(RECORD)) is False
    await store.close()


async def test_a_settle_that_was_not_carried_out_fails_and_may_be_repeated(
    dynamodb: DynamoBackend,
) -> None:
    store, client = faulty(dynamodb)
    await store.open(RECORD)
    for record in (RECORD, open_record(2)):  # opened, and never opened
        client.fail("put_item", LATE)
        with pytest.raises(StoreUnavailable) as caught:
            await store.settle(final(record))
        assert "in time" in caught.value.detail
        assert await store.settle(final(record)) is True
    await store.close()


async def test_a_settle_that_lost_the_race_and_its_answer_knows_it(dynamodb: DynamoBackend) -> None:
    store, client = faulty(dynamodb)
    await dynamodb.store().settle(final(RECORD, total=7))
    client.fail("put_item", LATE, after=False)
    assert await store.settle(final(RECORD, total=9)) is False
    assert await store.record("acme", RECORD.request_id) == final(RECORD, total=7)
    await store.close()


async def test_a_settle_of_unknown_outcome_fails_and_stays_settled(
    dynamodb: DynamoBackend,
) -> None:
    store, client = faulty(dynamodb)
    client.fail("put_item", LATE, after=True)
    client.fail("get_item", answer("ThrottlingException"))
    with pytest.raises(StoreUnavailable) as caught:
        await store.settle(final(RECORD))
    assert "in time" in caught.value.detail
    assert await store.settle(final(RECORD)) is False
    assert await store.record("acme", RECORD.request_id) == final(RECORD)
    await store.close()


@pytest.mark.parametrize("operation", ["open", "settle", "renew"])
async def test_a_lost_answer_is_repeated_by_the_client_without_harm(dynamodb: DynamoBackend, operation: str) -> None:
    async with CuttingProxy(dynamodb.server.port) as proxy:
        retries = {"mode": "standard", "total_max_attempts": 3}
        store = dynamodb.store(client=lambda: dynamodb.server.client(proxy.endpoint, retries=retries))
        if operation != "open":
            await store.open(RECORD)
        proxy.cut_next = 1
        lease = RECORD.lease_until_ms + 9
        match operation:
            case "open":
                await store.open(RECORD)
                expected = RECORD
            case "settle":
                assert await store.settle(final(RECORD)) is True
                expected = final(RECORD)
            case _:
                await store.renew("acme", RECORD.request_id, lease)
                expected = replace(RECORD, lease_until_ms=lease)
        assert proxy.cut_next == 0
        assert await store.record("acme", RECORD.request_id) == expected
        await store.close()


async def test_what_a_batch_leaves_undone_is_asked_for_again(dynamodb: DynamoBackend) -> None:
    store, client = faulty(dynamodb)
    calls = [f"call_{number}" for number in range(7)]
    client.undone = 3
    await store.remember("acme", calls, TOOL_TURN, NOW_MS)
    assert client.calls["batch_write_item"] == 2
    client.undone = 3
    assert set(await store.recall("acme", calls, NOW_MS)) == set(calls)
    assert client.calls["batch_get_item"] == 2
    await store.close()


async def test_a_batch_of_which_nothing_is_done_was_throttled(dynamodb: DynamoBackend) -> None:
    store, client = faulty(dynamodb)
    client.undone = 2
    with pytest.raises(StoreUnavailable) as writing:
        await store.remember("acme", ["call_1", "call_2"], TOOL_TURN, NOW_MS)
    client.undone = 2
    with pytest.raises(StoreUnavailable) as reading:
        await store.recall("acme", ["call_1", "call_2"], NOW_MS)
    assert "throttles" in writing.value.detail
    assert "throttles" in reading.value.detail
    await store.close()


async def test_answers_in_many_pages_are_read_to_the_end(dynamodb: DynamoBackend) -> None:
    store, client = faulty(dynamodb)
    made = [open_record(number) for number in range(40)]
    await asyncio.gather(*(store.open(record) for record in made))
    client.page = 3
    assert await store.records("acme", 40) == made[::-1]
    assert await store.records("acme", 11) == made[:-12:-1]
    assert client.calls["query"] > 2 * ORG_SHARDS
    await store.close()


async def test_an_index_that_lags_behind_brings_nobody_back(dynamodb: DynamoBackend) -> None:
    store, client = faulty(dynamodb)
    settled, renewed, due = (open_record(number, lease_until_ms=NOW_MS) for number in range(3))
    for record in (settled, renewed, due):
        await store.open(record)

    def meanwhile() -> None:  # between the index and the records themselves
        client.before_batch_get = lambda: None
        asyncio.run(finish())

    async def finish() -> None:
        other = dynamodb.store()
        await other.settle(final(settled))
        await other.renew("acme", renewed.request_id, NOW_MS + LEASE_MS)
        await other.close()

    client.before_batch_get = meanwhile
    assert await store.overdue(NOW_MS + 1, 10) == [due]
    await store.close()


@pytest.mark.parametrize("item", [{"S": "no json"}, {"S": "{}"}, {"B": b"not compressed"}, {"N": "1"}])
async def test_a_damaged_entry_is_named(dynamodb: DynamoBackend, item: dict[str, Any]) -> None:
    store = dynamodb.store()
    await store.open(RECORD)
    entry = dynamodb.client.scan(TableName=dynamodb.ledger_table)["Items"][0]
    dynamodb.client.put_item(TableName=dynamodb.ledger_table, Item={**entry, "item": item})
    with pytest.raises(StoreUnavailable) as caught:
        await store.record("acme", RECORD.request_id)
    assert "cannot be read" in caught.value.detail
    await store.close()


async def test_entries_say_when_they_may_be_removed(dynamodb: DynamoBackend) -> None:
    store = dynamodb.store(retention_days=3)
    await store.open(open_record(1))
    await store.settle(final(open_record(2)))
    await store.remember("acme", ["call_1"], TOOL_TURN, NOW_MS + 1)
    found = dynamodb.client.scan(TableName=dynamodb.ledger_table)["Items"]
    expiry = {item["pk"]["S"]: int(item["expires_at"]["N"]) for item in found}
    assert expiry == {
        f"REQ#{request_id(1)}": NOW_MS // 1000 + 3 * 86_400,
        f"REQ#{request_id(2)}": NOW_MS // 1000 + 3 * 86_400,
        "TOOL#acme#call_1": NOW_MS // 1000 + 86_400 + 1,
    }
    await store.close()


async def test_records_of_one_organisation_spread_over_partitions(dynamodb: DynamoBackend) -> None:
    store = dynamodb.store()
    await asyncio.gather(*(store.open(open_record(number)) for number in range(60)))
    found = dynamodb.client.scan(TableName=dynamodb.ledger_table)["Items"]
    assert len({item["org_shard"]["S"] for item in found}) == ORG_SHARDS
    assert len({item["open_shard"]["S"] for item in found}) == 8
    await store.close()


def environment(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere/config")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere/credentials")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name, value in values.items():
        monkeypatch.setenv(name, value)


async def test_by_default_the_environment_says_where_dynamodb_is(
    dynamodb: DynamoBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment(
        monkeypatch,
        AWS_ENDPOINT_URL_DYNAMODB=dynamodb.server.endpoint,
        AWS_REGION=REGION,
        AWS_DEFAULT_REGION=REGION,
        AWS_ACCESS_KEY_ID="test",
        AWS_SECRET_ACCESS_KEY="test",
    )
    store = DynamoStore(dynamodb.config_table, dynamodb.ledger_table)
    await store.open(RECORD)
    assert await store.record("acme", RECORD.request_id) == RECORD
    await store.close()


async def test_a_missing_region_and_missing_credentials_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    environment(monkeypatch)
    store = DynamoStore("config", "ledger")
    with pytest.raises(StoreUnavailable) as caught:
        await store.ping()
    assert "no AWS region" in caught.value.detail
    environment(monkeypatch, AWS_DEFAULT_REGION=REGION)
    with pytest.raises(StoreUnavailable) as caught:
        await store.ping()
    assert "no AWS credentials" in caught.value.detail
    await store.close()


async def test_a_missing_table_is_named(dynamodb: DynamoBackend) -> None:
    store = DynamoStore(dynamodb.config_table, "not-there", client=lambda: dynamodb.client)
    with pytest.raises(StoreUnavailable) as caught:
        await store.ping()
    assert "not-there" in caught.value.detail
    assert "no such table" in caught.value.detail
    await store.close()


async def test_an_error_of_our_own_is_not_taken_for_the_stores(dynamodb: DynamoBackend) -> None:
    store, client = faulty(dynamodb)
    client.fail("get_item", LookupError("a bug"))
    with pytest.raises(LookupError, match="a bug"):
        await store.record("acme", RECORD.request_id)
    await store.close()


@pytest.mark.parametrize(
    ("meanwhile", "done"),
    [(None, False), (key(1, name="another's"), False), (key(1, name="renamed"), True)],
    ids=["deleted", "changed", "sent twice"],
)
async def test_a_key_that_changes_between_reading_and_writing_is_looked_at_again(
    dynamodb: DynamoBackend, meanwhile: Key | None, done: bool
) -> None:
    store, client = faulty(dynamodb)
    await store.save_key(key(1))

    def change() -> None:
        if meanwhile is None:
            dynamodb.client.delete_item(TableName=dynamodb.config_table, Key=key_address(key(1).digest))
        else:
            dynamodb.client.put_item(TableName=dynamodb.config_table, Item=key_attributes(meanwhile))

    client.before_update = change
    assert await store.save_key(key(1, name="renamed"), key(1)) is done
    assert await store.key(key(1).digest) == meanwhile


async def test_a_key_whose_table_refuses_the_write_is_not_taken_for_changed(dynamodb: DynamoBackend) -> None:
    store, client = faulty(dynamodb)
    await store.save_key(key(1))
    client.fail("update_item", answer("ThrottlingException"))
    with pytest.raises(StoreUnavailable):
        await store.save_key(key(1, name="renamed"), key(1))
    assert await store.key(key(1).digest) == key(1)
