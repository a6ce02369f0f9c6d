"""The Lambda function behind the ledger table's stream: counts each settled record in the totals, once.

Lambda brings changes at least once, in order per item; a batch of which something failed comes again from there on
(AWS Lambda developer guide, "Partial batch responses", read 2026-11-30).
"""

import asyncio
import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from aws_lambda_powertools import Logger

from core.errors import StoreUnavailable
from core.store.dynamodb_items import Attributes
from core.store.dynamodb_totals import MOST_COUNTED

Event: TypeAlias = Mapping[str, Any]
Answer: TypeAlias = dict[str, list[dict[str, str]]]


class Counting(Protocol):
    """Where settled records are counted."""

    async def count(self, records: Sequence[Attributes]) -> None:
        """Count settled records that were not counted yet; see `DynamoTotals.count`."""
        ...


class RollupHandler:
    """A Lambda handler for batches of changes.

    Args:
        open_store: Makes the store; called with the first batch.
    """

    def __init__(self, open_store: Callable[[], Counting]) -> None:
        self._open_store = open_store
        self._store: Counting | None = None

    def __call__(self, event: Event, context: object) -> Answer:
        """Count a batch; tells the change from which on it must come again."""
        if self._store is None:
            self._store = self._open_store()
        changes = [change for change in event["Records"] if _is_to_be_counted(change)]
        return {"batchItemFailures": asyncio.run(self._count(self._store, changes))}

    async def _count(self, store: Counting, changes: Sequence[Event]) -> list[dict[str, str]]:
        for start in range(0, len(changes), MOST_COUNTED):
            some = changes[start : start + MOST_COUNTED]
            try:
                await store.count([image_of(change) for change in some])
            except StoreUnavailable:
                # One at a time, so that only what cannot be counted, and what is behind it, comes again.
                failed = await self._first_failure(store, some)
                if failed is not None:
                    return [{"itemIdentifier": failed["dynamodb"]["SequenceNumber"]}]
        return []

    async def _first_failure(self, store: Counting, changes: Sequence[Event]) -> Event | None:
        for change in changes:
            try:
                await store.count([image_of(change)])
            except StoreUnavailable as error:
                Logger(service="headrace-rollup").exception("A settled record was not counted", detail=error.detail)
                return change
        return None


def _is_to_be_counted(change: Event) -> bool:
    """What the event source's filter lets through; there is no filter where the function is called by hand."""
    image = change["dynamodb"].get("NewImage", {})
    return "open_shard" in image and "settled_ms" in image


def image_of(change: Event) -> Attributes:
    """The item after the change; in events, binary values are base64 text."""
    image: Attributes = dict(change["dynamodb"]["NewImage"])
    for name, value in image.items():
        if "B" in value:
            image[name] = {"B": base64.b64decode(value["B"])}
    return image


def _open_store() -> Counting:
    from core.store.dynamodb import DynamoStore
    from functions.settings import environment, read_settings

    settings = read_settings(environment())
    return DynamoStore(settings.config_table or "", settings.ledger_table or "")


handler = RollupHandler(_open_store)
