"""Calls that DynamoDB answers in pieces, made whole: pages of a query, batches that were partly left undone."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from core.store.dynamodb_faults import throttled
from core.store.dynamodb_items import Attributes

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import WriteRequestTypeDef

MOST_READ = 100
MOST_WRITTEN = 25


def query(client: "DynamoDBClient", limit: int | None = None, **request: Any) -> list[Attributes]:
    """What a query finds, at most `limit` entries; `request` is its arguments."""
    found: list[Attributes] = []
    while limit is None or len(found) < limit:
        if limit is not None:
            request["Limit"] = limit - len(found)
        page = client.query(**request)
        found += page["Items"]
        if "LastEvaluatedKey" not in page:
            break
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]
    return found


def read_all(client: "DynamoDBClient", table: str, addresses: Sequence[Attributes]) -> list[Attributes]:
    """The items that are there, in no order; addresses must differ.

    Raises:
        StoreUnavailable: DynamoDB throttles.
    """
    found: list[Attributes] = []
    for some in _chunks(addresses, MOST_READ):
        left: Sequence[Attributes] = some
        while left:
            asked = len(left)
            answer = client.batch_get_item(RequestItems={table: {"Keys": left, "ConsistentRead": True}})
            found += answer["Responses"].get(table, [])
            left = answer["UnprocessedKeys"].get(table, {}).get("Keys", [])
            if len(left) == asked:
                raise throttled(table)
    return found


def write_all(client: "DynamoDBClient", table: str, items: Sequence[Attributes]) -> None:
    """Write items, replacing what is there; addresses must differ.

    Raises:
        StoreUnavailable: DynamoDB throttles; some may have been written.
    """
    requests: list[WriteRequestTypeDef] = [{"PutRequest": {"Item": item}} for item in items]
    for some in _chunks(requests, MOST_WRITTEN):
        left: Sequence[Any] = some
        while left:
            asked = len(left)
            answer = client.batch_write_item(RequestItems={table: left})
            left = answer["UnprocessedItems"].get(table, [])
            if len(left) == asked:
                raise throttled(table)


def _chunks(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (items[start : start + size] for start in range(0, len(items), size))
