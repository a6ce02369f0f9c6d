"""Keeps the account of one request: its record, its attempts, what they cost; settles it once."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from core.accounts.charges import attempt_row, charged_usage, request_charge
from core.catalog.model import Target
from core.chat import Json, Usage
from core.errors import GatewayError, OwnKeyFailure, StoreUnavailable, UpstreamFailure
from core.execute import AttemptBegan, AttemptEnded
from core.holding import Holding
from core.money import Charge, Terms
from core.parts import Parts
from core.record import LOST, AttemptRow, Record, settled
from core.reservation import LEASE_S, Amount
from core.waiting import finish_by

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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a request.

    `record` is as it was settled, `error` what kept the answer from being complete. `ended_ms` is when each of the
    record's attempts ended, in Unix milliseconds; `spills` how often the store did not take the record.
    """

    record: Record
    error: GatewayError | None
    ended_ms: tuple[int, ...]
    spills: int


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
        self._ended_ms: list[int] = []
        self._spills = 0
        self._settled: tuple[Record, GatewayError | None, asyncio.Task[None]] | None = None
        self._under_way: AttemptBegan | None = None
        self._likely: Callable[[], Fraction | None] | None = None
        self._noted = self._reported()
        self._opening = parts.background.start(self._open())
        self._marking = self._opening
        self._heard = parts.clock.monotonic()
        self._renewing = parts.clock.call_at(self._heard + RENEWED_S, self._keep_lease)
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
        if not self._opening.done():
            await asyncio.shield(self._opening)

    def alive(self) -> None:
        """Note that something was heard of the request."""
        self._heard = self._parts.clock.monotonic()

    def began(self, step: AttemptBegan) -> None:
        """Note the attempt that is under way."""
        self._under_way, self._likely = step, None

    def mark(self, likely_pico: Callable[[], Fraction | None]) -> None:
        """Note the attempts so far, and the one under way, which serves, on the open record. Nobody waits for it.

        Args:
            likely_pico: What its host probably asks for the answer, in pico-dollars, or None; asked once it is written.
        """
        self._likely = likely_pico
        self._marking = self._parts.background.start(self._mark(self._marking))

    def ended(self, step: AttemptEnded, estimate: Usage | None = None) -> None:
        """Add an attempt. `estimate` stands for the usage that a host which served did not report."""
        self._under_way = None
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
        self._add(
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

    def left(self, estimate: Callable[[Target], Usage] | None) -> None:
        """Add the attempt that was under way when its caller left, if one was.

        Args:
            estimate: What it used where its host reported nothing; None where nothing is charged then.
        """
        if self._under_way is not None:
            target, usage = self._under_way.target, self._under_way.attempt.usage
            if usage is None and estimate is not None:
                usage = estimate(target)
            self._add(self._row_under_way(self._under_way, "caller_left", usage))
            self._under_way = None

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
        keeping = self._parts.background.start(self._keep(record))
        self._settled = record, error, keeping
        await asyncio.shield(keeping)
        self._parts.sharing.after_response()
        return Settlement(record.usage, record.charge, rows, terms, record.latency_ms or 0, ttft_ms)

    async def outcome(self) -> Outcome | None:
        """What came of the request, once its record is kept; None if it was never settled."""
        if self._settled is None:
            return None
        record, error, keeping = self._settled
        await asyncio.wait([keeping])
        return Outcome(record, error, tuple(self._ended_ms), self._spills)

    def _add(self, row: AttemptRow) -> None:
        self._rows.append(row)
        self._ended_ms.append(round(self._parts.clock.now() * 1000))

    def _spill(self, record: Record) -> None:
        self._spills += 1
        self._parts.journal.spill(record)

    async def _open(self) -> None:
        clock = self._parts.clock
        try:
            await finish_by(clock, clock.monotonic() + OPEN_S, self._parts.store.open(self._record))
        except (StoreUnavailable, TimeoutError):
            self._spill(self._record)

    def _keep_lease(self) -> None:
        """Extend the lease, now and again and again, also while the host is silent; until the request is settled."""
        clock = self._parts.clock
        lease_until_ms = round((clock.now() + LEASE_S) * 1000)
        self._record = replace(self._record, lease_until_ms=lease_until_ms)
        self._parts.background.start(self._renew(self._record))
        moment = clock.monotonic() + RENEWED_S
        if moment < self._heard + MOST_SILENT_S:
            self._renewing = clock.call_at(moment, self._keep_lease)

    async def _renew(self, record: Record) -> None:
        # Another try comes with the next third of the lease.
        with suppress(StoreUnavailable):
            await self._parts.store.renew(record.org, record.request_id, record.lease_until_ms)
        if self._noted != self._reported():
            self._marking = self._parts.background.start(self._mark(self._marking))

    async def _mark(self, before: "asyncio.Task[None]") -> None:
        await before
        if self._settled is not None:
            return
        noted, record = self._reported(), replace(self._record, attempts=self.rows)
        if self._under_way is not None:
            row = self._row_under_way(self._under_way, LOST, self._under_way.attempt.usage)
            if self._likely is not None:
                likely = None if row.own_key else self._likely()
                row, record = replace(row, likely_pico=likely), replace(record, model=row.model)
            record = replace(record, attempts=(*record.attempts, row))
        with suppress(StoreUnavailable):
            await self._parts.store.mark(record)
            self._noted = noted

    def _reported(self) -> tuple[object, ...]:
        """What hosts told until now, as far as it would be charged."""
        return len(self._rows), None if self._under_way is None else self._under_way.attempt.usage

    def _row_under_way(self, began: AttemptBegan, outcome: str, usage: Usage | None) -> AttemptRow:
        ms = round((self._parts.clock.monotonic() - began.attempt.started) * 1000)
        return attempt_row(began.target, outcome, ms, usage, self._record.created_ms / 1000)

    async def _keep(self, record: Record) -> None:
        clock = self._parts.clock
        try:
            await finish_by(clock, clock.monotonic() + SETTLE_S, self._parts.store.settle(record))
        except (StoreUnavailable, TimeoutError):
            self._spill(record)
        finally:
            # The answer does not wait for it.
            if self.holding.reservation is not None:
                self._parts.background.start(self.holding.settle(record))
