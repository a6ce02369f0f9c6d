"""What both stores promise about organisations and keys."""

import asyncio
from dataclasses import replace
from fractions import Fraction

from hypothesis import HealthCheck, given, settings

from core.ports import Store
from core.tenant import Key, Organisation
from tests.contracts.values import NOW_MS, key, keys, organisation, organisations

kept_store = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


async def test_a_key_is_found_by_its_digest(store: Store) -> None:
    await store.save_key(key(1))
    assert await store.key(key(1).digest) == key(1)
    assert await store.key(key(2).digest) is None


async def test_a_revoked_key_is_still_found(store: Store) -> None:
    await store.save_key(key(1))
    revoked = replace(key(1), revoked_ms=NOW_MS + 5)
    await store.save_key(revoked)
    assert await store.key(key(1).digest) == revoked
    assert await store.keys("acme") == [revoked]


async def test_keys_are_listed_oldest_first_for_one_organisation(store: Store) -> None:
    made = [key(number) for number in range(5)]
    twin = replace(key(7), created_ms=made[2].created_ms, id="key_0")
    for one in (*made[::-1], twin, key(9, org="other"), key(10, org="acme#1")):
        await store.save_key(one)
    assert await store.keys("acme") == [made[0], made[1], twin, made[2], made[3], made[4]]
    assert await store.keys("other") == [key(9, org="other")]
    assert await store.keys("nobody") == []


async def test_a_key_that_changes_hands_leaves_its_old_list(store: Store) -> None:
    await store.save_key(key(1, org="acme"))
    await store.save_key(key(1, org="other"))
    assert await store.keys("acme") == []
    assert await store.keys("other") == [key(1, org="other")]


async def test_more_keys_than_one_answer_holds_are_listed(store: Store) -> None:
    made = [key(number) for number in range(130)]
    await asyncio.gather(*(store.save_key(one) for one in made))
    assert await store.keys("acme") == made


async def test_an_organisation_is_found_and_replaced(store: Store) -> None:
    assert await store.organisation("acme") is None
    await store.save_organisation(organisation("acme"))
    dearer = organisation("acme", markup=Fraction(1, 3))
    await store.save_organisation(dearer)
    assert await store.organisation("acme") == dearer
    assert await store.organisations() == [dearer]


async def test_organisations_are_listed_by_id(store: Store) -> None:
    for name in ("beta", "alpha", "gamma#2", "delta"):
        await store.save_organisation(organisation(name))
    found = [one.id for one in await store.organisations()]
    assert found == ["alpha", "beta", "delta", "gamma#2"]


async def test_an_organisation_and_its_keys_do_not_meet(store: Store) -> None:
    await store.save_key(key(1))
    assert await store.organisation("acme") is None
    assert await store.organisations() == []
    await store.save_organisation(organisation("acme"))
    assert await store.keys("acme") == [key(1)]


@kept_store
@given(one=keys)
async def test_every_member_of_a_key_comes_back(store: Store, one: Key) -> None:
    await store.save_key(one)
    assert await store.key(one.digest) == one


@kept_store
@given(one=organisations)
async def test_every_member_of_an_organisation_comes_back(store: Store, one: Organisation) -> None:
    await store.save_organisation(one)
    assert await store.organisation(one.id) == one
