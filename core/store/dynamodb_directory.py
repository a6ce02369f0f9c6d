"""Organisations, keys, what organisations set up and plans in DynamoDB.

A payment is one transaction with a note of its name, on condition that there is no such note: so one that is sent
again, by the caller or by the client, counts once. Everything else is one write to one item, or the same again.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from core.decision import Policy
from core.store import dynamodb_items as items
from core.store import dynamodb_setup_items as setup
from core.store.credits import LARGEST_CREDITS, too_large
from core.store.dynamodb_calls import get, query, read_all
from core.store.dynamodb_faults import outpaced, refused_by_condition, refused_in_transaction
from core.store.dynamodb_items import Attributes
from core.store.dynamodb_tables import DynamoTables
from core.store.schema_setup import with_built_in
from core.tenant import Key, Organisation, OwnKey, Plan
from core.workspace import Workspace

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# How often a payment that meets another one is tried.
_TRIES = 16

_FITS = """attribute_exists(pk)
    AND (attribute_not_exists(credit_micros) OR credit_micros BETWEEN :least AND :most)"""


class DynamoDirectory(DynamoTables):
    """The `Directory` port, but for deleting organisations, for a store that has the tables."""

    async def key(self, digest: str) -> Key | None:
        """The key with that SHA-256, live or not, or None."""
        address = items.key_address(digest)
        found = await self._on_config(lambda client, table: get(client, table, address))
        return None if found is None else setup.key_of(found)

    async def keys(self, org: str) -> Sequence[Key]:
        """The organisation's keys, oldest first."""
        found = await self._pointed_to(items.keys_of(org), "KEY#")
        # A key that went to another organisation left its pointer behind.
        mine = [key for key in map(setup.key_of, found) if key.org == org]
        return sorted(mine, key=lambda key: (key.created_ms, key.id))

    async def save_key(self, key: Key, before: Key | None = None) -> bool:
        """Write a key in the place of the one with its digest; see `Directory.save_key`."""
        if before is not None:
            return await self._on_config(lambda client, table: _replace_key(client, table, before, key))
        written = {"#item": items.key_attributes(key)["item"]}
        if key.last_used_ms is not None:
            written["last_used_ms"] = items.number(key.last_used_ms)
        await self._write_behind(items.key_pointer(key), items.key_address(key.digest), written)
        return True

    async def delete_key(self, key: Key) -> None:
        """Forget a key; nothing happens where it is not there."""
        # The key first: a pointer to nothing is passed over, a key without one would be found by nobody.
        await self._delete(items.key_address(key.digest), items.address_of(items.key_pointer(key)))

    async def touch_key(self, digest: str, now_ms: int) -> None:
        """Note that a key was used; an earlier time than the one known, or an unknown key, changes nothing."""

        def work(client: "DynamoDBClient", table: str) -> None:
            try:
                client.update_item(
                    TableName=table,
                    Key=items.key_address(digest),
                    UpdateExpression="SET last_used_ms = :now",
                    ConditionExpression="attribute_exists(pk) AND "
                    "(attribute_not_exists(last_used_ms) OR last_used_ms < :now)",
                    ExpressionAttributeValues={":now": items.number(now_ms)},
                )
            except ClientError as error:
                if not refused_by_condition(error):
                    raise

        await self._on_config(work)

    async def organisation(self, org: str) -> Organisation | None:
        """The organisation, or None."""
        address = items.organisation_address(org)
        found = await self._on_config(lambda client, table: get(client, table, address))
        return None if found is None else setup.organisation_of(found)

    async def organisations(self) -> Sequence[Organisation]:
        """All organisations, by id."""
        found = await self._pointed_to(items.ALL_ORGANISATIONS, "ORG#")
        return sorted(map(setup.organisation_of, found), key=lambda organisation: organisation.id)

    async def save_organisation(self, organisation: Organisation) -> None:
        """Write an organisation; one with the same id is replaced, but for its credits: only payments change those."""
        written = {"#item": items.organisation_attributes(organisation)["item"]}
        first = {"credit_micros": items.number(organisation.credit_micros)}
        address = items.organisation_address(organisation.id)
        await self._write_behind(items.organisation_pointer(organisation.id), address, written, first)

    async def pay_in(self, org: str, payment: str, micros: int, now_ms: int) -> int | None:
        """Add a payment, once, to what an organisation paid in; see `Directory.pay_in`."""
        note = setup.payment_address(org, payment) | {
            "micros": items.number(micros),
            "paid_ms": items.number(now_ms),
        }
        return await self._on_config(lambda client, table: _pay(client, table, org, note))

    async def workspace(self, org: str) -> Workspace | None:
        """Everything that the organisation has set up, or None where there is no such organisation."""

        def work(client: "DynamoDBClient", table: str) -> Workspace | None:
            found = query(client, **setup.workspace_query(table, org))
            mine = next(filter(setup.is_organisation, found), None)
            if mine is None:
                return None
            organisation = setup.organisation_of(mine)
            plan = get(client, table, setup.plan_address(organisation.plan))
            return setup.workspace_of(organisation, found, None if plan is None else setup.plan_of(plan))

        return await self._on_config(work)

    async def save_policy(self, org: str, policy: Policy) -> None:
        """Write a policy of an organisation's; one with the same name is replaced."""
        await self._put(setup.policy_attributes(org, policy))

    async def delete_policy(self, org: str, name: str) -> None:
        """Forget a policy; nothing happens where it is not there."""
        await self._delete(setup.policy_address(org, name))

    async def save_own_key(self, own_key: OwnKey) -> None:
        """Write an organisation's own key at a vendor; the one before is replaced."""
        await self._put(setup.own_key_attributes(own_key))

    async def delete_own_key(self, org: str, vendor: str) -> None:
        """Forget an own key; nothing happens where it is not there."""
        await self._delete(setup.own_key_address(org, vendor))

    async def save_catalog(self, org: str, toml: str | None) -> None:
        """Write the TOML of an organisation's own catalog; None takes it away."""
        if toml is None:
            await self._delete(setup.catalog_address(org))
        else:
            await self._put(setup.catalog_attributes(org, toml))

    async def plans(self) -> Sequence[Plan]:
        """All plans, by id: those stored, and those built in whose place none of them takes."""

        def work(client: "DynamoDBClient", table: str) -> list[Attributes]:
            return query(
                client,
                TableName=table,
                KeyConditionExpression="pk = :partition",
                ExpressionAttributeValues={":partition": items.text(setup.PLANS)},
                ConsistentRead=True,
            )

        return with_built_in(map(setup.plan_of, await self._on_config(work)))

    async def save_plan(self, plan: Plan) -> None:
        """Write a plan; one with the same id is replaced."""
        await self._put(setup.plan_attributes(plan))

    async def delete_plan(self, plan_id: str) -> None:
        """Forget a stored plan; nothing happens where it is not there."""
        await self._delete(setup.plan_address(plan_id))

    async def _put(self, item: Attributes) -> None:
        await self._on_config(lambda client, table: client.put_item(TableName=table, Item=item))

    async def _write_behind(
        self, pointer: Attributes, address: Attributes, written: Attributes, first: "Attributes | None" = None
    ) -> None:
        """Write a pointer, then attributes of the item that it leads to; those of `first` only where there are none."""
        first = first or {}
        sets = [f"{name} = :{name.lstrip('#')}" for name in written]
        sets += [f"{name} = if_not_exists({name}, :{name})" for name in first]

        def work(client: "DynamoDBClient", table: str) -> None:
            # In this order no item is ever without its pointer; one that points to nothing is passed over. A
            # transaction would cost twice as much, and can meet another and fail.
            client.put_item(TableName=table, Item=pointer)
            client.update_item(
                TableName=table,
                Key=address,
                UpdateExpression=f"SET {', '.join(sets)}",
                ExpressionAttributeNames={"#item": "item"},
                ExpressionAttributeValues={f":{name.lstrip('#')}": value for name, value in (written | first).items()},
            )

        await self._on_config(work)

    async def _delete(self, *addresses: Attributes) -> None:
        def work(client: "DynamoDBClient", table: str) -> None:
            for address in addresses:
                client.delete_item(TableName=table, Key=address)

        await self._on_config(work)

    async def _pointed_to(self, partition: str, prefix: str) -> list[Attributes]:
        def work(client: "DynamoDBClient", table: str) -> list[Attributes]:
            pointers = query(
                client,
                TableName=table,
                KeyConditionExpression="pk = :partition AND begins_with(sk, :prefix)",
                ExpressionAttributeValues={
                    ":partition": items.text(partition),
                    ":prefix": items.text(prefix),
                },
                ConsistentRead=True,
            )
            return read_all(client, table, [items.pointed_to(pointer) for pointer in pointers])

        return await self._on_config(work)


def _replace_key(client: "DynamoDBClient", table: str, before: Key, after: Key) -> bool:
    address = items.key_address(after.digest)
    there = get(client, table, address)
    if there is None or not setup.key_of(there).is_as(before):
        return False
    try:
        client.update_item(
            TableName=table,
            Key=address,
            UpdateExpression="SET #item = :after",
            # As it was read, in whatever form an earlier version wrote it.
            ConditionExpression="#item = :before",
            ExpressionAttributeNames={"#item": "item"},
            ExpressionAttributeValues={":after": items.key_attributes(after)["item"], ":before": there["item"]},
        )
    except ClientError as error:
        if not refused_by_condition(error):
            raise
        # Somebody was first; or the client, which sends again what got no answer.
        there = get(client, table, address)
        return there is not None and setup.key_of(there).is_as(after)
    return True


def _pay(client: "DynamoDBClient", table: str, org: str, note: Attributes) -> int | None:
    for _ in range(_TRIES - 1):
        try:
            return _paid(client, table, org, note)
        except ClientError as error:
            if not outpaced(error):
                raise
    return _paid(client, table, org, note)


def _paid(client: "DynamoDBClient", table: str, org: str, note: Attributes) -> int | None:
    micros = int(note["micros"]["N"])
    try:
        client.transact_write_items(
            TransactItems=[
                {"Put": {"TableName": table, "Item": note, "ConditionExpression": "attribute_not_exists(pk)"}},
                {
                    "Update": {
                        "TableName": table,
                        "Key": items.organisation_address(org),
                        "UpdateExpression": "ADD credit_micros :micros",
                        "ConditionExpression": _FITS,
                        "ExpressionAttributeValues": {
                            ":micros": note["micros"],
                            ":least": items.number(-LARGEST_CREDITS - micros),
                            ":most": items.number(LARGEST_CREDITS - micros),
                        },
                    }
                },
            ]
        )
    except ClientError as error:
        if not refused_in_transaction(error):
            raise
        before = get(client, table, {"pk": note["pk"], "sk": note["sk"]})
        if before is not None:
            return int(before["micros"]["N"])
        if get(client, table, items.organisation_address(org)) is None:
            return 0
        raise too_large() from None
    return None
