"""The walk of a plan: budgets, commit, holding and fallback, on a clock that the tests move."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import pytest

from core.attempt import QUEUE_BATCHES, Batch
from core.catalog.model import Target
from core.chat import FinishReason, Usage
from core.decision import Budgets, Leg, Plan
from core.errors import (
    AccountFailure,
    BadReply,
    ContentRefused,
    ContextTooLong,
    DeadlineExceeded,
    FirstTokenTimeout,
    GatewayError,
    InternalError,
    Interrupted,
    InvalidRequest,
    ModelUnavailable,
    PaymentRequired,
    RateLimited,
    SilentUpstream,
    StoreUnavailable,
    UpstreamFailure,
    UpstreamRateLimited,
    UpstreamRejected,
    UpstreamUnavailable,
)
from core.events import Event, Finished, ReasoningDelta, TextDelta, ToolCallStarted, UsageReported
from core.execute import AttemptBegan, AttemptEnded, Committed, EventBatch, Failed, Step, execute
from tests.support.clock import ManualClock, drive, settle
from tests.support.targets import make_target

Item: TypeAlias = Batch | float | BaseException
"""What an upstream does next: send a batch, let seconds pass, or fail."""

HELLO = (TextDelta(0, "Hello"),)
STOP = (Finished(0, FinishReason.STOP),)
LENGTH = (Finished(0, FinishReason.LENGTH),)
THOUGHT = (ReasoningDelta(0, "hm"),)
USED = (UsageReported(Usage(input_tokens=3, output_tokens=5)),)
NEVER = 10_000.0


@dataclass
class Script:
    """Upstreams by the order of their calls, and what became of them."""

    clock: ManualClock
    attempts: Sequence[Sequence[Item]]
    called: list[tuple[str, float]] = field(default_factory=list)
    closed: int = 0

    async def call(self, target: Target) -> AsyncGenerator[Batch, None]:
        items = self.attempts[len(self.called)]
        self.called.append((target.model.id, self.clock.monotonic()))
        try:
            for item in items:
                if isinstance(item, BaseException):
                    raise item
                if isinstance(item, tuple):
                    yield item
                else:
                    await self.clock.sleep_until(self.clock.monotonic() + item)
        finally:
            self.closed += 1


def make_plan(
    *targets: Target,
    first_token_s: float | None = 12,
    silence_s: float = 60,
    silence_before_token: bool = False,
    deadline_s: float = 120,
    thinking_deadline_s: float | None = None,
    whole: bool = False,
    hold_reasoning: bool = False,
    max_attempts: int = 3,
    ends_s: float | None = None,
    may_be_empty: bool = False,
) -> Plan:
    budgets = Budgets(first_token_s, silence_s, silence_before_token)
    return Plan(
        legs=tuple(Leg(target, budgets) for target in targets or (make_target(),)),
        deadline_s=deadline_s,
        thinking_deadline_s=thinking_deadline_s or deadline_s,
        whole=whole,
        hold_reasoning=hold_reasoning,
        max_attempts=max_attempts,
        ends_s=ends_s,
        may_be_empty=may_be_empty,
    )


async def walk(plan: Plan, *attempts: Sequence[Item], jitter: float = 1.0) -> tuple[list[Step], Script]:
    clock = ManualClock()
    script = Script(clock, attempts)

    async def collect() -> list[Step]:
        walking = execute(plan, script.call, clock, lambda: jitter)
        return [step async for step in walking if not isinstance(step, AttemptBegan)]

    steps = await drive(clock, collect())
    assert script.closed == len(script.called), "every upstream call is closed"
    return steps, script


def repeat(times: int, *items: Item) -> list[Item]:
    return [*items] * times


def outcomes(steps: Sequence[Step]) -> list[str]:
    return [step.outcome for step in steps if isinstance(step, AttemptEnded)]


def sent(steps: Sequence[Step]) -> list[Event]:
    return [event for step in steps if isinstance(step, EventBatch) for event in step.events]


def error_of(steps: Sequence[Step]) -> GatewayError:
    assert isinstance(steps[-1], Failed)
    return steps[-1].error


A = make_target("lab/a")
B = make_target("lab/b", context_tokens=100_000)
C = make_target("lab/c", context_tokens=4_096)


class TestStreams:
    async def test_the_first_token_commits_and_batches_pass_as_they_came(self) -> None:
        steps, _ = await walk(make_plan(A), [(), 2.0, HELLO, (TextDelta(0, " you"),), USED + STOP])
        assert steps[0] == Committed(A, 2.0)
        assert steps[1:4] == [EventBatch(HELLO), EventBatch((TextDelta(0, " you"),)), EventBatch(USED + STOP)]
        assert steps[4] == AttemptEnded(A, 2000, Usage(input_tokens=3, output_tokens=5), None, ttft_ms=2000)

    async def test_what_came_before_the_first_token_is_sent_with_it(self) -> None:
        steps, _ = await walk(make_plan(A), [USED, HELLO + STOP])
        assert steps[1] == EventBatch(USED + HELLO + STOP)

    async def test_a_long_answer_is_not_cut_for_its_length(self) -> None:
        steps, _ = await walk(make_plan(A, deadline_s=20), [HELLO, *repeat(40, 50.0, HELLO), STOP])
        assert outcomes(steps) == ["served"]

    async def test_no_token_within_the_budget_moves_on(self) -> None:
        steps, script = await walk(make_plan(A, B), [NEVER], [HELLO + STOP])
        assert outcomes(steps) == ["first_token_timeout", "served"]
        assert script.called == [("lab/a", 0.0), ("lab/b", 12.0)]

    async def test_only_tokens_meet_the_first_token_budget(self) -> None:
        steps, _ = await walk(make_plan(A, max_attempts=1), [*repeat(20, (), 1.0)])
        assert isinstance(error_of(steps), FirstTokenTimeout)

    async def test_reasoning_is_a_token(self) -> None:
        steps, _ = await walk(make_plan(A), [THOUGHT, 50.0, HELLO + STOP])
        assert steps[0] == Committed(A, 0.0)
        assert outcomes(steps) == ["served"]

    async def test_silence_after_the_first_token_fails_in_band_and_nothing_is_replayed(self) -> None:
        steps, script = await walk(make_plan(A, B), [HELLO, NEVER], [HELLO + STOP])
        assert isinstance(error_of(steps), SilentUpstream)
        assert len(script.called) == 1

    async def test_bytes_without_events_end_a_silence(self) -> None:
        steps, _ = await walk(make_plan(A), [HELLO, *repeat(5, 59.0, ()), STOP])
        assert outcomes(steps) == ["served"]

    async def test_a_break_after_the_commit_fails_in_band(self) -> None:
        steps, script = await walk(make_plan(A, B), [HELLO + USED, Interrupted("cut")], [HELLO + STOP])
        assert outcomes(steps) == ["interrupted"]
        assert error_of(steps).code == "interrupted"
        assert len(script.called) == 1

    async def test_the_deadline_bounds_the_time_until_a_commit(self) -> None:
        steps, script = await walk(make_plan(A, B, first_token_s=12, deadline_s=15), [NEVER], [NEVER])
        assert isinstance(error_of(steps), DeadlineExceeded)
        assert outcomes(steps) == ["first_token_timeout", "deadline_exceeded"]
        assert script.clock.monotonic() == 15.0

    async def test_the_platforms_end_ends_a_committed_stream_too(self) -> None:
        steps, script = await walk(make_plan(A, ends_s=30), [HELLO, *repeat(20, 10.0, HELLO)])
        assert error_of(steps).code == "deadline_exceeded"
        assert script.clock.monotonic() == 30.0

    async def test_a_visible_fault_of_our_own_is_an_internal_error(self) -> None:
        steps, _ = await walk(make_plan(A, B), [ValueError("bug")], [HELLO + STOP])
        failure = error_of(steps)
        assert isinstance(failure, InternalError)
        assert isinstance(failure.__cause__, ValueError)

    async def test_an_error_that_is_the_callers_is_final(self) -> None:
        steps, _ = await walk(make_plan(A, B), [InvalidRequest("no")], [HELLO + STOP])
        assert error_of(steps).status == 400


class TestHolding:
    async def test_reasoning_waits_for_the_answer_and_is_sent_ahead_of_it(self) -> None:
        steps, _ = await walk(make_plan(A, hold_reasoning=True), [THOUGHT, 20.0, HELLO + STOP])
        assert steps[:2] == [Committed(A, 20.0), EventBatch(THOUGHT + HELLO + STOP)]

    async def test_a_tool_call_is_an_answer(self) -> None:
        call = (ToolCallStarted(0, 0, "id", "f"),)
        steps, _ = await walk(make_plan(A, hold_reasoning=True), [THOUGHT, call, 1.0, STOP])
        assert steps[1] == EventBatch(THOUGHT + call)

    async def test_only_reasoning_is_a_failed_attempt_of_the_model(self) -> None:
        steps, script = await walk(make_plan(A, A, B, hold_reasoning=True), [THOUGHT + USED + LENGTH], [HELLO + STOP])
        assert outcomes(steps) == ["no_content", "served"]
        assert [model for model, _ in script.called] == ["lab/a", "lab/b"]

    async def test_the_exhausted_chains_cut_answer_is_returned_rather_than_an_error(self) -> None:
        steps, _ = await walk(
            make_plan(A, B, hold_reasoning=True), [THOUGHT + USED + LENGTH], [ModelUnavailable("gone")]
        )
        assert outcomes(steps) == ["no_content", "upstream_error"]
        assert sent(steps) == [*THOUGHT, *USED, *LENGTH]
        assert not any(isinstance(step, Failed) for step in steps)


class TestWholeAnswers:
    async def test_all_comes_at_the_end(self) -> None:
        steps, _ = await walk(make_plan(A, whole=True), [HELLO, 5.0, HELLO, STOP])
        assert steps[:2] == [Committed(A, 5.0), EventBatch(HELLO + HELLO + STOP)]

    async def test_a_break_in_the_middle_moves_on_since_nothing_was_sent(self) -> None:
        steps, _ = await walk(
            make_plan(A, B, whole=True, max_attempts=2), [HELLO, ModelUnavailable("x")], [HELLO + STOP]
        )
        assert outcomes(steps) == ["upstream_error", "served"]
        assert sent(steps) == [*HELLO, *STOP]

    async def test_the_deadline_ends_an_answer_that_is_still_being_written(self) -> None:
        steps, script = await walk(make_plan(A, whole=True, deadline_s=90, silence_s=30), [*repeat(30, HELLO, 10.0)])
        assert isinstance(error_of(steps), DeadlineExceeded)
        assert script.clock.monotonic() == 90.0

    async def test_a_model_that_was_seen_to_think_has_longer(self) -> None:
        plan = make_plan(A, whole=True, deadline_s=90, thinking_deadline_s=590, silence_s=30)
        steps, _ = await walk(plan, [THOUGHT, *repeat(20, 20.0, THOUGHT), HELLO + STOP])
        assert outcomes(steps) == ["served"]

    async def test_so_has_who_is_asked_after_it(self) -> None:
        plan = make_plan(A, B, whole=True, deadline_s=90, thinking_deadline_s=590, silence_s=30)
        thoughts = repeat(10, THOUGHT, 20.0)
        steps, script = await walk(plan, [*thoughts, ModelUnavailable("x")], [*repeat(10, HELLO, 20.0), STOP])
        assert outcomes(steps) == ["upstream_error", "served"]
        assert script.called == [("lab/a", 0.0), ("lab/b", 200.0)]

    async def test_thirty_seconds_of_silence_end_a_thinking_one_from_the_start(self) -> None:
        plan = make_plan(A, whole=True, first_token_s=None, silence_s=30, silence_before_token=True, max_attempts=1)
        steps, script = await walk(plan, [NEVER])
        assert outcomes(steps) == ["silent"]
        assert script.clock.monotonic() == 30.0

    async def test_one_of_several_choices_is_enough(self) -> None:
        answer = (TextDelta(1, "a"), Finished(0, FinishReason.STOP), Finished(1, FinishReason.STOP))
        steps, _ = await walk(make_plan(A, whole=True), [answer])
        assert outcomes(steps) == ["served"]

    @pytest.mark.parametrize("whole", [True, False])
    async def test_a_refusal_is_an_answer(self, whole: bool) -> None:
        declined = (Finished(0, FinishReason.CONTENT_FILTER),)
        steps, script = await walk(make_plan(A, B, whole=whole), [declined], [HELLO + STOP])
        assert outcomes(steps) == ["served"]
        assert sent(steps) == [*declined]
        assert len(script.called) == 1

    @pytest.mark.parametrize("whole", [True, False])
    async def test_a_refusal_before_the_answer_is_one_too(self, whole: bool) -> None:
        steps, _ = await walk(make_plan(A, B, whole=whole), [ContentRefused("no", upstream_code="content_filter")])
        assert sent(steps) == [Finished(0, FinishReason.CONTENT_FILTER, "content_filter")]
        assert outcomes(steps) == ["served"]


@pytest.mark.parametrize("whole", [True, False])
class TestEmptyAnswers:
    async def test_an_empty_answer_is_a_failed_attempt(self, whole: bool) -> None:
        steps, _ = await walk(make_plan(A, B, whole=whole, max_attempts=3), [STOP], [STOP], [HELLO + STOP])
        assert outcomes(steps) == ["no_content", "no_content", "served"]
        assert sent(steps) == [*HELLO, *STOP]

    async def test_the_exhausted_chains_last_one_is_returned(self, whole: bool) -> None:
        steps, _ = await walk(make_plan(A, B, whole=whole), [USED + STOP], [STOP], [UpstreamUnavailable("down")])
        assert outcomes(steps) == ["no_content", "no_content", "upstream_error"]
        assert sent(steps) == [*STOP]
        assert isinstance(steps[-2], Committed)

    async def test_one_that_met_the_callers_stop_sequence_is_good_at_once(self, whole: bool) -> None:
        steps, script = await walk(make_plan(A, B, whole=whole, may_be_empty=True), [USED + STOP], [HELLO + STOP])
        assert outcomes(steps) == ["served"]
        assert sent(steps) == [*USED, *STOP]
        assert len(script.called) == 1

    async def test_one_without_room_did_not_meet_it(self, whole: bool) -> None:
        steps, _ = await walk(make_plan(A, B, whole=whole, may_be_empty=True), [LENGTH], [HELLO + STOP])
        assert outcomes(steps) == ["no_content", "served"]

    @pytest.mark.parametrize("thoughtful", [THOUGHT + STOP, THOUGHT + LENGTH, LENGTH])
    @pytest.mark.parametrize("comes_first", [True, False])
    async def test_one_that_was_thought_about_is_kept_rather_than_a_blank_one(
        self, whole: bool, thoughtful: Batch, comes_first: bool
    ) -> None:
        plan = make_plan(A, B, whole=whole, hold_reasoning=not whole, max_attempts=2)
        steps, _ = await walk(plan, *([thoughtful], [STOP]) if comes_first else ([STOP], [thoughtful]))
        assert outcomes(steps) == ["no_content", "no_content"]
        assert sent(steps) == [*thoughtful]

    async def test_reasoning_alone_is_no_answer_that_met_a_stop_sequence(self, whole: bool) -> None:
        plan = make_plan(A, whole=whole, hold_reasoning=not whole, may_be_empty=True)
        steps, _ = await walk(plan, [THOUGHT + STOP], [HELLO + STOP])
        assert outcomes(steps) == ["no_content", "served"]


class TestFallback:
    @pytest.mark.parametrize(("jitter", "wait_s"), [(0.0, 0.25), (0.5, 0.375), (1.0, 0.5)])
    async def test_one_short_retry_then_the_next(self, jitter: float, wait_s: float) -> None:
        down = [UpstreamUnavailable("x")]
        steps, script = await walk(make_plan(A, B), down, down, [HELLO + STOP], jitter=jitter)
        assert script.called == [("lab/a", 0.0), ("lab/a", wait_s), ("lab/b", wait_s)]
        assert outcomes(steps)[-1] == "served"

    @pytest.mark.parametrize("error", [ModelUnavailable("x"), AccountFailure("x")])
    async def test_what_a_retry_cannot_mend_moves_on_at_once(self, error: UpstreamFailure) -> None:
        _, script = await walk(make_plan(A, B), [error], [HELLO + STOP])
        assert script.called == [("lab/a", 0.0), ("lab/b", 0.0)]

    async def test_a_rate_limited_host_is_left_for_the_next_one(self) -> None:
        _, script = await walk(make_plan(A, B), [UpstreamRateLimited("x", retry_after_s=5)], [HELLO + STOP])
        assert script.called == [("lab/a", 0.0), ("lab/b", 0.0)]

    @pytest.mark.parametrize("jitter", [0.0, 1.0])
    async def test_the_last_host_is_waited_for_as_long_as_it_asks(self, jitter: float) -> None:
        limited = [UpstreamRateLimited("x", retry_after_s=5)]
        _, script = await walk(make_plan(A), limited, [HELLO + STOP], jitter=jitter)
        assert script.called == [("lab/a", 0.0), ("lab/a", 5.0)]

    @pytest.mark.parametrize(("jitter", "wait_s"), [(0.0, 1.0), (0.5, 1.5), (1.0, 2.0)])
    async def test_without_a_wish_it_is_waited_for_briefly(self, jitter: float, wait_s: float) -> None:
        _, script = await walk(make_plan(A), [UpstreamRateLimited("x")], [HELLO + STOP], jitter=jitter)
        assert script.called == [("lab/a", 0.0), ("lab/a", wait_s)]

    @pytest.mark.parametrize("whole", [True, False])
    @pytest.mark.parametrize(
        ("retry_after_s", "deadline_s", "ends_s"), [(3_600.0, 120.0, None), (15.0, 10.0, None), (15.0, 120.0, 10.0)]
    )
    async def test_a_wait_that_is_not_worth_it_is_not_made(
        self, retry_after_s: float, deadline_s: float, ends_s: float | None, whole: bool
    ) -> None:
        plan = make_plan(A, deadline_s=deadline_s, thinking_deadline_s=590, ends_s=ends_s, whole=whole)
        steps, script = await walk(plan, [UpstreamRateLimited("x", retry_after_s=retry_after_s)])
        assert error_of(steps).retry_after_s == retry_after_s
        assert script.clock.monotonic() == 0

    async def test_a_prompt_that_is_too_long_goes_only_to_a_larger_window(self) -> None:
        _, script = await walk(make_plan(A, C, B), [ContextTooLong("x")], [HELLO + STOP])
        assert [model for model, _ in script.called] == ["lab/a", "lab/b"]
        steps, _ = await walk(make_plan(A, C), [ContextTooLong("x")])
        assert error_of(steps).code == "context_length_exceeded"

    async def test_the_number_of_attempts_is_bounded_over_all_hosts(self) -> None:
        steps, script = await walk(make_plan(A, B, C, max_attempts=2), [ModelUnavailable("x")], [ModelUnavailable("y")])
        assert len(script.called) == 2
        assert error_of(steps).code == "all_attempts_failed"


class TestVerdict:
    @pytest.mark.parametrize(
        ("first", "second", "status", "code"),
        [
            (UpstreamRateLimited("x"), UpstreamRateLimited("y", retry_after_s=60), 429, "upstream_rate_limited"),
            (FirstTokenTimeout("x"), FirstTokenTimeout("y"), 504, "first_token_timeout"),
            (ModelUnavailable("x"), UpstreamRateLimited("y", retry_after_s=60), 502, "all_attempts_failed"),
            (ModelUnavailable("x"), UpstreamRejected("y", param="tools"), 400, "invalid_value"),
            (ModelUnavailable("x"), InvalidRequest("y"), 400, "invalid_value"),
            (ContextTooLong("x"), DeadlineExceeded("y"), 504, "deadline_exceeded"),
            (ContextTooLong("x"), InternalError("y"), 400, "context_length_exceeded"),
            (FirstTokenTimeout("x"), UpstreamRateLimited("y"), 502, "all_attempts_failed"),
            (ModelUnavailable("x"), FirstTokenTimeout("y"), 502, "all_attempts_failed"),
            (ModelUnavailable("x"), PaymentRequired("no room"), 502, "upstream_error"),
            (FirstTokenTimeout("x"), RateLimited("no room"), 504, "first_token_timeout"),
            (ModelUnavailable("x"), StoreUnavailable(), 503, "store_unavailable"),
        ],
    )
    async def test_what_the_caller_sees_when_all_failed(
        self, first: GatewayError, second: GatewayError, status: int, code: str
    ) -> None:
        steps, _ = await walk(make_plan(A, B, max_attempts=2), [first], [second])
        assert (error_of(steps).status, error_of(steps).code) == (status, code)

    @pytest.mark.parametrize(("attempts", "told"), [(1, "once"), (2, "2 times"), (3, "3 times")])
    async def test_the_caller_learns_how_often_it_was_tried_and_is_not_sent_back_at_once(
        self, attempts: int, told: str
    ) -> None:
        legs = (A, B, C)[:attempts]
        steps, _ = await walk(make_plan(*legs, max_attempts=attempts), *([ModelUnavailable("x")] for _ in legs))
        assert f"the gateway tried {told}. Name another, or ask again later." in error_of(steps).message

    async def test_the_longest_useful_wait_is_told(self) -> None:
        steps, _ = await walk(
            make_plan(A, B, max_attempts=2),
            [UpstreamRateLimited("x", retry_after_s=90)],
            [UpstreamRateLimited("y", retry_after_s=60)],
        )
        assert error_of(steps).retry_after_s == 90

    async def test_a_single_possible_attempt_is_told_apart(self) -> None:
        steps, _ = await walk(make_plan(A, max_attempts=1), [BadReply("x", detail="words", upstream_status=200)])
        failure = error_of(steps)
        assert isinstance(failure, UpstreamFailure)
        assert (failure.code, failure.detail, failure.upstream_status) == ("upstream_error", "words", 200)


class TestSlowCallers:
    async def test_a_caller_who_reads_slowly_is_no_silence_of_the_upstream(self) -> None:
        clock = ManualClock()
        batches = QUEUE_BATCHES * 2
        script = Script(clock, [[*repeat(batches, HELLO), STOP]])

        async def read_slowly() -> int:
            count = 0
            async for step in execute(make_plan(A), script.call, clock, lambda: 1.0):
                if isinstance(step, EventBatch):
                    count += 1
                    await clock.sleep_until(clock.monotonic() + 40)
            return count

        assert await drive(clock, read_slowly()) == batches + 1

    async def test_a_failure_behind_a_full_queue_is_still_told(self) -> None:
        clock = ManualClock()
        script = Script(clock, [[*[HELLO] * (QUEUE_BATCHES + 1), Interrupted("cut")]])
        steps: list[Step] = []
        walking = execute(make_plan(A), script.call, clock, lambda: 1.0)
        steps += [await anext(walking), await anext(walking)]
        await settle()
        steps += [step async for step in walking]
        assert error_of(steps).code == "interrupted"

    async def test_closing_the_walk_closes_the_upstream_call(self) -> None:
        clock = ManualClock()
        script = Script(clock, [[HELLO, NEVER]])
        walking = execute(make_plan(A), script.call, clock, lambda: 1.0)
        assert isinstance(await anext(walking), AttemptBegan)
        assert isinstance(await anext(walking), Committed)
        await walking.aclose()
        assert script.closed == 1
