"""What both stores promise about deleting an organisation: nothing of it is left, and nothing of another is gone."""

import asyncio

import pytest
from botocore.exceptions import ClientError

from core.errors import StoreUnavailable
from core.kept import Claim
from core.ports import Store
from core.reservation import ORGANISATION
from tests.contracts.backends import Backend, DynamoBackend, SqliteBackend
from tests.contracts.faulty_client import FaultyClient
from tests.contracts.limit_values import asking
from tests.contracts.test_availability import USES
from tests.contracts.values import NOW_MS, TOOL_TURN, final, key, open_record, organisation

LEFT_OUT = ("delete_organisation", "delete_key", "ping")


async def fill(store: Store) -> None:
    """Whatever can be kept of the organisation, by every method there is."""
    await store.save_organisation(organisation("acme"))
    for name, use in USES.items():
        if name not in LEFT_OUT:
            await use(store)
    await asyncio.gather(*(store.settle(final(open_record(number))) for number in range(30)))
    await asyncio.gather(*(store.save_key(key(number)) for number in range(1, 30)))
    await store.remember("acme", [f"call_{number}" for number in range(30)], TOOL_TURN, NOW_MS)
    for answer in ("short", "long" * 200_000):
        claim = Claim("acme", "key_1", answer[:5], "body", "req-1", NOW_MS + 5, NOW_MS + 9)
        await store.begin(claim, NOW_MS)
        await store.finish(claim, answer)
    await store.reserve(asking(9, ORGANISATION), {})
    await store.catch_up(NOW_MS + 10**8, 100)


async def test_nothing_of_a_deleted_organisation_is_left(backend: Backend) -> None:
    store = backend.store()
    await fill(store)
    await store.save_organisation(organisation("acme#1"))
    await store.save_key(key(77, org="acme#1"))
    assert backend.entries_with("acme")
    for _ in range(2):
        await store.delete_organisation("acme")
    left = [entry for entry in backend.entries_with("acme") if "acme#1" not in entry]
    assert left == []
    assert await store.organisations() == [organisation("acme#1")]
    assert await store.keys("acme#1") == [key(77, org="acme#1")]
    await store.close()


async def test_another_organisation_keeps_everything(store: Store) -> None:
    await fill(store)
    before = await store.workspace("acme"), await store.keys("acme"), await store.records("acme", 100)
    await store.save_organisation(organisation("other"))
    await store.save_key(key(1, org="other"))
    await store.save_key(key(1))
    await store.delete_organisation("other")
    after = await store.workspace("acme"), await store.keys("acme"), await store.records("acme", 100)
    assert after == before
    assert await store.recall("acme", ["call_1"], NOW_MS) == {"call_1": TOOL_TURN}


async def test_a_deleted_organisation_is_not_in_the_file_either(sqlite: SqliteBackend) -> None:
    store = sqlite.store()
    await store.save_organisation(organisation("acme"))
    await store.save_key(key(1, org="acme", name="canary"))
    await store.delete_organisation("acme")
    assert all(b"canary" not in file.read_bytes() for file in sqlite.folder.iterdir())
    await store.close()


async def test_the_file_is_cleaned_later_while_others_write(sqlite: SqliteBackend) -> None:
    store = sqlite.store()
    await store.save_organisation(organisation("acme"))
    writes = [store.open(open_record(number, org="other")) for number in range(200)]
    await asyncio.gather(store.delete_organisation("acme"), *writes)
    assert await store.organisation("acme") is None
    assert len(await store.records("other", 500)) == 200
    await store.close()


async def test_an_organisation_of_many_pages_goes_whole(dynamodb: DynamoBackend) -> None:
    faulty = FaultyClient(dynamodb.client)
    store = dynamodb.store(client=faulty.made)
    await fill(store)
    faulty.page = 2
    await store.delete_organisation("acme")
    assert dynamodb.entries_with("acme") == []
    await store.close()


async def test_what_was_interrupted_can_be_deleted_again(dynamodb: DynamoBackend) -> None:
    store = dynamodb.store()
    await fill(store)
    await store.close()
    faulty = FaultyClient(dynamodb.client)
    faulty.fail("batch_write_item", ClientError({"Error": {"Code": "InternalServerError"}}, "BatchWriteItem"))
    interrupted = dynamodb.store(client=faulty.made)
    with pytest.raises(StoreUnavailable):
        await interrupted.delete_organisation("acme")
    assert [one.id for one in await interrupted.organisations()] == ["acme"]
    assert await interrupted.keys("acme") == []
    await interrupted.delete_organisation("acme")
    assert dynamodb.entries_with("acme") == []
    await interrupted.close()
