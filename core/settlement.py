"""Keeps the account of one request: its record, its attempts, what they cost; settles it once."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from core.accounts.charges import attempt_row, charged_usage, request_charge
from core.catalog.model import Target
from core.chat import Json, Usage
from core.errors import GatewayError, OwnKeyFailure, StoreUnavailable, UpstreamFailure
from core.execute import AttemptEnded
from core.holding import Holding
from core.money import Charge, Terms
from core.parts import Parts
from core.record import LOST, AttemptRow, Record, settled
from core.reservation import Amount
from core.waiting import finish_by

LEASE_S = 90
"""How long what a process holds stays taken after it has died."""

RENEWED_S = 30
MOST_SILENT_S = 900
"""A lease is not renewed for a request of which nothing was heard for so long: no plan waits like that."""

OPEN_S = 1.0
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
        terms: What the organisation pays on top of the hosts' prices.
        holding: What the request holds of limits; it is settled after the record.
    """

    def __init__(self, parts: Parts, record: Record, terms: Terms, holding: Holding) -> None:
        self._parts = parts
        self._record = record
        self._rows: list[AttemptRow] = []
        self._opening = parts.background.start(self._open())
        self._marking = self._opening
        self._heard = parts.clock.monotonic()
        # Not in the background's care: who waits for that to be idle does not wait for requests that are under way.
        self._renewing = asyncio.ensure_future(self._keep_lease())
        self.terms = terms
        self.holding = holding

    @property
    def rows(self) -> tuple[AttemptRow, ...]:
        """The attempts so far."""
        return tuple(self._rows)

    @property
    def came_to(self) -> Amount:
        """What the attempts so far came to."""
        charge, usage = request_charge(self._rows, self.terms), charged_usage(self._rows)
        return Amount(charge.total if charge else 0, usage.input_tokens + usage.output_tokens if usage else 0)

    async def opened(self) -> None:
        """Return once the record is kept, in the store or in the spill."""
        await asyncio.shield(self._opening)

    def alive(self) -> None:
        """Note that something was heard of the request."""
        self._heard = self._parts.clock.monotonic()

    def mark(self, target: Target, ms: int, likely_pico: Fraction | None) -> None:
        """Note the attempts so far, and the one that now serves, on the open record. Nobody waits for it.

        Args:
            target: The host that serves.
            ms: How long its attempt took until now.
            likely_pico: What it probably asks for the answer, in pico-dollars, or None.
        """
        likely_pico = likely_pico if target.owner is None else None
        own_key = target.owner is not None
        row = AttemptRow(target.model.id, target.name, LOST, ms, likely_pico=likely_pico, own_key=own_key)
        marked = replace(self._record, attempts=(*self._rows, row), model=target.model.id)
        self._marking = self._parts.background.start(self._mark(marked, self._marking))

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
        if isinstance(error, OwnKeyFailure):
            self._parts.background.start(self._parts.own_keys.failed(self._record.org, step.target.vendor.name))
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
        upstream_finish_reason: str | None = None,
        error: GatewayError | None = None,
    ) -> Settlement:
        """Price the attempts and make the record final; one that the store does not take goes to the spill."""
        self._renewing.cancel()
        terms = self.terms
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
            upstream_finish_reason=upstream_finish_reason,
            error_code=error.code if error else None,
            decision=decision,
        )
        # A task of its own: a caller who leaves now must not undo it.
        await asyncio.shield(self._parts.background.start(self._keep(record)))
        self._parts.sharing.after_response()
        return Settlement(record.usage, record.charge, rows, terms, record.latency_ms or 0, ttft_ms)

    async def _open(self) -> None:
        clock = self._parts.clock
        try:
            await finish_by(clock, clock.monotonic() + OPEN_S, self._parts.store.open(self._record))
        except (StoreUnavailable, TimeoutError):
            self._parts.journal.spill(self._record)

    async def _keep_lease(self) -> None:
        """Extend the lease again and again, also while the host is silent; until the request is settled."""
        clock = self._parts.clock
        moment = clock.monotonic() + RENEWED_S
        while moment < self._heard + MOST_SILENT_S:
            await clock.sleep_until(moment)
            lease_until_ms = round((clock.now() + LEASE_S) * 1000)
            self._record = replace(self._record, lease_until_ms=lease_until_ms)
            self._parts.background.start(self._renew(self._record))
            moment += RENEWED_S

    async def _renew(self, record: Record) -> None:
        # Another try comes with the next third of the lease.
        with suppress(StoreUnavailable):
            await self._parts.store.renew(record.org, record.request_id, record.lease_until_ms)

    async def _mark(self, record: Record, before: "asyncio.Task[None]") -> None:
        await before
        with suppress(StoreUnavailable):
            await self._parts.store.mark(record)

    async def _keep(self, record: Record) -> None:
        clock = self._parts.clock
        try:
            await finish_by(clock, clock.monotonic() + SETTLE_S, self._parts.store.settle(record))
        except (StoreUnavailable, TimeoutError):
            self._parts.journal.spill(record)
        finally:
            # The answer does not wait for it.
            self._parts.background.start(self.holding.settle(record))
