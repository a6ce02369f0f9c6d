"""Corners of answers that no transcript shows."""

import json
from typing import Any

import pytest

from core.catalog.model import Format
from core.chat import FinishReason, SealedThinking
from core.errors import BadReply, Interrupted, UpstreamUnavailable
from core.events import Event, Finished, Noted, TextDelta, ThinkingSealed, ToolCallStarted, UsageReported
from core.framing.sse import MAX_EVENT_BYTES
from core.providers.base import Outgoing, StreamDecoder
from core.providers.gemini import GeminiFormat
from core.providers.gemini.logprobs import logprobs_of
from tests.support.laws import Outcome, decoded
from tests.support.targets import make_target, make_vendor

TARGET = make_target(vendor=make_vendor(format=Format.GEMINI))


def decoder(custom_tools: frozenset[str] = frozenset(), **headers: str) -> StreamDecoder:
    return GeminiFormat().decoder(Outgoing(TARGET, "", {}, b"", custom_tools=custom_tools), 200, headers)


def frame(said: Any) -> bytes:
    return f"data: {json.dumps(said)}\n\n".encode()


def answer(*parts: Any, finish: str | None = "STOP", **more: Any) -> bytes:
    candidate = {"content": {"parts": list(parts)}, **more}
    return frame({"candidates": [candidate if finish is None else {**candidate, "finishReason": finish}]})


def outcome(*reads: bytes) -> Outcome:
    return decoded(decoder(), reads)


def failed(*reads: bytes) -> str:
    error = outcome(*reads).error
    assert isinstance(error, BadReply)
    return error.detail


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        (frame(3), "an event is not an object"),
        (frame({"candidates": ["x"]}), "a candidate is not an object"),
        (answer("x"), "a part is not an object"),
        (answer({"functionCall": {}}), "a tool call has no name"),
        (answer({"functionCall": {"name": "f", "args": []}}), "the arguments of a tool call are not an object"),
        (answer({"functionCall": {"name": "f", "willContinue": True}}), "a tool call came in pieces"),
        (b"data: \xff\n\n", "an event is not UTF-8"),
        (b"data: {oops\n\n", "an event is not JSON"),
    ],
)
def test_what_is_not_the_format(data: bytes, detail: str) -> None:
    assert failed(data).startswith(detail)


def test_arguments_too_deep_to_be_written() -> None:
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"a": deep}
    assert failed(answer({"functionCall": {"name": "f", "args": deep}})).endswith("nested too deep")


def test_a_failure_waits_for_what_came_before_it() -> None:
    reader = decoder()
    assert reader.feed(answer({"text": "Hi"}, finish=None) + frame(3)) == (TextDelta(0, "Hi"),)
    for _ in range(2):
        with pytest.raises(BadReply):
            reader.feed(b"")


def test_an_event_named_error_is_one_whatever_it_says() -> None:
    assert isinstance(outcome(b'event: error\ndata: {"candidates":[]}\n\n').error, UpstreamUnavailable)


@pytest.mark.parametrize("said", [{"message": "Bad gateway"}, {"detail": "x"}, {"candidate": []}])
def test_an_object_of_something_else_is_an_error(said: Any) -> None:
    assert isinstance(outcome(frame(said)).error, UpstreamUnavailable)


@pytest.mark.parametrize(
    "said",
    [
        {},
        [],
        {"candidates": None},
        {"responseId": "r"},
        {"usageMetadata": None, "promptFeedback": {"safetyRatings": []}},
        {"candidates": [{}]},
        {"candidates": [{"content": {}}]},
    ],
)
def test_events_that_say_nothing(said: Any) -> None:
    got = outcome(frame(said), b"data:\n\n", answer({"text": "Hi"}))
    assert got.error is None
    assert got.events == (TextDelta(0, "Hi"), Finished(0, FinishReason.STOP, "STOP"))


def test_nothing_after_the_end_marker_counts() -> None:
    reader = decoder()
    reader.feed(answer({"text": "Hi"}) + b"data: [DONE]\n\n" + frame(3))
    assert reader.done
    assert reader.close() == (Finished(0, FinishReason.STOP, "STOP"),)


def test_the_end_marker_alone_is_no_end() -> None:
    assert isinstance(outcome(answer({"text": "Hi"}, finish=None), b"data: [DONE]\n\n").error, Interrupted)


@pytest.mark.parametrize("rest", [b"data: {oops", b"data: \xe6", b"data: " + b"x" * 10])
def test_a_cut_event_behind_the_end_says_nothing(rest: bytes) -> None:
    got = outcome(answer({"text": "Hi"}), rest)
    assert got.error is None
    assert got.events[-1] == Finished(0, FinishReason.STOP, "STOP")


@pytest.mark.parametrize(
    "data", [b"\xef", b"\xef\xbb\xbf", b"\xef\xbb\xbf \r\n", b"[", b'{"candidates":[]', b"[]", b"{}"]
)
def test_a_body_that_ends_before_it_says_anything(data: bytes) -> None:
    assert isinstance(outcome(data).error, Interrupted)


def test_a_byte_order_mark_may_stand_before_any_form() -> None:
    body = answer({"text": "Hi"}).removeprefix(b"data: ")
    for data in (b"data: " + body, body, b"[" + body + b"]"):
        got = outcome(*(bytes([byte]) for byte in b"\xef\xbb\xbf" + data))
        assert got.error is None
        assert got.events[0] == TextDelta(0, "Hi")


def test_a_page_is_told_by_its_beginning_and_bounded() -> None:
    assert failed(b"<html>" + b"x" * 10_000) == "a web page came instead of an answer"
    assert failed(b"<", b"html>") == "a web page came instead of an answer"
    with pytest.raises(BadReply):
        decoder().feed(b"<html>" + b"x" * 10_000)


def test_a_body_without_frames_is_bounded() -> None:
    reader = decoder()
    reader.feed(b"[")
    with pytest.raises(BadReply, match="could not be read"):
        reader.feed(b" " * MAX_EVENT_BYTES)


def test_a_free_text_call_without_its_text_is_empty() -> None:
    reader = decoder(frozenset({"f"}))
    data = answer({"functionCall": {"name": "f"}}, {"functionCall": {"name": "f", "args": {"text": "x"}}})
    events: list[Event] = [*reader.feed(data), *reader.close()]
    assert [event for event in events if isinstance(event, ToolCallStarted)] == [
        ToolCallStarted(0, 0, "", "f", "custom"),
        ToolCallStarted(0, 1, "", "f", "custom"),
    ]


@pytest.mark.parametrize(
    "part", [{"text": 3}, {"inlineData": {"mimeType": "audio/wav", "data": "AA=="}}, {"inlineData": {}}, {}, {"x": 1}]
)
def test_parts_without_a_place_are_left_out(part: Any) -> None:
    assert outcome(answer(part, {"text": "Hi"})).events[0] == TextDelta(0, "Hi")


def test_a_signature_without_a_thought_is_kept() -> None:
    got = outcome(answer({"text": "", "thought": True, "thoughtSignature": "c2ln"}, {"text": "Hi"}))
    assert got.events[:2] == (ThinkingSealed(0, SealedThinking("", "c2ln")), TextDelta(0, "Hi"))


def test_a_finish_reason_is_the_first_one_in_any_case() -> None:
    got = outcome(answer({"text": "Hi"}, finish="max_tokens"), answer(finish="STOP"))
    assert got.events[-1] == Finished(0, FinishReason.LENGTH, "MAX_TOKENS")


def test_a_candidate_without_an_index_is_known_by_its_place() -> None:
    def one(text: str) -> dict[str, Any]:
        return {"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}

    got = outcome(frame({"candidates": [one("a"), one("b")]}))
    assert [event for event in got.events if isinstance(event, TextDelta)] == [TextDelta(0, "a"), TextDelta(1, "b")]


def test_the_tier_is_noted_once_and_only_if_callers_know_it() -> None:
    def report(count: int, tier: str) -> bytes:
        return frame({"usageMetadata": {"promptTokenCount": count, "trafficType": tier}})

    got = outcome(report(1, "ON_DEMAND_FLEX"), report(2, "ON_DEMAND_FLEX"), report(3, "ON_DEMAND_OFFPEAK"))
    assert [type(event) for event in got.events] == [Noted, UsageReported, UsageReported, UsageReported]
    assert got.events[0] == Noted({"service_tier": "flex"})


def test_logprobs_stay_with_the_text_of_their_own_event() -> None:
    tokens = {"chosenCandidates": [{"token": "t", "logProbability": -1}]}
    said = {"content": [{"token": "t", "logprob": -1, "bytes": [116], "top_logprobs": []}]}
    got = outcome(
        answer({"text": "t"}, finish=None),
        answer({"text": "t"}, finish=None, logprobsResult=tokens),
        answer({"functionCall": {"name": "f"}}, logprobsResult=tokens),
    )
    texts = [event for event in got.events if isinstance(event, TextDelta)]
    assert texts == [TextDelta(0, "t"), TextDelta(0, "t", said), TextDelta(0, "", said)]


@pytest.mark.parametrize(
    "result", [None, {}, "x", {"chosenCandidates": []}, {"chosenCandidates": 3, "topCandidates": [{}]}]
)
def test_no_logprobs(result: Any) -> None:
    assert logprobs_of(result) is None
    assert outcome(answer({"text": "t"}, logprobsResult=result)).events[0] == TextDelta(0, "t")


def test_odd_logprobs() -> None:
    result = {"chosenCandidates": [{"logProbability": None}, "x"], "topCandidates": [{"candidates": 3}]}
    assert logprobs_of(result) == {
        "content": [
            {"token": "", "logprob": -9999.0, "bytes": [], "top_logprobs": []},
            {"token": "", "logprob": 0.0, "bytes": [], "top_logprobs": []},
        ]
    }
