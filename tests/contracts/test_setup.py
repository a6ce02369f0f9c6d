"""What both stores promise about what organisations set up, plans, and credits."""

import asyncio
from dataclasses import replace
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError
from hypothesis import given

from core.decision import BUILT_IN_POLICY, Objective, Policy
from core.errors import InvalidRequest, StoreUnavailable
from core.ports import Store
from core.tenant import BUILT_IN_PLANS, FREE_PLAN, PREPAID_PLAN, STANDARD_PLAN, OwnKey, Plan
from core.workspace import Workspace
from tests.contracts.backends import DynamoBackend
from tests.contracts.faulty_client import FaultyClient
from tests.contracts.test_directory import kept_store
from tests.contracts.values import (
    NOW_MS,
    final,
    key,
    open_record,
    organisation,
    own_keys,
    plans,
    policies,
    request_id,
)

CHEAP = Policy(name="cheap", optimize=Objective.COST)
OWN = OwnKey("acme", "lab", "c2VhbGVk", "x9Qz", NOW_MS)
TOML = '[[models]]\nid = "lab/own"\n' * 100


async def test_a_new_organisation_has_the_built_in_policy_and_the_standard_plan(store: Store) -> None:
    assert await store.workspace("acme") is None
    await store.save_organisation(organisation("acme"))
    assert await store.workspace("acme") == Workspace(organisation("acme"))


async def test_a_workspace_has_everything_that_was_set_up(store: Store) -> None:
    for name in ("acme", "acme#1", "other"):
        await store.save_organisation(organisation(name))
    await store.save_policy("acme", CHEAP)
    await store.save_own_key(OWN)
    await store.save_catalog("acme", TOML)
    for number in range(3):
        await store.save_key(key(number))
    space = await store.workspace("acme")
    assert space == Workspace(
        organisation("acme"),
        policies={"default": BUILT_IN_POLICY, "cheap": CHEAP},
        own_keys={"lab": OWN},
        catalog=TOML,
    )
    assert await store.workspace("other") == Workspace(organisation("other"))
    assert await store.workspace("acme#1") == Workspace(organisation("acme#1"))


async def test_what_is_set_up_is_replaced_and_taken_away(store: Store) -> None:
    await store.save_organisation(organisation("acme"))
    own_default = replace(CHEAP, name="default")
    for policy in (replace(CHEAP, sticky=False), CHEAP, own_default):
        await store.save_policy("acme", policy)
    await store.save_own_key(replace(OWN, sealed="before"))
    await store.save_own_key(OWN)
    await store.save_catalog("acme", "before")
    await store.save_catalog("acme", TOML)
    space = await store.workspace("acme")
    assert space is not None
    assert space.policies == {"default": own_default, "cheap": CHEAP}
    assert (space.own_keys, space.catalog) == ({"lab": OWN}, TOML)
    for _ in range(2):
        await store.delete_policy("acme", "cheap")
        await store.delete_policy("acme", "default")
        await store.delete_own_key("acme", "lab")
        await store.save_catalog("acme", None)
    assert await store.workspace("acme") == Workspace(organisation("acme"))


async def test_a_stored_plan_takes_the_place_of_a_built_in_one(store: Store) -> None:
    assert await store.plans() == sorted(BUILT_IN_PLANS, key=lambda plan: plan.id)
    await store.save_organisation(organisation("acme", plan="free"))
    await store.save_organisation(organisation("beta", plan="big"))
    assert await plan_of(store, "acme") == FREE_PLAN
    assert await plan_of(store, "beta") == STANDARD_PLAN
    dear, big = replace(FREE_PLAN, name="Nearly free"), Plan("big", "Big")
    await store.save_plan(dear)
    await store.save_plan(replace(big, name="before"))
    await store.save_plan(big)
    assert await store.plans() == [big, dear, PREPAID_PLAN, STANDARD_PLAN]
    assert await plan_of(store, "acme") == dear
    assert await plan_of(store, "beta") == big
    for _ in range(2):
        await store.delete_plan("free")
        await store.delete_plan("big")
    assert await plan_of(store, "acme") == FREE_PLAN
    assert await plan_of(store, "beta") == STANDARD_PLAN


async def plan_of(store: Store, org: str) -> Plan:
    space = await store.workspace(org)
    assert space is not None
    return space.plan


async def test_payments_at_once_all_count_and_each_counts_once(store: Store) -> None:
    await store.save_organisation(organisation("acme", credit_micros=7))
    names = [f"payment {number}" for number in range(6)]
    added = await asyncio.gather(*(store.pay_in("acme", name, 10, NOW_MS) for name in (*names, *names)))
    assert sorted(added, key=str) == [10] * len(names) + [None] * len(names)
    assert await credits_of(store) == 67
    assert await store.pay_in("acme", "refund", -17, NOW_MS) is None
    assert await credits_of(store) == 50
    assert await store.pay_in("acme", "refund", 5, NOW_MS) == -17, "what was paid in under that name"
    assert await credits_of(store) == 50


async def test_saving_an_organisation_leaves_its_credits(store: Store) -> None:
    await store.save_organisation(organisation("acme"))
    await store.pay_in("acme", "first", 10, NOW_MS)
    await store.save_organisation(replace(organisation("acme"), name="Renamed"))
    assert await store.organisation("acme") == replace(organisation("acme", credit_micros=10), name="Renamed")
    assert await store.organisations() == [replace(organisation("acme", credit_micros=10), name="Renamed")]


async def test_nobody_can_pay_for_an_organisation_that_is_not_there(store: Store) -> None:
    assert await store.pay_in("acme", "first", 10, NOW_MS) == 0
    assert await store.organisation("acme") is None
    await store.save_organisation(organisation("acme"))
    assert await store.pay_in("acme", "first", 10, NOW_MS) is None


async def credits_of(store: Store) -> int:
    space = await store.workspace("acme")
    assert space is not None
    return space.organisation.credit_micros


async def test_a_record_is_found_whichever_organisation_it_belongs_to(store: Store) -> None:
    for org in ("acme", "other"):
        await store.save_organisation(organisation(org))
    await store.open(open_record(1))
    await store.settle(final(open_record(2, org="other")))
    assert await store.any_record(request_id(1)) == open_record(1)
    assert await store.any_record(request_id(2)) == final(open_record(2, org="other"))
    assert await store.any_record(request_id(3)) is None


async def test_a_deleted_key_is_nowhere(store: Store) -> None:
    for number in range(2):
        await store.save_key(key(number))
    for _ in range(2):
        await store.delete_key(key(0))
    assert await store.key(key(0).digest) is None
    assert await store.keys("acme") == [key(1)]


async def test_the_last_use_of_a_key_only_moves_forward(store: Store) -> None:
    await store.save_key(key(1))
    for moment in (NOW_MS + 5, NOW_MS + 9, NOW_MS + 7):
        await store.touch_key(key(1).digest, moment)
    used = replace(key(1), last_used_ms=NOW_MS + 9)
    assert await store.key(key(1).digest) == used
    assert await store.keys("acme") == [used]
    await store.save_key(replace(key(1), name="renamed"))
    assert await store.key(key(1).digest) == replace(used, name="renamed")


async def test_a_use_brings_no_key_back(store: Store) -> None:
    await store.touch_key(key(1).digest, NOW_MS)
    assert await store.key(key(1).digest) is None
    assert await store.keys("acme") == []


@kept_store
@given(one=policies)
async def test_every_member_of_a_policy_comes_back(store: Store, one: Policy) -> None:
    await store.save_organisation(organisation("acme"))
    await store.save_policy("acme", one)
    space = await store.workspace("acme")
    assert space is not None
    assert space.policies[one.name] == one


@kept_store
@given(one=plans)
async def test_every_member_of_a_plan_comes_back(store: Store, one: Plan) -> None:
    await store.save_plan(one)
    assert one in await store.plans()


@kept_store
@given(one=own_keys)
async def test_every_member_of_an_own_key_comes_back(store: Store, one: OwnKey) -> None:
    await store.save_organisation(organisation(one.org))
    await store.save_own_key(one)
    space = await store.workspace(one.org)
    assert space is not None
    assert space.own_keys[one.vendor] == one


def cancelled(code: str) -> ClientError:
    reasons = [{"Code": "None"}, {"Code": code}]
    answer = {"Error": {"Code": "TransactionCanceledException"}, "CancellationReasons": reasons}
    return ClientError(cast("Any", answer), "TransactWriteItems")


async def test_a_payment_that_met_another_is_tried_again(dynamodb: DynamoBackend) -> None:
    faulty = FaultyClient(dynamodb.client)
    store = dynamodb.store(client=faulty.made)
    await store.save_organisation(organisation("acme"))
    faulty.fail("transact_write_items", cancelled("TransactionConflict"))
    assert await store.pay_in("acme", "first", 10, NOW_MS) is None
    assert faulty.calls["transact_write_items"] == 2
    assert await credits_of(store) == 10
    await store.close()


@pytest.mark.parametrize("code", ["TransactionConflict", "ThrottlingError"])
async def test_a_payment_that_cannot_be_made_fails(dynamodb: DynamoBackend, code: str) -> None:
    faulty = FaultyClient(dynamodb.client)
    store = dynamodb.store(client=faulty.made)
    await store.save_organisation(organisation("acme"))
    faulty.before_transaction = lambda: faulty.fail("transact_write_items", cancelled(code))
    with pytest.raises(StoreUnavailable):
        await store.pay_in("acme", "first", 10, NOW_MS)
    assert await credits_of(store) == 0
    await store.close()


async def test_a_use_that_cannot_be_noted_is_told(dynamodb: DynamoBackend) -> None:
    faulty = FaultyClient(dynamodb.client)
    store = dynamodb.store(client=faulty.made)
    faulty.fail("update_item", ClientError({"Error": {"Code": "AccessDeniedException"}}, "UpdateItem"))
    with pytest.raises(StoreUnavailable):
        await store.touch_key(key(1).digest, NOW_MS)
    await store.close()


@pytest.mark.parametrize("sign", [1, -1])
async def test_credits_never_pass_what_can_be_kept(store: Store, sign: int) -> None:
    await store.save_organisation(organisation("acme"))
    most = 2**63 - 1
    assert await store.pay_in("acme", "most", sign * most, NOW_MS) is None
    with pytest.raises(InvalidRequest) as refused:
        await store.pay_in("acme", "more", sign * 1_000, NOW_MS)
    assert refused.value.param == "micros"
    assert await store.pay_in("acme", "most", sign, NOW_MS) == sign * most
    assert await credits_of(store) == sign * most
    assert await store.pay_in("acme", "back", -sign * 5, NOW_MS) is None
    assert await store.pay_in("acme", "more", sign * 5, NOW_MS) is None
    assert await credits_of(store) == sign * most
