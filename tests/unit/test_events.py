"""`fold` makes one reply of a stream, whatever is in it."""

import pytest

from core.chat import Choice, FinishReason, Reply, SealedThinking, ToolCall, Usage
from core.events import (
    AnnotationsAdded,
    AudioDelta,
    Event,
    Finished,
    Noted,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ThinkingSealed,
    ToolCallDelta,
    ToolCallStarted,
    UsageReported,
    fold,
    is_answer,
    is_token,
)


def test_everything_in_a_stream_has_its_place_in_the_reply() -> None:
    first = {"token": "a", "logprob": -0.1}
    second = {"token": "b", "logprob": -0.2}
    sealed = SealedThinking(text="hm", signature="sig")
    reply = fold(
        [
            Noted({"system_fingerprint": "one"}),
            ReasoningDelta(0, "h"),
            ReasoningDelta(0, "m"),
            ThinkingSealed(0, sealed),
            TextDelta(0, "a", {"content": [first], "refusal": None}),
            TextDelta(0, "b", {"content": [second], "refusal": None}),
            AnnotationsAdded(0, ({"type": "url_citation"},)),
            AnnotationsAdded(0, ({"type": "other"},)),
            ToolCallStarted(0, 0, "call_a", "f", signature="seal", upstream_id="up"),
            ToolCallDelta(0, 0, '{"x":'),
            ToolCallStarted(0, 1, "call_b", "g", kind="custom"),
            ToolCallDelta(0, 1, "free"),
            ToolCallDelta(0, 0, "1}"),
            UsageReported(Usage(output_tokens=1)),
            UsageReported(Usage(output_tokens=2)),
            Finished(0, FinishReason.TOOL_CALLS),
            RefusalDelta(1, "no", {"refusal": [first]}),
            AudioDelta(1, {"id": "audio_1", "data": "AA", "transcript": "he"}),
            AudioDelta(1, {"data": "BB", "transcript": "llo", "expires_at": 5}),
            Noted({"service_tier": "flex", "system_fingerprint": "two"}),
        ]
    )
    assert reply == Reply(
        choices=(
            Choice(
                index=0,
                text="ab",
                reasoning="hm",
                tool_calls=(
                    ToolCall("call_a", "f", '{"x":1}', upstream_id="up", signature="seal"),
                    ToolCall("call_b", "g", "free", kind="custom"),
                ),
                annotations=({"type": "url_citation"}, {"type": "other"}),
                logprobs={"content": [first, second]},
                thinking=(sealed,),
                finish=FinishReason.TOOL_CALLS,
            ),
            Choice(
                index=1,
                refusal="no",
                audio={"id": "audio_1", "data": "AABB", "transcript": "hello", "expires_at": 5},
                logprobs={"refusal": [first]},
            ),
        ),
        usage=Usage(output_tokens=2),
        notes={"system_fingerprint": "two", "service_tier": "flex"},
    )


def test_no_events_make_an_empty_reply() -> None:
    assert fold([]) == Reply()


@pytest.mark.parametrize(
    ("event", "token", "answer"),
    [
        (TextDelta(0, "a"), True, True),
        (TextDelta(0, "", {"content": []}), False, False),
        (RefusalDelta(0, "no"), True, True),
        (ReasoningDelta(0, "hm"), True, False),
        (ToolCallStarted(0, 0, "", "f"), True, True),
        (ToolCallDelta(0, 0, "{"), True, True),
        (AudioDelta(0, {"data": "AA"}), True, True),
        (ThinkingSealed(0, SealedThinking(redacted="x")), False, False),
        (Finished(0, FinishReason.STOP), False, False),
        (UsageReported(Usage()), False, False),
        (Noted({}), False, False),
    ],
)
def test_what_counts_as_a_token_and_as_the_answer(event: Event, token: bool, answer: bool) -> None:
    assert (is_token(event), is_answer(event)) == (token, answer)


@pytest.mark.parametrize(
    ("choice", "empty"),
    [
        (Choice(0, reasoning="only thought"), True),
        (Choice(0, text="a"), False),
        (Choice(0, refusal="no"), False),
        (Choice(0, tool_calls=(ToolCall("c", "f", "{}"),)), False),
        (Choice(0, audio={"id": "a"}), False),
    ],
)
def test_reasoning_alone_is_no_answer(choice: Choice, empty: bool) -> None:
    assert choice.is_empty is empty
