"""DynamoDB's operations as we need them: always consistent, and answers in pieces made whole."""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from core.store.dynamodb_faults import throttled
from core.store.dynamodb_items import Attributes

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import WriteRequestTypeDef

MOST_READ = 100
MOST_WRITTEN = 25
MOST_IN_A_PAGE = 1_000
EVERYTHING = sys.maxsize


def get(client: "DynamoDBClient", table: str, address: Attributes) -> "Attributes | None":
    """The item there, as it is now, or None."""
    return client.get_item(TableName=table, Key=address, ConsistentRead=True).get("Item")


def query_pages(client: "DynamoDBClient", **request: Any) -> Iterator[list[Attributes]]:
    """All that a query finds, page by page; `request` is its arguments."""
    while True:
        page = client.query(**request)
        yield page["Items"]
        if "LastEvaluatedKey" not in page:
            return
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def query(client: "DynamoDBClient", limit: int = EVERYTHING, **request: Any) -> list[Attributes]:
    """What a query finds, at most `limit` entries; `request` is its arguments."""
    found: list[Attributes] = []
    while len(found) < limit:
        page = client.query(**request, Limit=min(limit - len(found), MOST_IN_A_PAGE))
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
        left = some
        while left:
            answer = client.batch_get_item(RequestItems={table: {"Keys": left, "ConsistentRead": True}})
            found += answer["Responses"].get(table, [])
            undone = answer["UnprocessedKeys"]
            left = _fewer(undone[table]["Keys"] if table in undone else (), left, table)
    return found


def write_all(client: "DynamoDBClient", table: str, items: Sequence[Attributes]) -> None:
    """Write items, replacing what is there; addresses must differ.

    Raises:
        StoreUnavailable: DynamoDB throttles; some may have been written.
    """
    _write(client, table, [{"PutRequest": {"Item": item}} for item in items])


def delete_all(client: "DynamoDBClient", table: str, addresses: Sequence[Attributes]) -> None:
    """Delete items, whether they are there or not; addresses must differ.

    Raises:
        StoreUnavailable: DynamoDB throttles; some may have been deleted.
    """
    _write(client, table, [{"DeleteRequest": {"Key": address}} for address in addresses])


def _write(client: "DynamoDBClient", table: str, requests: "Sequence[WriteRequestTypeDef]") -> None:
    for some in _chunks(requests, MOST_WRITTEN):
        left = some
        while left:
            answer = client.batch_write_item(RequestItems={table: left})
            left = _fewer(answer["UnprocessedItems"].get(table, ()), left, table)


def _fewer(undone: Sequence[Any], asked: Sequence[Any], table: str) -> Sequence[Any]:
    # A batch of which nothing is done was throttled; asking on at once would make that worse.
    if len(undone) == len(asked):
        raise throttled(table)
    return undone


def _chunks(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (items[start : start + size] for start in range(0, len(items), size))
