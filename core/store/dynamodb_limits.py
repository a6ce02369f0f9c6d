"""Limits on DynamoDB: one conditional update takes what a request asks for at one subject, one transaction at two.

Nothing is read first and hoped for. What a request holds already is part of the condition, so a repeat after a lost
answer is refused, finds its own work in the item that refused it, and is content. Transactions that meet are cancelled
by DynamoDB and tried again, each time after a longer wait.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from botocore.exceptions import ClientError

from core.reservation import Admission, Amount, Change, Counters, Held, Reservation, Standing, settling, taking
from core.store.dynamodb_calls import read_all
from core.store.dynamodb_faults import (
    contended,
    found_in_transaction,
    found_instead,
    may_pass,
    refused_by_condition,
    refused_in_transaction,
    unavailable,
)
from core.store.dynamodb_limit_items import limit_address, standing_of, update
from core.store.dynamodb_tables import DynamoTables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Pause: TypeAlias = Callable[[float], Awaitable[None]]
"""Waits for up to that many seconds, at random."""

MOST_TRIES: Final = 12
FIRST_WAIT_S: Final = 0.02
LONGEST_WAIT_S: Final = 0.3


async def no_pause(seconds: float) -> None:
    """The pause of those who do not wait."""


@dataclass(frozen=True, slots=True)
class _Written:
    standing: Standing | None


@dataclass(frozen=True, slots=True)
class _Refused:
    standings: Sequence[Standing | None]


@dataclass(frozen=True, slots=True)
class _Outpaced:
    error: ClientError


class DynamoLimits(DynamoTables):
    """The limits, for a store that has the tables."""

    _pause: Pause

    async def reserve(self, reservation: Reservation, bounds: Mapping[str, Counters]) -> Admission:
        """Take what fits; see `Limiter.reserve`."""
        subjects = tuple(reservation.amounts)
        before: dict[str, Held | None] = dict.fromkeys(subjects)
        for tried in range(MOST_TRIES):
            changes = {subject: taking(before[subject], reservation.held(subject)) for subject in subjects}
            answer = await self._write(reservation, before, changes, bounds)
            if isinstance(answer, _Written):
                return Admission(True, dict.fromkeys(subjects, answer.standing))
            if isinstance(answer, _Outpaced):
                await self._wait(tried, answer)
                continue
            standings = dict(zip(subjects, answer.standings, strict=True))
            known = {subject: standing for subject, standing in standings.items() if standing is not None}
            found = {subject: standing.held.get(reservation.request_id) for subject, standing in known.items()}
            present = before | found
            if all(present[subject] == reservation.held(subject) for subject in subjects):
                return Admission(True, standings)
            if present == before:
                return Admission(False, standings)
            before = present
        raise contended(self._ledger)

    async def settle_reservation(
        self,
        reservation: Reservation,
        used: Amount,
        now_ms: int,
        *,
        lapsed: Mapping[str, Sequence[str]] | None = None,
        keep_until_ms: int = 0,
    ) -> bool:
        """Count what was used in place of what is held; see `Limiter.settle_reservation`."""

        def change(subject: str, before: Held) -> Change:
            names = (lapsed or {}).get(subject, ())
            return settling(before, used, now_ms, lapsed=names, keep_until_ms=keep_until_ms)

        # Each is idempotent by itself, so they need no transaction, which would cost twice as much.
        settled = await asyncio.gather(
            *(self._settle_at(reservation, subject, change) for subject in reservation.amounts)
        )
        return any(settled)

    async def standings(self, org: str, subjects: Sequence[str]) -> Mapping[str, Standing]:
        """Where these subjects stand; see `Limiter.standings`."""
        addresses = {subject: limit_address(org, subject) for subject in subjects}
        found = await self._on_ledger(lambda client, table: read_all(client, table, [*addresses.values()]))
        by_key = {item["pk"]["S"]: standing_of(item) for item in found}
        return {subject: by_key.get(address["pk"]["S"], Standing()) for subject, address in addresses.items()}

    async def _settle_at(self, reservation: Reservation, subject: str, change: Callable[[str, Held], Change]) -> bool:
        before = reservation.held(subject)
        for tried in range(MOST_TRIES):
            answer = await self._write(reservation, {subject: before}, {subject: change(subject, before)}, {})
            if isinstance(answer, _Written):
                return True
            if isinstance(answer, _Outpaced):
                await self._wait(tried, answer)
                continue
            (standing,) = answer.standings
            found = None if standing is None else standing.held.get(reservation.request_id)
            if found is None:
                return False
            before = found  # it was extended, or somebody else has settled it for a time
        raise contended(self._ledger)

    async def _write(
        self,
        reservation: Reservation,
        before: Mapping[str, Held | None],
        changes: Mapping[str, Change],
        bounds: Mapping[str, Counters],
    ) -> _Written | _Refused | _Outpaced:
        org, request_id = reservation.org, reservation.request_id
        updates = [
            update(self._ledger, org, subject, request_id, before[subject], change, bounds.get(subject, {}))
            for subject, change in changes.items()
        ]
        return await self._on_ledger(lambda client, _: _carry_out(client, updates))

    async def _wait(self, tried: int, answer: _Outpaced) -> None:
        if tried + 1 == MOST_TRIES:
            raise unavailable(answer.error, self._ledger)
        await self._pause(min(FIRST_WAIT_S * 2**tried, LONGEST_WAIT_S))


def _carry_out(client: "DynamoDBClient", updates: Sequence[dict[str, Any]]) -> _Written | _Refused | _Outpaced:
    try:
        if len(updates) > 1:
            client.transact_write_items(TransactItems=[{"Update": each} for each in updates])  # type: ignore[typeddict-item]  # put together by `update`
            return _Written(None)
        answer = client.update_item(**updates[0], ReturnValues="ALL_NEW")
        return _Written(standing_of(answer["Attributes"]))
    except ClientError as error:
        if refused_by_condition(error):
            return _Refused([standing_of(found_instead(error))])
        if refused_in_transaction(error):
            return _Refused([None if each is None else standing_of(each) for each in found_in_transaction(error)])
        if may_pass(error):
            return _Outpaced(error)
        raise
