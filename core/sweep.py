"""Settles the records that a dead process left open: only what hosts reported is charged."""

from contextlib import suppress
from typing import Final

from core.accounts.charges import charged_usage, request_charge, terms_of
from core.accounts.limits import KEEP_MS, used_by
from core.errors import StoreUnavailable
from core.money import Terms
from core.ports import Clock, Store
from core.record import LOST, Record, settled
from core.surfaces.decision import attempted
from core.workspace import Workspace

EVERY_S: Final = 60.0
MOST_AT_ONCE: Final = 200
"""Records in one round: what a crash of a busy process leaves takes a few minutes, and nobody waits for it."""


async def sweep(store: Store, now_ms: int, limit: int) -> list[Record]:
    """Settle records whose lease has passed, and end what they hold of limits.

    Who settles a record first wins; a process that was only slow may correct it once.

    Args:
        store: Where they are.
        now_ms: Unix time in milliseconds.
        limit: The most to look at.

    Returns:
        Those that were settled by this call.

    Raises:
        StoreUnavailable: The store cannot be reached. Sweeping again goes on from there.
    """
    swept: list[Record] = []
    workspaces: dict[str, Workspace | None] = {}
    for overdue in await store.overdue(now_ms, limit):
        # Looking again leaves only a moment in which a lease that is renewed now would be passed over.
        record = await store.record(overdue.org, overdue.request_id)
        if record is None or record.is_settled or record.lease_until_ms >= now_ms:
            continue
        if record.org not in workspaces:
            workspaces[record.org] = await store.workspace(record.org)
        lost = given_up(record, workspaces[record.org], now_ms)
        if await store.settle(lost):
            swept.append(lost)
            await _release(store, lost, now_ms)
    return swept


def given_up(record: Record, workspace: Workspace | None, now_ms: int) -> Record:
    """An open record as it is settled when nobody comes back for it.

    Its attempts are those that were noted on it, one that was under way included: what its host had reported is
    charged, and nothing else, whatever it asks for it (the contract, section 3).
    """
    terms = Terms() if workspace is None else terms_of(workspace)
    shown = record.decision
    if record.attempts:
        model = record.model or record.attempts[-1].model
        shown = attempted(shown, model=model, attempts=record.attempts, terms=terms)
    return settled(
        record,
        outcome=LOST,
        attempts=record.attempts,
        usage=charged_usage(record.attempts),
        charge=request_charge(record.attempts, terms),
        settled_ms=now_ms,
        decision=shown,
    )


async def keep_swept(store: Store, clock: Clock) -> None:
    """Sweep now and every minute, and count what is left to count; until cancelled. A store that is away is left alone
    until the next minute."""
    while True:
        now_ms = round(clock.now() * 1000)
        with suppress(StoreUnavailable):
            await sweep(store, now_ms, MOST_AT_ONCE)
            await store.catch_up(now_ms, MOST_AT_ONCE)
        await clock.sleep_until(clock.monotonic() + EVERY_S)


async def _release(store: Store, record: Record, now_ms: int) -> None:
    if record.reservation is not None:
        # The process may only be slow: what it counts for can still be corrected.
        await store.settle_reservation(record.reservation, used_by(record), now_ms, keep_until_ms=now_ms + KEEP_MS)
