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


async def test_a_key_is_replaced_only_if_it_is_what_it_was(store: Store) -> None:
    renamed, revoked = key(1, name="renamed"), key(1, revoked_ms=NOW_MS + 5)
    assert await store.save_key(renamed, key(1)) is False
    assert await store.key(key(1).digest) is None
    assert await store.save_key(key(1)) is True
    assert await store.save_key(renamed, key(1)) is True
    assert await store.save_key(revoked, key(1)) is False
    assert await store.keys("acme") == [renamed]


async def test_of_many_who_replace_a_key_at_once_one_does(store: Store) -> None:
    await store.save_key(key(1))
    wanted = [key(1, successor=f"key_{number}") for number in range(2, 10)]
    done = await asyncio.gather(*(store.save_key(one, key(1)) for one in wanted))
    assert done.count(True) == 1
    assert await store.key(key(1).digest) == wanted[done.index(True)]


async def test_noting_a_use_is_no_change_of_a_key(store: Store) -> None:
    await store.save_key(key(1))
    await store.touch_key(key(1).digest, NOW_MS + 7)
    assert await store.save_key(key(1, name="renamed", last_used_ms=NOW_MS + 3), key(1, last_used_ms=NOW_MS + 3))
    assert await store.key(key(1).digest) == key(1, name="renamed", last_used_ms=NOW_MS + 7)


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
