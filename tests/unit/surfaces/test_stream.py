"""Streamed answers, frame by frame."""

from typing import Any

import pytest
from openai.types.chat import ChatCompletionChunk

from core.chat import FinishReason, Json, SealedThinking, Usage
from core.errors import Interrupted, UpstreamRateLimited
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
)
from core.surfaces.openai_chat import StreamRenderer
from core.surfaces.surface import PLAIN, ROUTING, SURFACES, Surface
from tests.support.frames import DONE, frames_of, read_by_openai

USAGE: Json = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
EMPTY: Json = {"index": 0, "delta": {}, "finish_reason": None}
END = Finished(0, FinishReason.STOP)


def renderer(surface: Surface = PLAIN, *, include_usage: bool = False, legacy: bool = False) -> StreamRenderer:
    return StreamRenderer(
        surface,
        response_id="id-1",
        created=7,
        model="lab/small",
        include_usage=include_usage,
        legacy_functions=legacy,
    )


def frames(*events: Event, legacy: bool = False) -> list[Json]:
    data = renderer(legacy=legacy).events(events)
    return frames_of(data) if data else []


def choices(*events: Event, legacy: bool = False) -> list[Json]:
    return [choice for frame in frames(*events, legacy=legacy) for choice in frame["choices"]]


def deltas(*events: Event, legacy: bool = False) -> list[Json]:
    return [choice["delta"] for choice in choices(*events, legacy=legacy)]


def test_a_chunk_in_full() -> None:
    assert frames(TextDelta(0, "Hi")) == [
        {
            "id": "id-1",
            "object": "chat.completion.chunk",
            "created": 7,
            "model": "lab/small",
            "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hi"}, "finish_reason": None}],
        }
    ]


def test_the_first_delta_of_a_choice_has_its_role_and_no_other_has() -> None:
    assert deltas(ReasoningDelta(0, "hm"), TextDelta(0, "a"), TextDelta(0, "b"), END) == [
        {"role": "assistant", "reasoning_content": "hm"},
        {"content": "a"},
        {"content": "b"},
        {},
    ]
    assert deltas(END) == [{"role": "assistant", "content": ""}]
    assert deltas(Finished(0, FinishReason.CONTENT_FILTER)) == [{"role": "assistant"}]


def test_text_is_escaped_and_half_a_pair_is_replaced() -> None:
    assert deltas(TextDelta(0, 'q"\n\u2028é')) == [{"role": "assistant", "content": 'q"\n\u2028é'}]
    assert deltas(TextDelta(0, "a\ud83d")) == [{"role": "assistant", "content": "a\ufffd"}]


def test_a_choice_that_starts_late_finds_those_before_it_opened() -> None:
    assert choices(TextDelta(2, "c"), TextDelta(0, "a")) == [
        {"index": 0, "delta": {"role": "assistant", "content": None}, "finish_reason": None},
        {"index": 1, "delta": {"role": "assistant", "content": None}, "finish_reason": None},
        {"index": 2, "delta": {"role": "assistant", "content": "c"}, "finish_reason": None},
        {"index": 0, "delta": {"content": "a"}, "finish_reason": None},
    ]
    assert len(frames(TextDelta(10**9, "far"))) == 129


def test_calls_open_with_an_id_and_a_name_and_go_on_with_their_index() -> None:
    assert deltas(
        ToolCallStarted(0, 0, "call_1", "look", signature="sealed"),
        ToolCallDelta(0, 0, '{"a"'),
        ToolCallDelta(0, 0, ":1}"),
        ToolCallStarted(0, 1, "call_2", "run", kind="custom"),
        ToolCallDelta(0, 1, "ls"),
        Finished(0, FinishReason.TOOL_CALLS),
    ) == [
        {
            "role": "assistant",
            "tool_calls": [
                {"index": 0, "id": "call_1", "type": "function", "function": {"name": "look", "arguments": ""}}
            ],
        },
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"a"'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]},
        {"tool_calls": [{"index": 1, "id": "call_2", "type": "custom", "custom": {"name": "run", "input": ""}}]},
        {"tool_calls": [{"index": 1, "custom": {"input": "ls"}}]},
        {},
    ]


def test_callers_of_deprecated_functions_get_the_first_call_in_the_deprecated_form() -> None:
    events = (
        ToolCallStarted(0, 0, "call_1", "look"),
        ToolCallDelta(0, 0, "{}"),
        ToolCallStarted(0, 1, "call_2", "more"),
        ToolCallDelta(0, 1, "{}"),
        Finished(0, FinishReason.TOOL_CALLS),
    )
    assert deltas(*events, legacy=True) == [
        {"role": "assistant", "function_call": {"name": "look", "arguments": ""}},
        {"function_call": {"arguments": "{}"}},
        {},
    ]
    assert choices(*events, legacy=True)[-1]["finish_reason"] == "function_call"


def test_refusals_and_logprobs() -> None:
    tokens = [{"token": "a", "logprob": -0.5, "bytes": None, "top_logprobs": []}]
    first, second = choices(TextDelta(0, "a", {"content": tokens}), RefusalDelta(0, "no"))
    assert first["logprobs"] == {"content": tokens, "refusal": None}
    assert second["delta"] == {"refusal": "no"}
    assert "logprobs" not in second


def test_citations_are_sent_once_before_the_end() -> None:
    assert deltas(AnnotationsAdded(0, ("a",)), TextDelta(0, "x"), AnnotationsAdded(0, ("b",)), END) == [
        {"role": "assistant", "content": "x"},
        {"annotations": ["a", "b"]},
        {},
    ]


def test_audio_without_members_is_no_answer() -> None:
    assert deltas(AudioDelta(0, {}), Finished(0, FinishReason.STOP)) == [
        {"role": "assistant", "audio": {}},
        {"content": ""},
    ]


def test_audio_values_that_are_no_pieces_are_sent_once() -> None:
    audio = {"id": "audio_1", "data": "AA", "transcript": "h"}
    assert deltas(AudioDelta(0, audio), AudioDelta(0, {**audio, "expires_at": 5})) == [
        {"role": "assistant", "audio": audio},
        {"audio": {"data": "AA", "transcript": "h", "expires_at": 5}},
    ]


@pytest.mark.parametrize("reason", FinishReason)
def test_a_choice_ends_once(reason: FinishReason) -> None:
    ended = choices(TextDelta(0, "a"), Finished(0, reason), Finished(0, reason))
    assert [choice["finish_reason"] for choice in ended] == [None, reason.value]


def test_what_callers_do_not_see() -> None:
    hidden = (UsageReported(Usage(1)), ThinkingSealed(0, SealedThinking("hm", "sig")), Noted({"provider": "secret"}))
    assert renderer().events(hidden) == b""
    assert renderer().events(()) == b""


def test_fingerprint_and_tier_stand_on_every_later_frame() -> None:
    stream = renderer(ROUTING)
    data = stream.events((TextDelta(0, "a"), Noted({"system_fingerprint": "fp"}), TextDelta(0, "b")))
    data += stream.events((Noted({"service_tier": "flex"}), END)) + stream.closing(USAGE)
    first, second, last, usage, done = frames_of(data)
    assert "system_fingerprint" not in first
    assert second["system_fingerprint"] == "fp"
    for frame in (last, usage):
        assert (frame["system_fingerprint"], frame["service_tier"]) == ("fp", "flex")
    assert done == DONE


def test_moderation_is_sent_once_with_a_choice_that_says_nothing() -> None:
    moderation = {
        "input": {"type": "error", "code": "c", "message": "m"},
        "output": {"type": "error", "code": "c", "message": "m"},
    }
    (frame,) = frames(Noted({"moderation": moderation}))
    assert (frame["object"], frame["choices"], frame["moderation"]) == ("chat.completion.chunk", [EMPTY], moderation)
    ChatCompletionChunk.model_validate(frame)


def test_frames_of_our_own_on_the_routing_surface() -> None:
    stream = renderer(ROUTING)
    opening, usage, done = frames_of(stream.opening({"pick": "lab/small"}) + stream.closing(USAGE))
    identity = {"id": "id-1", "created": 7, "model": "lab/small", "choices": [EMPTY]}
    assert opening == {"object": "routing", **identity, "routing": {"pick": "lab/small"}}
    assert usage == {"object": "usage", **identity, "usage": USAGE}
    assert done == DONE


def test_none_on_the_plain_surface() -> None:
    stream = renderer(PLAIN)
    assert stream.opening({"pick": "lab/small"}) == b""
    assert frames_of(stream.closing(USAGE)) == [DONE]


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
def test_asked_for_usage_comes_in_openai_s_chunk_and_is_null_before(surface: Surface) -> None:
    stream = renderer(surface, include_usage=True)
    data = stream.opening({}) + stream.events((Noted({"service_tier": "flex", "metadata": {}}), TextDelta(0, "a"), END))
    *before, usage, done = frames_of(data + stream.closing(USAGE))
    assert all(frame["usage"] is None for frame in before)
    assert len(before) == (4 if surface is ROUTING else 3)
    assert usage["choices"] == []
    assert (usage["object"], usage["usage"], usage["service_tier"]) == ("chat.completion.chunk", USAGE, "flex")
    assert done == DONE


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
def test_a_failure_ends_the_stream_with_what_was_held(surface: Surface) -> None:
    stream = renderer(surface)
    data = stream.events((TextDelta(0, "a"), AnnotationsAdded(0, ("cited",))))
    data += stream.error(Interrupted("The answer broke off. Send the request again."))
    _, held, failure, done = frames_of(data)
    assert held["choices"][0]["delta"] == {"annotations": ["cited"]}
    assert failure == {
        "object": "error",
        "id": "id-1",
        "created": 7,
        "model": "lab/small",
        "choices": [],
        "error": {
            "message": "The answer broke off. Send the request again.",
            "type": "stream_error",
            "param": None,
            "code": "interrupted",
        },
    }
    assert done == DONE
    early = frames_of(renderer(surface).error(UpstreamRateLimited("Wait.")))
    assert (early[0]["error"]["type"], early[0]["error"]["code"]) == ("rate_limit_error", "upstream_rate_limited")


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
def test_a_failure_that_is_charged_says_so(surface: Surface) -> None:
    failure, done = frames_of(renderer(surface).error(Interrupted("The answer broke off."), USAGE))
    assert (failure["object"], failure["usage"], done) == ("error", USAGE, DONE)


def test_the_documented_loop_of_the_openai_package_runs_over_every_frame() -> None:
    stream = renderer(ROUTING)
    data = stream.opening({}) + stream.events((TextDelta(0, "a"), TextDelta(0, "b"), END)) + stream.closing(USAGE)
    text = ""
    for frame in frames_of(data)[:-1]:
        chunk = ChatCompletionChunk.construct(**frame)
        if chunk.choices[0].delta.content is not None:
            text += chunk.choices[0].delta.content
    assert text == "ab"


def test_the_openai_package_puts_custom_calls_together() -> None:
    data = renderer().events(
        (
            ToolCallStarted(0, 0, "call_1", "run", kind="custom"),
            ToolCallDelta(0, 0, "l"),
            ToolCallDelta(0, 0, "s"),
            Finished(0, FinishReason.TOOL_CALLS),
        )
    )
    (call,) = read_by_openai(frames_of(data)).choices[0].message.tool_calls or []
    dumped: dict[str, Any] = call.to_dict()
    assert (dumped["type"], dumped["custom"]) == ("custom", {"name": "run", "input": "ls"})
