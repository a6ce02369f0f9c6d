"""Applies records that the store did not take when they were written (docs/adr/0005), as often as one likes."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from enum import Enum

from core.accounts.limits import used_by
from core.ports import Store
from core.record import LOST, Record


class Applied(Enum):
    """What became of a record."""

    SETTLED = "settled"
    """It is final now: it was open, given up for lost, or not there at all."""

    OPENED = "opened"
    """It is open now, and will be swept."""

    KNOWN = "known"
    """It was there already."""


async def replay(
    store: Store, records: Sequence[Record], now_ms: int, *, dry_run: bool = False
) -> AsyncIterator[tuple[Record, Applied]]:
    """Apply records; a second time changes nothing.

    Args:
        store: Where they belong.
        records: Open and settled ones, in any order, each any number of times.
        now_ms: Unix time in milliseconds.
        dry_run: Only look what would be done.

    Yields:
        Each record, and what became of it.

    Raises:
        StoreUnavailable: The store cannot be reached. Replaying again goes on from there.
    """
    seen: dict[tuple[str, str], Record] = {}
    for record in records:
        name = record.org, record.request_id
        found = seen.get(name) or await store.record(*name)
        outcome = _outcome(record, found)
        if not dry_run and outcome is Applied.OPENED:
            await store.open(record)
        elif not dry_run and outcome is Applied.SETTLED and not await _settle(store, record, now_ms):
            outcome = Applied.KNOWN
        if outcome is not Applied.KNOWN:
            seen[name] = record
        yield record, outcome


def tally(outcomes: Sequence[Applied]) -> dict[str, int]:
    """How many there are of each outcome."""
    found = Counter(outcomes)
    return {outcome.value: found[outcome] for outcome in Applied}


def _outcome(record: Record, found: Record | None) -> Applied:
    if record.is_settled:
        is_open = found is None or not found.is_settled
        may_correct = found is not None and found.outcome == LOST and record.outcome != LOST
        return Applied.SETTLED if is_open or may_correct else Applied.KNOWN
    return Applied.OPENED if found is None else Applied.KNOWN


async def _settle(store: Store, record: Record, now_ms: int) -> bool:
    if not await store.settle(record):
        return False
    if record.reservation is not None:
        await store.settle_reservation(record.reservation, used_by(record), now_ms)
    return True
