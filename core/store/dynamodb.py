"""The store in two DynamoDB tables: the one of Lambda, where many processes share it.

Every write is one conditional request on one item, or writes the same again when it is repeated; so a repeat after a
lost answer changes nothing. A settle that was repeated still knows whether it was the one that settled: each call
leaves a token of its own in the item, and a try that was refused or failed looks whose is there. When even that look
fails, the call fails and the outcome is unknown; settling again later is safe, and tells that it was settled before.

Layout and indexes are described in `dynamodb_items`. Reads are consistent, except that the indexes may lag behind by
moments: a record can be missing from lists while it is new, and each overdue record is checked before it is returned.
"""

from collections.abc import Mapping, Sequence
from uuid import uuid4

from core.ports import ToolTurn
from core.record import Record
from core.store import dynamodb_items as items
from core.store import dynamodb_ledger as ledger
from core.store.dynamodb_answers import DynamoAnswers
from core.store.dynamodb_calls import get, read_all, write_all
from core.store.dynamodb_deletion import DynamoDeletion
from core.store.dynamodb_directory import DynamoDirectory
from core.store.dynamodb_health import DynamoHealth
from core.store.dynamodb_limits import DynamoLimits, Pause, no_pause
from core.store.dynamodb_opinions import DynamoOpinions
from core.store.dynamodb_threads import DynamoThreads, MakeClient, client_maker
from core.store.dynamodb_totals import DynamoTotals
from core.store.schema import tool_turn_item

RECALL_MS = 86_400_000


class DynamoStore(
    DynamoDirectory, DynamoDeletion, DynamoOpinions, DynamoHealth, DynamoTotals, DynamoLimits, DynamoAnswers
):
    """The `Store` port on DynamoDB; no client is made before it is needed.

    Args:
        config_table: Name of the table of organisations and keys.
        ledger_table: Name of the table of records and tool turns, with its two indexes.
        client: Makes the client, which is closed with the store; by default for the environment's region and account.
        threads: The most calls at a time.
        retention_days: How long records are kept.
        pause: Waits between two tries at an item that others are writing; not at all by default.
    """

    def __init__(
        self,
        config_table: str,
        ledger_table: str,
        *,
        client: "MakeClient | None" = None,
        threads: int = 8,
        retention_days: int = 90,
        pause: Pause = no_pause,
    ) -> None:
        self._pause = pause
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
        item = items.record_attributes(record, self._retention_days)
        await self._on_ledger(lambda client, table: ledger.put_if_absent(client, table, item))

    async def renew(self, org: str, request_id: str, lease_until_ms: int) -> None:
        """Extend the lease of an open record; an earlier moment than the present one is ignored."""
        address = items.record_address(org, request_id)
        await self._on_ledger(lambda client, table: ledger.extend_lease(client, table, address, lease_until_ms))

    async def mark(self, record: Record) -> None:
        """Note the attempts so far on an open record; see `Ledger.mark`."""
        item = items.record_attributes(record, self._retention_days)
        await self._on_ledger(lambda client, table: ledger.note(client, table, item))

    async def settle(self, record: Record) -> bool:
        """Make a record final; see `Ledger.settle`.

        Raises:
            ValueError: The record is not settled.
        """
        if not record.is_settled:
            raise ValueError("a record that is not settled cannot be kept as final")
        item = items.record_attributes(record, self._retention_days)
        item["settled_by"] = items.text(uuid4().hex)
        return await self._on_ledger(lambda client, table: ledger.settle_once(client, table, item))

    async def record(self, org: str, request_id: str) -> Record | None:
        """One record of that organisation, or None."""
        address = items.record_address(org, request_id)
        found = await self._on_ledger(lambda client, table: get(client, table, address))
        return None if found is None else items.record_of(found)

    async def any_record(self, request_id: str) -> Record | None:
        """The record of that id, whichever organisation's it is, or None."""
        found = await self._on_ledger(lambda client, table: ledger.of_any_organisation(client, table, request_id))
        return None if found is None else items.record_of(found)

    async def records(self, org: str, limit: int, before: str | None = None) -> Sequence[Record]:
        """The organisation's newest records, newest first; see `Ledger.records`."""
        found = await self._on_ledger(lambda client, table: ledger.newest(client, table, org, limit, before))
        records = [items.record_of(item) for item in found]
        return sorted(records, key=lambda record: record.request_id, reverse=True)

    async def overdue(self, now_ms: int, limit: int) -> Sequence[Record]:
        """Open records whose lease has passed, the earliest lease first."""
        found = await self._on_ledger(lambda client, table: ledger.overdue(client, table, now_ms, limit))
        records = [items.record_of(item) for item in found]
        # The index may still show what was settled or renewed a moment ago.
        due = [one for one in records if not one.is_settled and one.lease_until_ms < now_ms]
        return sorted(due, key=lambda record: (record.lease_until_ms, record.request_id))

    async def remember(self, org: str, call_ids: Sequence[str], turn: ToolTurn, now_ms: int) -> None:
        """Keep a turn under each of its calls' ids, for 24 hours."""
        # Packed once: thinking is large.
        item = items.packed(tool_turn_item(turn))
        turns = [items.tool_attributes(org, call_id, item, now_ms + RECALL_MS) for call_id in dict.fromkeys(call_ids)]
        await self._on_ledger(lambda client, table: write_all(client, table, turns))

    async def recall(self, org: str, call_ids: Sequence[str], now_ms: int) -> Mapping[str, ToolTurn]:
        """The turns that are known and not expired, by call id."""
        addresses = [items.tool_address(org, call_id) for call_id in dict.fromkeys(call_ids)]
        found = await self._on_ledger(lambda client, table: read_all(client, table, addresses))
        return dict(items.tool_turn_of(item) for item in found if items.lives_at(item, now_ms))

    async def ping(self) -> None:
        """Return if both tables can be read."""
        nothing = items.organisation_address("")
        await self._on_config(lambda client, table: get(client, table, nothing))
        await self._on_ledger(lambda client, table: get(client, table, nothing))

    async def close(self) -> None:
        """Finish calls under way and let go of threads and sockets; a second time does nothing."""
        await self._threads.close()
