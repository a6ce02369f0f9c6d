"""Keeps the account of one request: its record, its attempts, what they cost; settles it once."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from core.accounts.charges import attempt_row, charged_usage, request_charge, terms_of
from core.catalog.model import Target
from core.chat import Json, Usage
from core.errors import GatewayError, StoreUnavailable, UpstreamFailure
from core.execute import AttemptEnded
from core.money import Charge, Terms
from core.parts import Parts
from core.record import AttemptRow, Record, settled
from core.waiting import finish_by

LEASE_S = 900
SETTLE_S = 1.0


@dataclass(frozen=True, slots=True)
class Settlement:
    """What was charged in the end. Times are in milliseconds; `charge` is None while a price is unknown."""

    usage: Usage | None
    charge: Charge | None
    attempts: tuple[AttemptRow, ...]
    terms: Terms
    latency_ms: int
    ttft_ms: int | None


class Account:
    """One request's account.

    Args:
        parts: The collaborators.
        record: The open record; opening it in the store starts at once and is awaited by `opened`.
    """

    def __init__(self, parts: Parts, record: Record) -> None:
        self._parts = parts
        self._record = record
        self._rows: list[AttemptRow] = []
        self._opening = parts.background.start(self._open())
        self._organisation = parts.background.start(self._look_up_terms())

    @property
    def rows(self) -> tuple[AttemptRow, ...]:
        """The attempts so far."""
        return tuple(self._rows)

    async def opened(self) -> None:
        """Return once the record is kept, in the store or in the spill."""
        await asyncio.shield(self._opening)

    async def terms(self) -> Terms:
        """What the organisation pays on top of the hosts' prices; list prices when it cannot be looked up."""
        return await asyncio.shield(self._organisation)

    def ended(self, step: AttemptEnded, estimate: Usage | None = None) -> None:
        """Add an attempt. `estimate` stands for the usage that a host which served did not report."""
        error = step.error
        self._parts.router.health.note(step.target, error, step.ms, step.ttft_ms, self._parts.clock.now())
        reported = step.usage if step.usage is not None or error is not None else estimate
        upstream = error if isinstance(error, UpstreamFailure) else None
        if upstream is not None:
            self._parts.journal.attempt_failed(self._record.request_id, step.target.name, upstream.detail)
        elif error is not None and error.__cause__ is not None:
            self._parts.journal.fault(self._record.request_id, error)
        self._rows.append(
            attempt_row(
                step.target,
                step.outcome,
                step.ms,
                reported,
                self._record.created_ms / 1000,
                upstream_status=upstream.upstream_status if upstream else None,
                upstream_code=upstream.upstream_code if upstream else None,
            )
        )

    def left(self, target: Target, ms: int, usage: Usage | None) -> None:
        """Add the attempt that was under way when its caller left."""
        self._rows.append(attempt_row(target, "caller_left", ms, usage, self._record.created_ms / 1000))

    async def settle(
        self,
        outcome: str,
        *,
        decision: Mapping[str, Json],
        model: str | None = None,
        ttft_ms: int | None = None,
        finish_reason: str | None = None,
        error: GatewayError | None = None,
    ) -> Settlement:
        """Price the attempts and make the record final; one that the store does not take goes to the spill."""
        terms = await self.terms()
        rows = self.rows
        record = settled(
            self._record,
            outcome=outcome,
            attempts=rows,
            usage=charged_usage(rows),
            charge=request_charge(rows, terms),
            settled_ms=round(self._parts.clock.now() * 1000),
            ttft_ms=ttft_ms,
            model=model,
            finish_reason=finish_reason,
            error_code=error.code if error else None,
            decision=decision,
        )
        # A task of its own: a caller who leaves now must not undo it.
        await asyncio.shield(self._parts.background.start(self._keep(record)))
        return Settlement(record.usage, record.charge, rows, terms, record.latency_ms or 0, ttft_ms)

    async def _open(self) -> None:
        try:
            await self._parts.store.open(self._record)
        except StoreUnavailable:
            self._parts.journal.spill(self._record)

    async def _keep(self, record: Record) -> None:
        clock = self._parts.clock
        try:
            await finish_by(clock, clock.monotonic() + SETTLE_S, self._parts.store.settle(record))
        except (StoreUnavailable, TimeoutError):
            self._parts.journal.spill(record)

    async def _look_up_terms(self) -> Terms:
        try:
            return terms_of(await self._parts.directory.organisation(self._record.org))
        except StoreUnavailable:
            return Terms()
