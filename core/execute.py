"""Walks a plan: attempt by attempt until one commits, then passes its events on; it holds what must not be sent yet.

After the commit nothing is replayed: a failure is the caller's to see.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypeAlias

from core.attempt import Attempt, Batch, commits
from core.catalog.model import Target
from core.chat import FinishReason, Usage
from core.decision import Leg, Plan
from core.errors import (
    AccountFailure,
    ContentRefused,
    ContextTooLong,
    DeadlineExceeded,
    FirstTokenTimeout,
    GatewayError,
    InternalError,
    NoContent,
    OwnKeyFailure,
    PaymentRequired,
    RateLimited,
    Recovery,
    UpstreamFailure,
    UpstreamRateLimited,
    UpstreamRejected,
)
from core.events import Event, Finished, fold
from core.ports import Clock

Call: TypeAlias = Callable[[Target], AsyncGenerator[Batch, None]]
"""Starts an upstream call; iterating it sends the request."""

LONGEST_WAIT_S = 20.0
SHORT_RETRY_S = 0.5


@dataclass(frozen=True, slots=True)
class AttemptBegan:
    """An attempt is under way; what its host reports meanwhile is read off it, for a caller who leaves."""

    target: Target
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Committed:
    """This attempt serves; `ttft_s` is the time from the start of the request until then, in seconds."""

    target: Target
    ttft_s: float


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Events to pass on together."""

    events: Batch


@dataclass(frozen=True, slots=True)
class AttemptEnded:
    """An attempt is over. `usage` is what its host reported, `error` is None for the one that served in full.

    `ttft_ms` is the time from the attempt's start to its first token, None when none came.
    """

    target: Target
    ms: int
    usage: Usage | None
    error: GatewayError | None
    ttft_ms: int | None = None

    @property
    def outcome(self) -> str:
        """The stable word for how it ended."""
        if self.error is None:
            return "served"
        return self.error.outcome if isinstance(self.error, UpstreamFailure) else self.error.code


@dataclass(frozen=True, slots=True)
class Failed:
    """The walk is over without a complete answer."""

    error: GatewayError


Step: TypeAlias = AttemptBegan | Committed | EventBatch | AttemptEnded | Failed


def execute(plan: Plan, call: Call, clock: Clock, jitter: Callable[[], float]) -> AsyncGenerator[Step, None]:
    """Walk the chain.

    Args:
        plan: Targets in order, budgets, and whether reasoning is held.
        call: Starts an upstream call.
        clock: For budgets and waits.
        jitter: A random number from 0 to 1, spreading retries.

    Yields:
        `AttemptBegan` and `AttemptEnded` for each attempt, `Committed` once, then batches; `Failed` last when the
        answer is not complete.
    """
    return _Walk(plan, call, clock, jitter).steps()


class _Walk:
    def __init__(self, plan: Plan, call: Call, clock: Clock, jitter: Callable[[], float]) -> None:
        self._plan = plan
        self._call = call
        self._clock = clock
        self._jitter = jitter
        self._started = clock.monotonic()
        self._failures: list[GatewayError] = []
        self._kept: _Kept | None = None

    async def steps(self) -> AsyncGenerator[Step, None]:
        position, tries, retried = 0, 0, False
        while True:
            leg = self._plan.legs[position]
            tries += 1
            error: GatewayError | None = None
            async with aclosing(self._one(leg)) as attempt:
                async for step in attempt:
                    yield step
                    if isinstance(step, Failed):
                        return
                    if isinstance(step, AttemptEnded):
                        error = step.error
            if error is None:
                return
            self._failures.append(error)
            if tries >= self._plan.max_attempts or isinstance(error, DeadlineExceeded):
                break
            following = self._after(error, position)
            again = self._wait_s(error, retried, is_last=following is None)
            if again is not None and self._clock.monotonic() + again < self._ends_at():
                retried = True
                await self._clock.sleep_until(self._clock.monotonic() + again)
            elif following is not None:
                position, retried = following, False
            else:
                break
        if self._kept is not None:
            yield Committed(self._kept.target, self._clock.monotonic() - self._started)
            yield EventBatch(self._kept.events)
            return
        yield Failed(verdict(self._failures, possible=self._plan.max_attempts))

    def _ends_at(self) -> float:
        """When the next attempt would have to be given up at once."""
        plan = self._plan
        return self._started + (plan.deadline_s if plan.ends_s is None else min(plan.deadline_s, plan.ends_s))

    async def _one(self, leg: Leg) -> AsyncGenerator[Step, None]:
        """One attempt, from its call to its end."""
        target = leg.target
        attempt = Attempt(self._call(target), leg, self._plan, self._started, self._clock)
        held: list[Event] = []
        is_committed = False
        error: GatewayError | None = None
        try:
            yield AttemptBegan(target, attempt)
            async for batch in attempt.batches():
                if is_committed:
                    if batch:
                        yield EventBatch(batch)
                    continue
                held.extend(batch)
                if commits(batch, self._plan):
                    is_committed = True
                    yield Committed(target, self._clock.monotonic() - self._started)
                    yield EventBatch(tuple(held))
                    held.clear()
        except ContentRefused as refusal:
            held.append(Finished(0, FinishReason.CONTENT_FILTER, refusal.upstream_code))
        except GatewayError as failure:
            error = failure
        except Exception as fault:
            error = InternalError(_INTERNAL)
            error.__cause__ = fault
        finally:
            await attempt.close()
        if attempt.has_thought:
            # The request is one that is thought about, whoever answers it in the end.
            deadline_s = max(self._plan.deadline_s, self._plan.thinking_deadline_s)
            self._plan = replace(self._plan, deadline_s=deadline_s)
        ms = round((self._clock.monotonic() - attempt.started) * 1000)
        if error is None and not is_committed:
            error = self._judge(target, tuple(held))
        if error is None and not is_committed:
            yield Committed(target, self._clock.monotonic() - self._started)
            yield EventBatch(tuple(held))
        yield AttemptEnded(target, ms, attempt.usage, error, attempt.ttft_ms)
        if error is not None and is_committed:
            yield Failed(error)

    def _judge(self, target: Target, events: Batch) -> GatewayError | None:
        """Whether a complete answer that never committed is one: a refusal is, nothing or only reasoning is not."""
        choices = fold(events).choices
        if any(not choice.is_empty or choice.finish is FinishReason.CONTENT_FILTER for choice in choices):
            return None
        is_cut = any(choice.finish is FinishReason.LENGTH for choice in choices)
        is_blank = not is_cut and not any(choice.reasoning for choice in choices)
        if is_blank and self._plan.may_be_empty:
            return None
        if not is_blank or self._kept is None or self._kept.is_blank:
            self._kept = _Kept(target, events, is_blank)
        return _CutBeforeContent(_NO_CONTENT) if is_cut else NoContent(_NO_CONTENT)

    def _after(self, error: GatewayError, position: int) -> int | None:
        """Where the chain goes on after this failure, or None."""
        if not isinstance(error, UpstreamFailure) or error.recovery in (Recovery.CALLER, Recovery.CONTENT):
            return None
        failed = self._plan.legs[position].target
        for index in range(position + 1, len(self._plan.legs)):
            target = self._plan.legs[index].target
            if isinstance(error, ContextTooLong) and target.context_tokens <= failed.context_tokens:
                continue
            if isinstance(error, _CutBeforeContent) and target.model.id == failed.model.id:
                continue  # the same limit would buy the same answer
            if _is_same_host(target, failed) and not isinstance(error, AccountFailure | UpstreamRateLimited):
                continue  # another account there would meet the same failure
            return index
        return None

    def _wait_s(self, error: GatewayError, retried: bool, *, is_last: bool) -> float | None:
        """How long to wait before the same host is tried again, or None when it is not."""
        if not isinstance(error, UpstreamFailure) or error.recovery not in (Recovery.RETRY_THEN_NEXT, Recovery.WAIT):
            return None
        asked = error.retry_after_s
        if error.recovery is Recovery.RETRY_THEN_NEXT and (retried or asked is None):
            return None if retried else SHORT_RETRY_S * (0.5 + self._jitter() / 2)
        if not is_last:  # only where there is no other host, one that asks for time gets it
            return None
        wait = 2 * SHORT_RETRY_S * (1 + self._jitter()) if asked is None else asked
        return wait if wait <= LONGEST_WAIT_S else None


@dataclass(frozen=True, slots=True)
class _Kept:
    """A complete answer without content, for the case that nobody has a better one; a blank one has no thinking either.

    See docs/adr/0011-empty-answers.md.
    """

    target: Target
    events: Batch
    is_blank: bool


def _is_same_host(one: Target, other: Target) -> bool:
    return one.owner != other.owner and (one.name, one.model.id) == (other.name, other.model.id)


class _CutBeforeContent(NoContent):
    """The limit was spent on reasoning: another model may do better, the same one will not."""

    recovery = Recovery.NEXT


def verdict(failures: list[GatewayError], possible: int) -> GatewayError:
    """What the caller is told when every attempt failed (the contract, section 7).

    Args:
        failures: Each attempt's failure, in order; at least one.
        possible: How many attempts the plan had room for.
    """
    # A limit that the failed attempt used up is no reason to tell in place of that failure.
    failures = [error for error in failures if not isinstance(error, PaymentRequired | RateLimited)] or failures
    for kinds in (DeadlineExceeded, UpstreamRejected | ContextTooLong, InternalError):
        found = next((error for error in failures if isinstance(error, kinds)), None)
        if found is not None:
            return found
    limited = [error for error in failures if isinstance(error, UpstreamRateLimited)]
    if len(limited) == len(failures):
        waits = [error.retry_after_s for error in limited if error.retry_after_s is not None]
        return UpstreamRateLimited(_RATE_LIMITED, retry_after_s=max(waits, default=None))
    if all(isinstance(error, FirstTokenTimeout) for error in failures):
        return failures[-1]
    if all(isinstance(error, OwnKeyFailure) for error in failures):
        return failures[-1]
    last = failures[-1]
    if isinstance(last, UpstreamFailure):
        code = "upstream_error" if len(failures) == 1 or possible == 1 else "all_attempts_failed"
        tried = "once" if len(failures) == 1 else f"{len(failures)} times"
        return UpstreamFailure(_FAILED % tried, code=code, detail=last.detail, upstream_status=last.upstream_status)
    return last


_NO_CONTENT = "The model returned an empty answer. Try again, or allow more tokens."
_RATE_LIMITED = "Every host of the model asks to wait. Try again later, or name another model."
_FAILED = "The model could not be reached or failed to answer; the gateway tried %s. Name another, or ask again later."
_INTERNAL = "The gateway failed. The fault was logged under the request id."
