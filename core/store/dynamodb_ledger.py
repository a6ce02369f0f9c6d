"""The records' DynamoDB requests: every write is one conditional request on one item, lists go through the indexes."""

from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from core.store.dynamodb_calls import get, query, read_all
from core.store.dynamodb_faults import found_instead, refused_by_condition
from core.store.dynamodb_items import (
    BY_LEASE,
    BY_ORG,
    Attributes,
    address_of,
    number,
    open_shards,
    org_shards,
    record_address,
    text,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def put_if_absent(client: "DynamoDBClient", table: str, item: Attributes) -> None:
    """Write an item; do nothing where there is one already."""
    try:
        client.put_item(TableName=table, Item=item, ConditionExpression="attribute_not_exists(pk)")
    except ClientError as error:
        if not refused_by_condition(error):
            raise


def extend_lease(client: "DynamoDBClient", table: str, address: Attributes, lease_until_ms: int) -> None:
    """Give an open record a later lease; do nothing where there is none, or a later one already."""
    try:
        client.update_item(
            TableName=table,
            Key=address,
            UpdateExpression="SET lease_until_ms = :lease",
            # A record that is not there has no lease to be earlier.
            ConditionExpression="attribute_not_exists(settled_ms) AND lease_until_ms < :lease",
            ExpressionAttributeValues={":lease": number(lease_until_ms)},
        )
    except ClientError as error:
        if not refused_by_condition(error):
            raise


def note(client: "DynamoDBClient", table: str, item: Attributes) -> None:
    """Give an open record the content of this item; do nothing where there is none, or a settled one."""
    try:
        client.update_item(
            TableName=table,
            Key=address_of(item),
            UpdateExpression="SET #item = :item",
            ConditionExpression="attribute_exists(pk) AND attribute_not_exists(settled_ms)",
            ExpressionAttributeNames={"#item": "item"},
            ExpressionAttributeValues={":item": item["item"]},
        )
    except ClientError as error:
        if not refused_by_condition(error):
            raise


def settle_once(client: "DynamoDBClient", table: str, item: Attributes) -> bool:
    """Write a settled record over an open one or none; whether it was this call, told by the item's `settled_by`.

    The client repeats what went unanswered, so whatever the last try says, an earlier one may have been carried out.
    """
    try:
        client.put_item(
            TableName=table,
            Item=item,
            ConditionExpression="attribute_not_exists(settled_ms)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    except ClientError as error:
        if refused_by_condition(error):
            found = found_instead(error)
            if _may_replace(found, item):
                return _replace_lost(client, table, item)
            return found.get("settled_by") == item["settled_by"]
        return _settled_after_all(client, table, item, error)
    except BotoCoreError as error:
        return _settled_after_all(client, table, item, error)
    return True


def of_any_organisation(client: "DynamoDBClient", table: str, request_id: str) -> "Attributes | None":
    """The item of a record, whichever organisation's it is, or None."""
    found = query(
        client,
        TableName=table,
        KeyConditionExpression="pk = :record",
        ExpressionAttributeValues={":record": record_address("", request_id)["pk"]},
        ConsistentRead=True,
    )
    return found[0] if found else None


def newest(client: "DynamoDBClient", table: str, org: str, limit: int, before: str | None = None) -> list[Attributes]:
    """The items of an organisation's newest records, in no order; of those older than the request of that id alone."""
    entries: list[Attributes] = []
    condition, bound = "org_shard = :shard", {}
    if before is not None:
        condition, bound = f"{condition} AND request_id < :before", {":before": text(before)}
    for shard in org_shards(org):
        entries += query(
            client,
            limit,
            TableName=table,
            IndexName=BY_ORG,
            KeyConditionExpression=condition,
            ExpressionAttributeValues={":shard": text(shard), **bound},
            ScanIndexForward=False,
        )
    entries.sort(key=lambda entry: entry["request_id"]["S"], reverse=True)
    return read_all(client, table, [address_of(entry) for entry in entries[: max(0, limit)]])


def overdue(client: "DynamoDBClient", table: str, now_ms: int, limit: int) -> list[Attributes]:
    """The items of open records whose lease had passed when the index was written, in no order."""
    entries: list[Attributes] = []
    for shard in open_shards():
        entries += query(
            client,
            limit,
            TableName=table,
            IndexName=BY_LEASE,
            KeyConditionExpression="open_shard = :shard AND lease_until_ms < :now",
            FilterExpression="attribute_not_exists(settled_ms)",
            ExpressionAttributeValues={":shard": text(shard), ":now": number(now_ms)},
        )
    entries.sort(key=lambda entry: (int(entry["lease_until_ms"]["N"]), entry["pk"]["S"]))
    return read_all(client, table, [address_of(entry) for entry in entries[: max(0, limit)]])


def _may_replace(found: Attributes, item: Attributes) -> bool:
    return "lost" in found and "lost" not in item


def _replace_lost(client: "DynamoDBClient", table: str, item: Attributes) -> bool:
    """Write what really came of a record over one that was given up; what was counted of that one stays noted on it."""
    names = [name for name in item if name not in ("pk", "sk")]
    try:
        client.update_item(
            TableName=table,
            Key=address_of(item),
            UpdateExpression=f"SET {', '.join(f'#{place} = :{place}' for place in range(len(names)))} REMOVE lost",
            ConditionExpression="attribute_exists(lost)",
            ExpressionAttributeNames={f"#{place}": name for place, name in enumerate(names)},
            ExpressionAttributeValues={f":{place}": item[name] for place, name in enumerate(names)},
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    except ClientError as error:
        if not refused_by_condition(error):
            raise
        return found_instead(error).get("settled_by") == item["settled_by"]
    return True


def _settled_after_all(
    client: "DynamoDBClient", table: str, item: Attributes, failure: ClientError | BotoCoreError
) -> bool:
    try:
        found = get(client, table, address_of(item)) or {}
    except (ClientError, BotoCoreError):
        raise failure from None
    if "settled_ms" not in found or _may_replace(found, item):
        raise failure
    return found.get("settled_by") == item["settled_by"]
