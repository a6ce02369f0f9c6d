"""What both stores promise about answers under idempotency keys."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from core.errors import StoreUnavailable
from core.kept import Claim, Held, Phase
from core.ports import Store
from core.store.dynamodb_answers import PIECE
from tests.contracts.backends import Backend, DynamoBackend
from tests.contracts.faulty_client import FaultyClient
from tests.contracts.values import NOW_MS

LEASE_MS = 900_000
DAY_MS = 86_400_000

FIRST = Claim("acme", "key_1", "a" * 64, "b" * 64, "req-1", NOW_MS + LEASE_MS, NOW_MS + DAY_MS)
SECOND = replace(FIRST, request_id="req-2")
RUNNING = Held(FIRST.body, "req-1", Phase.RUNNING)


async def test_a_key_is_taken_once(store: Store) -> None:
    assert await store.begin(FIRST, NOW_MS) is None
    assert await store.begin(replace(SECOND, body="c" * 64), NOW_MS + LEASE_MS - 1) == RUNNING


async def test_of_many_at_once_one_gets_it(backend: Backend) -> None:
    stores = [backend.store() for _ in range(4)]
    claims = [replace(FIRST, request_id=f"req-{number}") for number in range(64)]
    found = await asyncio.gather(*(stores[place % 4].begin(claim, NOW_MS) for place, claim in enumerate(claims)))
    winners = [claim for claim, held in zip(claims, found, strict=True) if held is None]
    assert len(winners) == 1
    holders = {held.request_id for held in found if held is not None}
    assert holders == {winners[0].request_id}
    for store in stores:
        await store.close()


@pytest.mark.parametrize("other", [{"org": "zeta"}, {"key_id": "key_2"}, {"name": "c" * 64}, {"org": "acme#key_1"}])
async def test_others_have_keys_of_their_own(store: Store, other: dict[str, Any]) -> None:
    assert await store.begin(FIRST, NOW_MS) is None
    assert await store.begin(replace(SECOND, **other), NOW_MS) is None


@pytest.mark.parametrize("length", [0, 1, PIECE, PIECE + 1, 3 * PIECE + 5])
async def test_an_answer_comes_back_until_it_expires(store: Store, length: int) -> None:
    answer = ("0123456789" * (length // 10 + 1))[:length]
    await store.begin(FIRST, NOW_MS)
    assert await store.finish(FIRST, answer) is True
    held = await store.begin(SECOND, NOW_MS + DAY_MS - 1)
    assert held is not None
    assert (held.body, held.request_id, held.phase) == (FIRST.body, "req-1", Phase.KEPT)
    assert (await store.fetch(SECOND, held) or "") == answer
    later = replace(SECOND, lease_until_ms=NOW_MS + 2 * DAY_MS, expires_ms=NOW_MS + 3 * DAY_MS)
    assert await store.begin(later, NOW_MS + DAY_MS) is None
    assert await store.begin(replace(FIRST, request_id="req-3"), NOW_MS + DAY_MS) == Held(
        FIRST.body, "req-2", Phase.RUNNING
    )


async def test_an_answer_that_was_too_large_is_noted(store: Store) -> None:
    await store.begin(FIRST, NOW_MS)
    assert await store.finish(FIRST, None) is True
    assert await store.begin(SECOND, NOW_MS + LEASE_MS) == Held(FIRST.body, "req-1", Phase.TOO_LARGE)


async def test_a_key_that_was_given_up_is_free(store: Store) -> None:
    await store.begin(FIRST, NOW_MS)
    await store.drop(FIRST)
    assert await store.begin(SECOND, NOW_MS) is None
    await store.drop(FIRST)
    assert await store.begin(FIRST, NOW_MS) == Held(FIRST.body, "req-2", Phase.RUNNING)


async def test_giving_up_takes_no_answer_away(store: Store) -> None:
    await store.begin(FIRST, NOW_MS)
    await store.finish(FIRST, "sealed")
    await store.drop(FIRST)
    held = await store.begin(SECOND, NOW_MS)
    assert held is not None
    assert held.answer == "sealed"


async def test_a_dead_process_holds_its_key_no_longer_than_its_lease(store: Store) -> None:
    await store.begin(FIRST, NOW_MS)
    assert await store.begin(SECOND, NOW_MS + LEASE_MS - 1) == RUNNING
    assert await store.begin(SECOND, NOW_MS + LEASE_MS) is None
    assert await store.finish(FIRST, "too late") is False
    assert await store.finish(FIRST, "too late " * PIECE) is False
    assert await store.finish(SECOND, "in time") is True
    held = await store.begin(FIRST, NOW_MS + LEASE_MS)
    assert held is not None
    assert (held.request_id, await store.fetch(FIRST, held)) == ("req-2", "in time")


async def test_nothing_is_finished_that_was_not_begun(store: Store) -> None:
    assert await store.finish(FIRST, "sealed") is False
    assert await store.finish(FIRST, None) is False
    await store.drop(FIRST)
    assert await store.begin(SECOND, NOW_MS) is None


async def test_an_answer_that_is_gone_is_not_there(store: Store) -> None:
    assert await store.fetch(FIRST, Held(FIRST.body, "req-1", Phase.KEPT, pieces=2)) is None
    await store.begin(SECOND, NOW_MS)
    await store.finish(SECOND, "sealed")
    assert await store.fetch(FIRST, Held(FIRST.body, "req-1", Phase.KEPT)) is None


async def test_deleting_an_organisation_deletes_its_answers(store: Store) -> None:
    await store.begin(FIRST, NOW_MS)
    await store.finish(FIRST, "x" * (2 * PIECE))
    held = await store.begin(SECOND, NOW_MS)
    assert held is not None
    await store.delete_organisation("acme")
    assert await store.fetch(SECOND, held) is None
    assert await store.begin(SECOND, NOW_MS) is None


class TestDynamoDB:
    """What was carried out although nobody heard of it."""

    LATE = ReadTimeoutError(endpoint_url="http://127.0.0.1")
    FAILED = ClientError({"Error": {"Code": "InternalServerError"}}, "PutItem")

    async def test_a_claim_that_is_sent_again_is_its_own(self, dynamodb: DynamoBackend) -> None:
        store = dynamodb.store()
        assert await store.begin(FIRST, NOW_MS) is None
        assert await store.begin(FIRST, NOW_MS) is None
        await store.close()

    @pytest.mark.parametrize("answer", ["sealed", None, "x" * (PIECE + 1)])
    async def test_an_answer_that_is_sent_again_is_kept(self, dynamodb: DynamoBackend, answer: str | None) -> None:
        store = dynamodb.store()
        await store.begin(FIRST, NOW_MS)
        assert await store.finish(FIRST, answer) is True
        assert await store.finish(FIRST, answer) is True
        await store.close()

    @pytest.mark.parametrize(
        ("operation", "use"),
        [
            ("put_item", lambda store: store.begin(FIRST, NOW_MS)),
            ("update_item", lambda store: store.finish(FIRST, "sealed")),
            ("update_item", lambda store: store.drop(FIRST)),
        ],
    )
    async def test_a_failure_is_one(self, dynamodb: DynamoBackend, operation: str, use: Any) -> None:
        client = FaultyClient(dynamodb.client)
        store = dynamodb.store(client=client.made)
        client.fail(operation, self.FAILED)
        with pytest.raises(StoreUnavailable):
            await use(store)
        client.fail(operation, self.LATE)
        with pytest.raises(StoreUnavailable):
            await use(store)
        await store.close()

    async def test_every_item_expires(self, dynamodb: DynamoBackend) -> None:
        store = dynamodb.store()
        await store.begin(FIRST, NOW_MS)
        await store.finish(FIRST, "x" * (PIECE + 1))
        items = dynamodb.client.scan(TableName=dynamodb.ledger_table)["Items"]
        assert len(items) == 3
        assert {item["expires_at"]["N"] for item in items} == {str((NOW_MS + DAY_MS) // 1000)}
        await store.close()
