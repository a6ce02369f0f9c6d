"""Holds what one request may take of its limits: taken before the first call, raised before others, settled once.

Where the store is away, nothing is let through that has limits. Whatever is lost on the way, a lease ends it.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, suppress
from typing import Final, TypeAlias

from core.accounts.limits import bounds_of, counts, ending, refusal, reservation_of, used_by, window
from core.attempt import Batch
from core.catalog.model import Target
from core.counters import REQUESTS, TOKENS
from core.demand import Demand
from core.errors import StoreUnavailable
from core.parts import Parts
from core.record import Record
from core.reservation import Admission, Amount, Reservation, Standing
from core.surfaces.headers import limit_headers
from core.waiting import finish_by, from_store

Calls: TypeAlias = Callable[[Target], AsyncGenerator[Batch, None]]
"""Starts an upstream call; see `core.execute`."""

READ_S: Final = 0.5
"""How long an answer waits to be told what is left of its limits."""

MOST_ENDED: Final = 16
"""How many expired holds one refused request looks at."""


class Holding:
    """What one request holds.

    Args:
        parts: The collaborators.
        org: The organisation.
        request_id: The request.
        at_ms: When it began, in Unix milliseconds; it takes of the limits of that moment.
        demand: What it may take, None where nothing limits it.
    """

    def __init__(self, parts: Parts, org: str, request_id: str, at_ms: int, demand: Demand | None) -> None:
        self.reservation: Reservation | None = None
        self._parts = parts
        self._org = org
        self._request_id = request_id
        self._at_ms = at_ms
        self._demand = demand
        self._most = Amount()
        self._expires_ms = at_ms
        self._standings: Mapping[str, Standing | None] = {}
        self._asking: asyncio.Task[Admission] | None = None
        self._reading: asyncio.Task[None] | None = None

    async def take(self, expires_ms: int) -> None:
        """Take what the first call may come to.

        Args:
            expires_ms: When others may end the hold, in Unix milliseconds.

        Raises:
            PaymentRequired, RateLimited: There is no room.
            StoreUnavailable: The limits cannot be checked.
        """
        demand = self._demand
        if demand is None:
            return
        self._expires_ms = expires_ms
        try:
            await self._hold(demand, demand.call)
        except (asyncio.CancelledError, StoreUnavailable):
            # It may have been taken, or may yet be.
            self._parts.background.start(self._undo(self._asked(demand, demand.call)))
            raise
        if None in self._standings.values() and (counts(demand.limited, REQUESTS) or counts(demand.limited, TOKENS)):
            self._reading = self._parts.background.start(self._read())

    def covered(self, calls: Calls, came_to: Callable[[], Amount], *, again: bool = False) -> Calls:
        """Calls that are held before they begin, beside what the request came to by then.

        One for which there is no room fails with what is told then.

        Args:
            calls: Starts the call to a target; iterating it sends the request.
            came_to: What all calls until then came to.
            again: Whether they ask once more for an answer.
        """
        demand = self._demand
        if demand is None:
            return calls

        async def call(target: Target) -> AsyncGenerator[Batch, None]:
            await self._raise(demand, came_to(), demand.again if again else demand.call)
            async with aclosing(calls(target)) as batches:
                async for batch in batches:
                    yield batch

        return call

    async def settle(self, record: Record) -> None:
        """Count what the request came to in place of what it holds. What the store does not take, a lease ends."""
        held = self.reservation
        if held is None:
            return
        await self._answered()
        now_ms = self._now_ms()
        lapsed = {
            subject: standing.lapsed(now_ms) for subject, standing in self._standings.items() if standing is not None
        }
        with suppress(StoreUnavailable):
            await self._parts.store.settle_reservation(held, used_by(record), now_ms, lapsed=lapsed)

    async def headers(self) -> Mapping[str, str]:
        """What an answer says of the limits, once the standings are read; nothing where none of them start anew."""
        if self._reading is not None:
            clock = self._parts.clock
            with suppress(TimeoutError):
                await finish_by(clock, clock.monotonic() + READ_S, asyncio.wait({self._reading}))
        return self.known_headers()

    def known_headers(self) -> Mapping[str, str]:
        """The same, as far as it is known at this moment."""
        demand, now_ms = self._demand, self._now_ms()
        if demand is None:
            return {}
        requests, tokens = (
            window(demand.limited, unit, self._at_ms, self._standings, now_ms) for unit in (REQUESTS, TOKENS)
        )
        return limit_headers(requests, tokens)

    async def _raise(self, demand: Demand, came_to: Amount, call: Amount) -> None:
        """Hold a further call too."""
        most = Amount(
            max(self._most.micros, came_to.micros + call.micros), max(self._most.tokens, came_to.tokens + call.tokens)
        )
        if most != self._most:
            await self._hold(demand, most)

    async def _hold(self, demand: Demand, most: Amount) -> None:
        asked = self._asked(demand, most)
        admission = await from_store(self._parts.clock, self._admission(demand, asked))
        self._standings = admission.standings
        if not admission.is_taken:
            failure = refusal(demand.limited, asked, self._at_ms, admission.standings, self._now_ms())
            failure.headers = self.known_headers()
            raise failure
        self.reservation, self._most = asked, most

    async def _admission(self, demand: Demand, asked: Reservation) -> Admission:
        admission = await self._ask(demand, asked)
        if not admission.is_taken and await self._end_expired(admission.standings):
            admission = await self._ask(demand, asked)
        return admission

    def _asked(self, demand: Demand, most: Amount) -> Reservation:
        return reservation_of(demand.limited, self._org, self._request_id, self._at_ms, self._expires_ms, most)

    async def _ask(self, demand: Demand, asked: Reservation) -> Admission:
        bounds = bounds_of(demand.limited, self._at_ms)
        # A task of its own: what is settled while it goes on must wait for it.
        self._asking = self._parts.background.start(self._parts.store.reserve(asked, bounds))
        return await asyncio.shield(self._asking)

    async def _answered(self) -> None:
        if self._asking is not None and not self._asking.done():
            await asyncio.wait({self._asking})

    async def _undo(self, asked: Reservation) -> None:
        await self._answered()
        with suppress(StoreUnavailable):
            await self._parts.store.settle_reservation(asked, Amount(requests=0), self._now_ms())

    async def _end_expired(self, standings: Mapping[str, Standing | None]) -> bool:
        """End what processes that died still hold of what refused; whether anything was ended."""
        now_ms = self._now_ms()
        found = [
            (request_id, subject, standing.held[request_id])
            for subject, standing in standings.items()
            if standing is not None
            for request_id in standing.expired(now_ms)
        ]
        any_ended = False
        for request_id, subject, held in found[:MOST_ENDED]:
            end = ending(held, await self._parts.store.record(self._org, request_id), now_ms)
            if end is None:
                continue
            used, keep_until_ms = end
            hold = Reservation(self._org, request_id, held.expires_ms, {subject: held.amounts})
            await self._parts.store.settle_reservation(hold, used, now_ms, keep_until_ms=keep_until_ms)
            any_ended = True
        return any_ended

    async def _read(self) -> None:
        with suppress(StoreUnavailable):
            self._standings = await self._parts.store.standings(self._org, tuple(self._standings))

    def _now_ms(self) -> int:
        return round(self._parts.clock.now() * 1000)
