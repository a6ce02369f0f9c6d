"""Totals in DynamoDB: settled records are counted behind the caller's back, each exactly once.

    table   pk                   sk                   holds
    ledger  TOTAL#<org>#<shard>  <quarter>#<hash>     the counts of one bucket, in part: a bucket's shards are added up
            TOTALS               COMPLETE             `complete_until_ms`

A settled record is to be counted for as long as it has `open_shard`. Counting it is one transaction: the counts are
added, and the record gives up `open_shard`, on condition that it still has it and was settled by the very call that is
counted. So a stream that brings a record twice, late or out of order changes nothing, and a record that was given up
for lost and settled anew is counted anew; `counted_as` says what was counted of it before, and the difference is added.

A transaction adds to one shard, whichever: two that run at once seldom meet at one item, and one that does is repeated.
"""

import asyncio
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from core.errors import StoreUnavailable
from core.record import LOST
from core.store import schema
from core.store.dynamodb_calls import get, query_pages
from core.store.dynamodb_faults import cancellations
from core.store.dynamodb_items import (
    BY_LEASE,
    Attributes,
    address_of,
    number,
    open_shards,
    owned_by,
    packed,
    record_of,
    text,
    unpacked,
)
from core.store.dynamodb_tables import DynamoTables
from core.totals import COUNTS, OPENING_MS, Bucket, By, Counts, Total, counted, summed

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

TOTAL_SHARDS: Final = 4
MOST_COUNTED: Final = 45
"""Records in one transaction: each may need a bucket of its own, two where it was lost, and 100 actions fit."""

_TRIES: Final = 16
_COMPLETE: Final[Attributes] = {"pk": text("TOTALS"), "sk": text("COMPLETE")}


class DynamoTotals(DynamoTables):
    """The totals, for a store that has the tables."""

    async def totals(self, org: str, quarters: range, by: frozenset[By]) -> Sequence[Total]:
        """The organisation's totals within those quarters of an hour; see `Totals.totals`."""

        async def part(name: str) -> list[Total]:
            return await self._on_ledger(lambda client, table: _part(client, table, name, quarters, by))

        parts = await asyncio.gather(*map(part, _partitions(org)))
        return summed(total for part in parts for total in part)

    async def complete_until(self, org: str, now_ms: int) -> int | None:
        """Before then every request is counted, as far as it was looked at; see `Totals.complete_until`."""
        found = await self._on_ledger(lambda client, table: get(client, table, _COMPLETE))
        return None if found is None else int(found["complete_until_ms"]["N"])

    async def count(self, records: Sequence[Attributes]) -> None:
        """Count settled records that were not counted yet.

        Args:
            records: Items of records as they were when they had been settled; what they no longer are is passed over.

        Raises:
            StoreUnavailable: One is damaged, or DynamoDB failed. Some may have been counted; all may be
                counted again.
        """
        await self._on_ledger(lambda client, table: count_all(client, table, records))

    async def catch_up(self, now_ms: int, limit: int) -> int:
        """Count what the stream did not bring, and note what is complete; see `Totals.catch_up`."""
        return await self._on_ledger(lambda client, table: _catch_up(client, table, now_ms, limit))


def count_all(client: "DynamoDBClient", table: str, records: Sequence[Attributes]) -> None:
    """Count settled records; see `DynamoTotals.count`."""
    left = list({(each["pk"]["S"], each["sk"]["S"], each["settled_by"]["S"]): each for each in records}.values())
    while left:
        # A transaction may touch an item once: of a record that was settled twice one settle waits for the next round.
        first = {(each["pk"]["S"], each["sk"]["S"]): each for each in reversed(left)}
        some = [*first.values()][:MOST_COUNTED]
        _count(client, table, some)
        left = [each for each in left if not any(each is done for done in some)]


def _count(client: "DynamoDBClient", table: str, records: Sequence[Attributes]) -> None:
    left, tries = list(records), _TRIES
    while left:
        tries -= 1
        try:
            client.transact_write_items(TransactItems=[*_actions(table, left)])
        except ClientError as error:
            reasons = cancellations(error)
            if not (reasons and tries):
                raise
            # A record that refuses was counted before, settled anew, or deleted with its organisation.
            refused = {number for number, reason in enumerate(reasons) if reason == "ConditionalCheckFailed"}
            left = [each for number, each in enumerate(left) if number not in refused]
        else:
            return


def _actions(table: str, records: Sequence[Attributes]) -> "Iterable[TransactWriteItemTypeDef]":
    """The records' own first, in order, then what they add to."""
    added: dict[str, list[Total]] = {}
    for attributes in records:
        record = record_of(attributes)
        total = counted(record)
        mine = added.setdefault(record.org, [])
        mine.append(total)
        if "counted_as" in attributes:
            before = schema.loads(unpacked(attributes["counted_as"]), _total_of)
            mine.append(Total(before.bucket, -before.counts))
        noted = {":total": packed(asdict(total))} if record.outcome == LOST else {}
        yield {
            "Update": {
                "TableName": table,
                "Key": address_of(attributes),
                "UpdateExpression": "SET counted_as = :total REMOVE open_shard"
                if noted
                else "REMOVE open_shard, counted_as",
                "ConditionExpression": "attribute_exists(open_shard) AND settled_by = :call",
                "ExpressionAttributeValues": {":call": attributes["settled_by"], **noted},
            }
        }
    shard = zlib.crc32(records[0]["pk"]["S"].encode()) % TOTAL_SHARDS
    for org, totals in added.items():
        for total in summed(totals):
            yield _addition(table, org, shard, total)


def _addition(table: str, org: str, shard: int, total: Total) -> "TransactWriteItemTypeDef":
    bucket = total.bucket
    name = sha256("\0".join((bucket.key_id, bucket.model, bucket.task)).encode()).hexdigest()[:32]
    address = {"pk": text(_partitions(org)[shard]), "sk": text(f"{_edge(bucket.quarter)}#{name}")}
    said = {
        "quarter": number(bucket.quarter),
        "key_id": text(bucket.key_id),
        "model": text(bucket.model),
        "task": text(bucket.task),
        **owned_by(org, f"{address['pk']['S']}#{address['sk']['S']}"),
    }
    added = {name: number(count) for name, count in asdict(total.counts).items() if count}
    names = [*said, *added]
    placed = {name: f"#{place} :{place}" for place, name in enumerate(names)}
    return {
        "Update": {
            "TableName": table,
            "Key": address,
            "UpdateExpression": f"SET {', '.join(placed[name].replace(' ', ' = ') for name in said)} "
            f"ADD {', '.join(placed[name] for name in added)}",
            "ExpressionAttributeNames": {f"#{place}": name for place, name in enumerate(names)},
            "ExpressionAttributeValues": {
                f":{place}": value for place, value in enumerate([*said.values(), *added.values()])
            },
        }
    }


def _part(client: "DynamoDBClient", table: str, partition: str, quarters: range, by: frozenset[By]) -> list[Total]:
    found: list[Total] = []
    for page in query_pages(
        client,
        TableName=table,
        KeyConditionExpression="pk = :partition AND sk BETWEEN :first AND :end",
        ExpressionAttributeValues={
            ":partition": text(partition),
            ":first": text(_edge(quarters.start)),
            # No item has this key itself: what belongs to that quarter has a name behind it.
            ":end": text(_edge(quarters.stop)),
        },
        ConsistentRead=True,
    ):
        # Added up page by page, so that a long time takes little memory.
        found = summed([*found, *map(_total_at, page)], by)
    return found


def _catch_up(client: "DynamoDBClient", table: str, now_ms: int, limit: int) -> int:
    done = 0
    known_ms = now_ms - OPENING_MS
    for shard in open_shards():
        for page in query_pages(
            client,
            TableName=table,
            IndexName=BY_LEASE,
            KeyConditionExpression="open_shard = :shard",
            ExpressionAttributeValues={":shard": text(shard)},
        ):
            for entry in page:
                is_late = "settled_ms" in entry and int(entry["lease_until_ms"]["N"]) < now_ms
                if is_late and done < limit and _count_late(client, table, entry):
                    done += 1
                    continue
                # An entry without the time is of a version that did not count: of its time nothing is known.
                known_ms = min(known_ms, int(entry["created_ms"]["N"]) if "created_ms" in entry else 0)
    client.put_item(TableName=table, Item={**_COMPLETE, "complete_until_ms": number(known_ms)})
    return done


def _count_late(client: "DynamoDBClient", table: str, entry: Attributes) -> bool:
    """Count a record that the index shows; False for one that cannot be read, which stays uncounted."""
    record = get(client, table, address_of(entry))
    # The index may lag behind.
    if record is not None and "open_shard" in record:
        try:
            count_all(client, table, [record])
        except StoreUnavailable:
            return False
    return True


def _partitions(org: str) -> list[str]:
    return [f"TOTAL#{org}#{shard}" for shard in range(TOTAL_SHARDS)]


def _edge(quarter: int) -> str:
    return f"{quarter:012d}"


def _total_at(item: Attributes) -> Total:
    bucket = Bucket(int(item["quarter"]["N"]), item["key_id"]["S"], item["model"]["S"], item["task"]["S"])
    return Total(bucket, Counts(*(int(item[name]["N"]) if name in item else 0 for name in COUNTS)))


def _total_of(item: schema.Item) -> Total:
    return Total(Bucket(**item["bucket"]), Counts(**item["counts"]))
