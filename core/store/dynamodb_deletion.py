"""Deletes an organisation from both DynamoDB tables: its keys first, the organisation itself last.

So nobody calls in its name while it goes, and what a failure interrupted can be found and deleted again.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from core.store import dynamodb_items as items
from core.store.dynamodb_calls import delete_all, get, query, query_pages
from core.store.dynamodb_items import BY_ORG, Attributes, address_of, text
from core.store.dynamodb_setup_items import is_organisation, key_of
from core.store.dynamodb_tables import DynamoTables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_REQUEST: Final = "REQ#"
_KEY: Final = "KEY#"


class DynamoDeletion(DynamoTables):
    """Deleting organisations, for a store that has the tables."""

    async def delete_organisation(self, org: str) -> None:
        """Forget an organisation and everything that is kept of it."""
        await self._on_config(lambda client, table: _delete_keys(client, table, org))
        await self._on_ledger(lambda client, table: _delete_kept(client, table, org))
        await self._on_config(lambda client, table: _delete_setup(client, table, org))


def _delete_keys(client: "DynamoDBClient", table: str, org: str) -> None:
    for entry in _partition(client, table, org):
        if entry["sk"]["S"].startswith(_KEY):
            address = items.pointed_to(entry)
            found = get(client, table, address)
            # A key that went to another organisation left its pointer behind.
            if found is not None and key_of(found).org == org:
                client.delete_item(TableName=table, Key=address)


def _delete_kept(client: "DynamoDBClient", table: str, org: str) -> None:
    for shard in (*items.org_shards(org), *items.owned_shards(org)):
        for page in query_pages(
            client,
            TableName=table,
            IndexName=BY_ORG,
            KeyConditionExpression="org_shard = :shard",
            ExpressionAttributeValues={":shard": text(shard)},
        ):
            delete_all(client, table, [address for entry in page for address in _addresses(entry)])


def _addresses(entry: Attributes) -> Iterator[Attributes]:
    yield address_of(entry)
    name = entry["pk"]["S"]
    if name.startswith(_REQUEST):
        # What its caller said of the answer.
        yield {"pk": text(f"SCORE#{name.removeprefix(_REQUEST)}"), "sk": entry["sk"]}


def _delete_setup(client: "DynamoDBClient", table: str, org: str) -> None:
    found = _partition(client, table, org)
    delete_all(client, table, [address_of(entry) for entry in found if not is_organisation(entry)])
    client.delete_item(TableName=table, Key=items.organisation_address(org))
    client.delete_item(TableName=table, Key=address_of(items.organisation_pointer(org)))


def _partition(client: "DynamoDBClient", table: str, org: str) -> list[Attributes]:
    return query(
        client,
        TableName=table,
        KeyConditionExpression="pk = :partition",
        ExpressionAttributeValues={":partition": text(items.keys_of(org))},
        ConsistentRead=True,
    )
