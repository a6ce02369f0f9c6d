"""The store in two DynamoDB tables: the one of Lambda, where many processes share it.

Every write is one conditional request on one item, or writes the same again when it is repeated; so a repeat after a lost
answer changes nothing. A settle that was repeated still knows whether it was the one that settled: each call leaves a
token of its own in the item, and a refused or failed try looks whose is there. Layout and indexes are described in
`dynamodb_items`. Reads are consistent, except that the two indexes may lag behind by moments: a record can be missing
from a list while it is new, and `overdue` checks each record itself before it is returned.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

from botocore.exceptions import BotoCoreError, ClientError

from core.ports import ToolTurn
from core.record import Record
from core.store import schema
from core.store.dynamodb_batches import query, read_all, write_all
from core.store.dynamodb_faults import found_instead, refused_by_condition
from core.store.dynamodb_items import (
    BY_LEASE,
    BY_ORG,
    Attributes,
    key_address,
    number,
    open_shards,
    org_shards,
    organisation_address,
    packed,
    record_address,
    record_attributes,
    record_of,
    text,
    tool_address,
    tool_attributes,
    unpacked,
)
from core.store.dynamodb_threads import DynamoThreads, MakeClient, client_maker
from core.tenant import Key, Organisation

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

RECALL_MS = 86_400_000


class DynamoStore:
    """The `Store` port on DynamoDB; no client is made before it is needed.

    Args:
        config_table: Name of the table of organisations and keys.
        ledger_table: Name of the table of records and tool turns, with its two indexes.
        client: Makes the client, which is closed with the store; by default for the environment's region and account.
        threads: The most calls at a time.
        retention_days: How long records are kept.
    """

    def __init__(
        self,
        config_table: str,
        ledger_table: str,
        *,
        client: MakeClient | None = None,
        threads: int = 8,
        retention_days: int = 90,
    ) -> None:
        self._config = config_table
        self._ledger = ledger_table
        self._retention_days = retention_days
        self._threads = DynamoThreads(client or client_maker(threads), threads)

    async def open(self, record: Record) -> None:
        """Keep an open record; see `Ledger.open`.

        Raises:
            ValueError: The record is settled.
        """
        if record.is_settled:
            raise ValueError("a settled record cannot be opened")
        item = record_attributes(record, self._retention_days)

        def work(client: "DynamoDBClient") -> None:
            with unless_refused():
                client.put_item(
                    TableName=self._ledger, Item=item, ConditionExpression="attribute_not_exists(pk)"
                )

        await self._threads.do(self._ledger, work)

    async def renew(self, org: str, request_id: str, lease_until_ms: int) -> None:
        """Extend the lease of an open record; an earlier moment than the present one is ignored."""

        def work(client: "DynamoDBClient") -> None:
            with unless_refused():
                client.update_item(
                    TableName=self._ledger,
                    Key=record_address(org, request_id),
                    UpdateExpression="SET lease_until_ms = :lease",
                    # A record that is not there has no lease to be earlier.
                    ConditionExpression="attribute_not_exists(settled_ms) AND lease_until_ms < :lease",
                    ExpressionAttributeValues={":lease": number(lease_until_ms)},
                )

        await self._threads.do(self._ledger, work)

    async def settle(self, record: Record) -> bool:
        """Make a record final; see `Ledger.settle`.

        Raises:
            ValueError: The record is not settled.
        """
        if not record.is_settled:
            raise ValueError("a record that is not settled cannot be kept as final")
        token = text(uuid4().hex)
        item = record_attributes(record, self._retention_days) | {"settled_by": token}
        address = record_address(record.org, record.request_id)

        def work(client: "DynamoDBClient") -> bool:
            try:
                client.put_item(
                    TableName=self._ledger,
                    Item=item,
                    ConditionExpression="attribute_not_exists(settled_ms)",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
            except (ClientError, BotoCoreError) as error:
                # The client repeats what went unanswered: whatever the last try says, an earlier one may have been
                # carried out.
                if refused_by_condition(error):
                    found = found_instead(error)
                else:
                    found = self._get(client, self._ledger, address, otherwise=error)
                    if "settled_ms" not in found:
                        raise
                return found.get("settled_by") == token
            return True

        return await self._threads.do(self._ledger, work)
