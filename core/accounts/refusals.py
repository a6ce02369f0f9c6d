"""What a caller is told whose request passes a limit: what it is, what is used of it, when it starts anew."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from core.counters import EVER, MICROS, PARALLEL, REQUESTS, unit_of
from core.errors import GatewayError, LargerThanLimit, PaymentRequired, RateLimited
from core.reservation import LEASE_S, ORGANISATION
from core.tenant import Plan

_PERIODS: Final = {len("2026-12"): "a month", len("2026-12-01"): "a day", len("2026-12-01T10:05"): "a minute"}

_UNDER_WAY: Final = "used or held for requests under way"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A limit that a request would pass.

    `used` is what others have used and hold, `asked` what the request asks for, both in the counter's unit. `ends_ms`
    is when the limit starts anew, None when it does not; `wait_s` how long that is, in seconds. `plan` is the
    organisation's, None where the limit is a key's.
    """

    subject: str
    counter: str
    bound: int
    used: int
    asked: int
    plan: Plan | None
    wait_s: float
    ends_ms: int | None

    @property
    def is_hopeless(self) -> bool:
        """Whether no wait helps: the request alone is larger than the limit."""
        return self.asked > self.bound

    @property
    def is_closed(self) -> bool:
        """Whether nothing at all may pass."""
        return self.bound == 0

    @property
    def is_of_free_plan(self) -> bool:
        """Whether it is the number of requests that a free plan gives for a day or a month."""
        if self.plan is None or not self.plan.is_free or unit_of(self.counter) != REQUESTS:
            return False
        period = _period(self.counter)
        given = {"a day": self.plan.limits.day_requests, "a month": self.plan.limits.month_requests}
        return given.get(period) == self.bound


def refused(refusal: Refusal) -> GatewayError:
    """The failure that says it."""
    unit = unit_of(refusal.counter)
    if refusal.counter == EVER:
        return PaymentRequired(
            f"The credits are not enough: {dollars(refusal.bound)} were paid in, {dollars(refusal.used)} of that are "
            f"{_UNDER_WAY}, and this request may come to {dollars(refusal.asked)}. Add credits, which "
            "count within a minute, or ask for fewer tokens.",
            code="insufficient_credits",
        )
    if unit == MICROS:
        return PaymentRequired(
            f"{_who(refusal)} may spend {dollars(refusal.bound)} {_period(refusal.counter)}. {dollars(refusal.used)} "
            f"are {_UNDER_WAY}, and this request may come to {dollars(refusal.asked)}. {_money_advice(refusal)}",
            code="budget_exceeded",
        )
    if refusal.is_of_free_plan and refusal.plan is not None and not refusal.is_closed:
        return PaymentRequired(
            f"The plan {refusal.plan.name!r} gives {_counted(refusal.bound, REQUESTS)} {_period(refusal.counter)}, "
            f"and {_are(refusal.used)} used. {_anew(refusal)} Change the plan to go on before.",
            code="free_plan_exhausted",
        )
    if refusal.is_closed:
        return LargerThanLimit(f"{_may(refusal)} {_closed(refusal, 'Nothing')}")
    if refusal.is_hopeless:
        return LargerThanLimit(f"{_may(refusal)} This request alone may come to {refusal.asked}. Ask for fewer tokens.")
    return RateLimited(_rate(refusal), retry_after_s=refusal.wait_s)


def dollars(micros: int) -> str:
    """Micro-dollars for people: as many decimal places as it takes, at least two."""
    whole, part = divmod(micros, 1_000_000)
    digits = f"{part:06d}".rstrip("0")
    return f"${whole}.{digits:0<2}"


def _money_advice(refusal: Refusal) -> str:
    if refusal.is_closed:
        return _closed(refusal, "Nothing that costs something")
    return f"{_anew(refusal)} Ask for fewer tokens, or have the limit raised."


def _closed(refusal: Refusal, what: str) -> str:
    whom = "by the organisation" if refusal.subject == ORGANISATION else "with this key"
    return f"{what} can be sent {whom} until the limit is raised."


def _rate(refusal: Refusal) -> str:
    if refusal.counter == PARALLEL:
        return (
            f"{_may(refusal)} {_are(refusal.used)}. Send the next when one has ended; what a process held that died is "
            f"free after {LEASE_S} seconds."
        )
    if unit_of(refusal.counter) == REQUESTS:
        return f"{_may(refusal)} {_are(refusal.used)} used. {_anew(refusal)}"
    return (
        f"{_may(refusal)} {_are(refusal.used)} {_UNDER_WAY}, and this request may come to {refusal.asked}. "
        f"{_anew(refusal)} Ask for fewer tokens, or wait."
    )


def _may(refusal: Refusal) -> str:
    if refusal.counter == PARALLEL:
        return f"{_who(refusal)} may have {_counted(refusal.bound, REQUESTS)} under way at a time."
    unit = unit_of(refusal.counter)
    verb = "send" if unit == REQUESTS else "use"
    return f"{_who(refusal)} may {verb} {_counted(refusal.bound, unit)} {_period(refusal.counter)}."


def _counted(count: int, unit: str) -> str:
    return f"{count} {unit.removesuffix('s') if count == 1 else unit}"


def _are(count: int) -> str:
    return f"{count} {'is' if count == 1 else 'are'}"


def _who(refusal: Refusal) -> str:
    return "The organisation" if refusal.subject == ORGANISATION else "This key"


def _period(counter: str) -> str:
    return _PERIODS.get(len(counter.partition(":")[2]), "in all")


def _anew(refusal: Refusal) -> str:
    moment = datetime.fromtimestamp((refusal.ends_ms or 0) / 1000, UTC)
    return f"The limit starts anew at {moment:%Y-%m-%dT%H:%M:%SZ}."
