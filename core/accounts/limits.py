"""Which limits are in force for a request, what it takes of them, and what is said when there is no room. Pure."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Final

from core.accounts.refusals import Refusal, refused
from core.counters import (
    EVER,
    MICROS,
    PARALLEL,
    REQUESTS,
    TOKENS,
    day_counter,
    ends_ms,
    minute_counter,
    month_counter,
    unit_of,
)
from core.errors import GatewayError, InvalidRequest, StoreUnavailable
from core.record import LOST, Record
from core.reservation import (
    ORGANISATION,
    Amount,
    Counters,
    Held,
    Reservation,
    Standing,
    Window,
    exceeded,
    key_subject,
    settled_amounts,
    taking,
)
from core.tenant import Key, Limits, Plan
from core.workspace import Workspace

KEEP_MS: Final = 86_400_000
"""How long what a lost request came to may still be corrected, by the process that was taken for dead."""

_COUNTERS: Final[Mapping[str, Callable[[int], str]]] = {
    "day_micros": lambda at_ms: day_counter(MICROS, at_ms),
    "month_micros": lambda at_ms: month_counter(MICROS, at_ms),
    "day_requests": lambda at_ms: day_counter(REQUESTS, at_ms),
    "month_requests": lambda at_ms: month_counter(REQUESTS, at_ms),
    "minute_requests": lambda at_ms: minute_counter(REQUESTS, at_ms),
    "minute_tokens": lambda at_ms: minute_counter(TOKENS, at_ms),
    "parallel": lambda at_ms: PARALLEL,
}


_NONE: Final = Limits()


@dataclass(frozen=True, slots=True)
class Limited:
    """A subject with at least one limit. `credit_micros` is what it paid in, where it can spend no more than that;
    `plan` is what an organisation has agreed on, None for a key."""

    subject: str
    limits: Limits
    credit_micros: int | None = None
    plan: Plan | None = None

    def bounds(self, at_ms: int) -> Counters:
        """The most that each counter of a request which begins at that Unix time (ms) may come to."""
        found = {
            counter(at_ms): bound
            for name, counter in _COUNTERS.items()
            if (bound := getattr(self.limits, name)) is not None
        }
        return found if self.credit_micros is None else {**found, EVER: self.credit_micros}


def limited_by(workspace: Workspace, key: Key) -> tuple[Limited, ...]:
    """Whoever has limits that hold for a key's requests: the key itself, its organisation, both or neither."""
    organisation, plan = workspace.organisation, workspace.plan
    subjects = (
        Limited(key_subject(key.counter_id), key.limits),
        Limited(
            ORGANISATION,
            tightest(plan.limits, organisation.limits),
            organisation.credit_micros if plan.is_prepaid else None,
            plan,
        ),
    )
    return tuple(each for each in subjects if each.limits != _NONE or each.credit_micros is not None)


@lru_cache(maxsize=1024)
def tightest(one: Limits, other: Limits) -> Limits:
    """Of each limit the lower one."""
    lower: dict[str, int | None] = {}
    for each in fields(Limits):
        bounds = (getattr(one, each.name), getattr(other, each.name))
        lower[each.name] = min((bound for bound in bounds if bound is not None), default=None)
    return Limits(**lower)


def counts(limited: Sequence[Limited], unit: str) -> bool:
    """Whether anything of that unit is limited."""
    return any(unit_of(counter) == unit for each in limited for counter in each.bounds(0))


def check_plan(plan: Plan, *, prompt_tokens: int, max_tokens: int | None, limit_field: str) -> None:
    """Refuse what is larger than the plan lets one request be.

    Args:
        plan: The organisation's.
        prompt_tokens: An estimate of what the request sends.
        max_tokens: The longest answer that it asks for, in tokens; None when it does not say.
        limit_field: The field that says it.

    Raises:
        InvalidRequest: It is larger; the field is named.
    """
    if plan.max_output_tokens is not None and (max_tokens or 0) > plan.max_output_tokens:
        raise InvalidRequest(
            f"The plan {plan.name!r} allows answers of at most {plan.max_output_tokens} tokens. Ask for no more, or "
            "change the plan.",
            param=limit_field,
        )
    if plan.max_input_tokens is not None and prompt_tokens > plan.max_input_tokens:
        raise InvalidRequest(
            f"The messages come to about {prompt_tokens} tokens, and the plan {plan.name!r} allows at most "
            f"{plan.max_input_tokens}. Send less, or change the plan.",
            param="messages",
        )


def bounds_of(limited: Sequence[Limited], at_ms: int) -> Mapping[str, Counters]:
    """The most that counters may come to, by subject, for a request that begins at that Unix time (ms)."""
    return {each.subject: each.bounds(at_ms) for each in limited}


def reservation_of(
    limited: Sequence[Limited], org: str, request_id: str, at_ms: int, expires_ms: int, most: Amount
) -> Reservation:
    """What a request holds while it is under way.

    Args:
        limited: Whose limits it takes of.
        org: The organisation.
        request_id: The request.
        at_ms: When it began, in Unix milliseconds.
        expires_ms: When others may end its hold.
        most: The most that it can use.
    """
    by_unit = {MICROS: most.micros, TOKENS: most.tokens, REQUESTS: most.requests, PARALLEL: 1}
    amounts = {
        subject: {counter: by_unit[unit_of(counter)] for counter in bounds}
        for subject, bounds in bounds_of(limited, at_ms).items()
    }
    return Reservation(org, request_id, expires_ms, amounts)


def refusal(
    limited: Sequence[Limited],
    reservation: Reservation,
    at_ms: int,
    standings: Mapping[str, Standing | None],
    now_ms: int,
) -> GatewayError:
    """What a request is told for which there is no room: of all limits that it would pass, the one that lasts longest.

    Args:
        limited: Whose limits they are.
        reservation: What the request asked for.
        at_ms: When it began, in Unix milliseconds.
        standings: Where the subjects stand that refused it.
        now_ms: Unix time in milliseconds.
    """
    found: list[tuple[float, Refusal]] = []
    for each in limited:
        standing = standings.get(each.subject)
        if standing is None:
            continue
        bounds, asked = each.bounds(at_ms), reservation.held(each.subject)
        had = standing.held.get(reservation.request_id)
        for counter in exceeded(standing, taking(had, asked), bounds):
            end = ends_ms(counter)
            told = Refusal(
                subject=each.subject,
                counter=counter,
                bound=bounds[counter],
                used=standing.counters.get(counter, 0) - (had.amounts.get(counter, 0) if had else 0),
                asked=asked.amounts[counter],
                plan=each.plan,
                wait_s=1.0 if end is None else max(1.0, (end - now_ms) / 1000),
                ends_ms=end,
            )
            found.append((math.inf if counter == EVER or told.is_hopeless else told.wait_s, told))
    if not found:  # what it held was settled by somebody who took its process for dead
        return StoreUnavailable()
    return refused(max(found, key=lambda each: each[0])[1])


def window(
    limited: Sequence[Limited], unit: str, at_ms: int, standings: Mapping[str, Standing | None], now_ms: int
) -> Window | None:
    """The limit of a unit that has least left, among those that start anew; None where there is none, or it is not
    known how they stand."""
    found: list[Window] = []
    for each in limited:
        standing = standings.get(each.subject)
        if standing is None:
            continue
        for counter, bound in each.bounds(at_ms).items():
            end = ends_ms(counter)
            if unit_of(counter) == unit and end is not None:
                left = max(0, bound - standing.counters.get(counter, 0))
                found.append(Window(bound, left, max(0.0, (end - now_ms) / 1000)))
    return min(found, key=lambda each: (each.remaining, -each.reset_s), default=None)


def used_by(record: Record) -> Amount:
    """What a settled record counts for."""
    usage = record.usage
    return Amount(
        micros=0 if record.charge is None else record.charge.total,
        tokens=0 if usage is None else usage.input_tokens + usage.output_tokens,
    )


def ending(held: Held, record: Record | None, now_ms: int) -> tuple[Amount, int] | None:
    """How a hold whose lease has passed is to end.

    Args:
        held: The hold.
        record: Its request's record, None where there is none.
        now_ms: Unix time in milliseconds.

    Returns:
        What it counts for, and until when that may still be corrected (0: it is final). None when it must stay,
        since its request is under way.
    """
    if record is not None and not record.is_settled and record.lease_until_ms > now_ms:
        return None
    used = Amount() if record is None else used_by(record)
    is_known = record is not None and record.is_settled and record.outcome != LOST
    if is_known or settled_amounts(held.amounts, used) == held.amounts:
        return used, 0
    return used, now_ms + KEEP_MS
