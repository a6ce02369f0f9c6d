"""The rules that hold for every format, whatever a decoder lets through."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.chat import FinishReason, Usage
from core.errors import Interrupted
from core.events import (
    Event,
    Finished,
    Noted,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    ToolCallStarted,
    UsageReported,
    fold,
)
from core.turn import Turn


def mint(choice: int, call: int) -> str:
    return f"call_{choice}_{call}"


def through(*events: Event) -> tuple[Event, ...]:
    turn = Turn(mint)
    return turn.feed(events) + turn.close()


def test_a_stop_after_calls_says_tool_calls() -> None:
    events = through(ToolCallStarted(0, 0, "x", "f"), ToolCallDelta(0, 0, "{}"), Finished(0, FinishReason.STOP))
    assert events[-1] == Finished(0, FinishReason.TOOL_CALLS)


@pytest.mark.parametrize("reason", [FinishReason.LENGTH, FinishReason.CONTENT_FILTER])
def test_a_cut_or_declined_answer_stays_one_although_calls_were_made(reason: FinishReason) -> None:
    assert through(ToolCallStarted(0, 0, "x", "f"), Finished(0, reason))[-1] == Finished(0, reason)


def test_tool_calls_without_a_call_says_stop() -> None:
    assert through(TextDelta(0, "a"), Finished(0, FinishReason.TOOL_CALLS))[-1] == Finished(0, FinishReason.STOP)


def test_a_function_call_without_arguments_gets_an_empty_object_and_a_custom_one_does_not() -> None:
    events = through(
        ToolCallStarted(0, 0, "x", "f"),
        ToolCallStarted(0, 1, "y", "g", kind="custom"),
        Finished(0, FinishReason.STOP),
    )
    assert [event for event in events if isinstance(event, ToolCallDelta)] == [ToolCallDelta(0, 0, "{}")]


def test_ids_are_ours_and_the_upstreams_own_are_kept_beside_them() -> None:
    call = through(ToolCallStarted(1, 0, "", "f"), ToolCallStarted(1, 1, "up", "g"), Finished(1, FinishReason.STOP))
    assert [event for event in call if isinstance(event, ToolCallStarted)] == [
        ToolCallStarted(1, 0, "call_1_0", "f"),
        ToolCallStarted(1, 1, "call_1_1", "g", upstream_id="up"),
    ]


def test_the_end_is_held_until_nothing_can_follow_and_told_once_per_choice() -> None:
    turn = Turn(mint)
    finished = Finished(0, FinishReason.STOP, "eos")
    assert turn.feed([finished, TextDelta(0, "late"), Finished(0, FinishReason.LENGTH)]) == (TextDelta(0, "late"),)
    assert turn.close() == (finished,)


def test_what_is_empty_is_dropped_and_what_is_about_the_reply_passes() -> None:
    usage, noted = UsageReported(Usage(output_tokens=1)), Noted({"system_fingerprint": "fp"})
    alone = TextDelta(0, "", logprobs={"content": []})
    events = through(
        noted,
        TextDelta(0, ""),
        RefusalDelta(0, ""),
        ToolCallStarted(0, 0, "", "f"),
        ToolCallDelta(0, 0, ""),
        alone,
        ReasoningDelta(0, "r"),
        usage,
        Finished(0, FinishReason.LENGTH),
    )
    assert events == (
        noted,
        ToolCallStarted(0, 0, "call_0_0", "f"),
        alone,
        ReasoningDelta(0, "r"),
        usage,
        ToolCallDelta(0, 0, "{}"),
        Finished(0, FinishReason.LENGTH),
    )


@pytest.mark.parametrize("events", [(), (TextDelta(0, "a"),), (Finished(0, FinishReason.STOP), TextDelta(1, "b"))])
def test_an_answer_without_an_end_is_interrupted(events: tuple[Event, ...]) -> None:
    with pytest.raises(Interrupted):
        through(*events)


deltas = st.builds(TextDelta, st.integers(0, 2), st.text(max_size=5)) | st.builds(
    ReasoningDelta, st.integers(0, 2), st.text(min_size=1, max_size=5)
)


@given(st.lists(deltas), st.data())
def test_how_events_are_batched_never_shows(events: list[Event], data: st.DataObject) -> None:
    ended = [*events, *[Finished(choice, FinishReason.STOP) for choice in range(3)]]
    cut = data.draw(st.integers(0, len(ended)))
    turn = Turn(mint)
    in_two = turn.feed(ended[:cut]) + turn.feed(ended[cut:]) + turn.close()
    assert in_two == through(*ended)
    assert fold(in_two) == fold(ended)
