"""Corners of the decoder that no golden transcript shows."""

from typing import Any

import orjson
import pytest

from core.catalog.model import Quirk
from core.chat import FinishReason, Usage
from core.errors import BadReply, Interrupted, UpstreamFailure, UpstreamUnavailable
from core.events import Event, Finished, Noted, ReasoningDelta, RefusalDelta, TextDelta, UsageReported
from core.framing.sse import MAX_EVENT_BYTES
from core.providers.base import Outgoing, StreamDecoder
from core.providers.openai import OpenAIFormat
from tests.support.laws import Outcome, decoded
from tests.support.targets import make_target, make_vendor

DONE = b"data: [DONE]\n\n"
STOP = Finished(0, FinishReason.STOP, "stop")


def decoder(*quirks: Quirk, choices: int = 1) -> StreamDecoder:
    to = make_target(vendor=make_vendor(quirks=frozenset(quirks)))
    return OpenAIFormat().decoder(Outgoing(to, "", {}, b"", choices=choices), 200, {})


def line(chunk: Any) -> bytes:
    return b"data: " + orjson.dumps(chunk) + b"\n\n"


def delta(finish: str | None = None, logprobs: Any = None, **members: Any) -> bytes:
    return line({"choices": [{"index": 0, "delta": members, "logprobs": logprobs, "finish_reason": finish}]})


def read(*data: bytes, using: StreamDecoder | None = None) -> Outcome:
    return decoded(using or decoder(), data)


def failed(*data: bytes, using: StreamDecoder | None = None) -> UpstreamFailure:
    error = read(*data, using=using).error
    assert isinstance(error, UpstreamFailure)
    return error


def test_what_came_before_a_failure_is_still_given() -> None:
    bad = decoder()
    assert bad.feed(delta(content="a") + line({"error": {"message": "m"}})) == (TextDelta(0, "a"),)
    for again in (bad.feed, bad.feed):
        with pytest.raises(UpstreamUnavailable):
            again(b"")
    with pytest.raises(UpstreamUnavailable):
        bad.close()


def test_done_is_the_marker_alone() -> None:
    good = decoder()
    states = [(good.feed(read), good.done)[1] for read in (delta("stop", content="a"), DONE)]
    assert states == [False, True]
    assert good.feed(delta(content="more")) == ()
    assert good.close() == ()


def test_an_answer_with_nothing_in_it_is_a_bad_reply() -> None:
    assert type(failed(DONE)) is BadReply
    assert type(failed(line({"choices": []}), DONE)) is BadReply
    assert type(failed(b'{"choices": []}')) is BadReply


def test_no_bytes_at_all_are_a_broken_answer() -> None:
    assert type(failed()) is Interrupted
    assert type(failed(b"\n\n")) is Interrupted
    assert type(failed(b"\xef\xbb")) is Interrupted


def test_blank_lines_and_marks_before_the_body_do_not_matter() -> None:
    whole = orjson.dumps({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]})
    for start in (b"", b"\n\n", b" \r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"):
        assert read(start + whole).events == (TextDelta(0, "a"), STOP)
        assert read(start + delta("stop", content="a"), DONE).events == (TextDelta(0, "a"), STOP)


def test_a_whole_body_that_is_cut_is_a_broken_answer() -> None:
    assert type(failed(b'{"choices": [{"message": {"content": "a"')) is Interrupted


@pytest.mark.parametrize("body", [b'[{"error": {"code": 503}}]', b'{"error": "m"}', b"[]", b'{"choices": {}}'])
def test_a_whole_body_that_is_no_answer_is_a_failure(body: bytes) -> None:
    assert type(failed(body)) is UpstreamUnavailable


def test_bodies_without_end_are_given_up() -> None:
    page = decoder()
    page.feed(b"<html>" + b"x" * 900)
    with pytest.raises(BadReply):
        page.feed(b"x" * 2_000)
    assert "larger" in failed(b"{" + b" " * MAX_EVENT_BYTES).detail


@pytest.mark.parametrize(
    "chunk",
    [
        3,
        "text",
        {"choices": [3]},
        {"choices": [{"delta": [1]}]},
        {"choices": [{"delta": {"content": 3}}]},
        {"choices": [{"delta": {"content": [3]}}]},
        {"choices": [{"delta": {"tool_calls": [3]}}]},
    ],
)
def test_what_has_not_the_form_is_a_bad_reply(chunk: Any) -> None:
    assert type(failed(line(chunk))) is BadReply


@pytest.mark.parametrize(
    "chunk",
    [
        {"object": "error"},
        {"message": "m", "type": "t"},
        {"detail": "m"},
        [{"error": {}}],
        {"choices": [{"delta": {}, "finish_reason": "error", "error": {"code": 503}}]},
        {"choices": [{"delta": {}, "finish_reason": ["odd"]}]},
        {"choices": [{"delta": {}, "finish_reason": "abort"}]},
    ],
)
def test_errors_in_other_places(chunk: Any) -> None:
    assert type(failed(line(chunk))) is UpstreamUnavailable


@pytest.mark.parametrize("text", [b"event: error\ndata: {}\n\n", b"event: error\ndata: broken\n\n", b"error: odd\n\n"])
def test_events_named_error(text: bytes) -> None:
    assert type(failed(text)) is UpstreamUnavailable


@pytest.mark.parametrize(
    "noise",
    [
        b": comment\n\n",
        b"data:\n\n",
        b"data: \n\n",
        line({}),
        line({"choices": None}),
        line({"choices": [], "error": {}}),
    ],
)
def test_noise_says_nothing(noise: bytes) -> None:
    assert read(noise, delta("stop", content="a"), noise, DONE).events == (TextDelta(0, "a"), STOP)


def test_bytes_that_are_no_text_are_a_bad_reply() -> None:
    assert type(failed(b"data: \xff\n\n")) is BadReply
    first = decoder()
    assert first.feed(delta(content="a") + b"data: \xff\n\n") == (TextDelta(0, "a"),)
    with pytest.raises(BadReply):
        first.close()


def test_an_end_in_the_middle_of_a_character_is_a_broken_answer() -> None:
    half = 'data: {"choices":[{"delta":{"content":"é'.encode()[:-1]
    assert type(failed(delta(content="a"), half)) is Interrupted
    assert read(delta("stop", content="a"), half).error is None


def test_every_answer_that_was_asked_for_must_come() -> None:
    one = delta("stop", content="a")
    assert type(failed(one, using=decoder(choices=2))) is Interrupted
    assert type(failed(one, DONE, using=decoder(choices=2))) is BadReply
    open_ended = line({"choices": [{"index": 1, "delta": {"content": "b"}}]})
    assert type(failed(one, open_ended, using=decoder(choices=2))) is Interrupted


@pytest.mark.parametrize("index", [1, 7, -1])
def test_answers_that_nobody_asked_for_are_left_out(index: int) -> None:
    more = line({"choices": [{"index": index, "delta": {"content": "b"}, "usage": {"prompt_tokens": 3}}]})
    events = read(more, delta("stop", content="a"), DONE).events
    assert events == (UsageReported(Usage(3)), TextDelta(0, "a"), STOP)


def test_a_choice_without_an_index_has_its_place() -> None:
    two = line({"choices": [{"delta": {"content": "a"}}, {"index": None, "delta": {"content": "b"}}]})
    assert read(two, DONE, using=decoder(choices=2)).events[:2] == (TextDelta(0, "a"), TextDelta(1, "b"))


def test_choices_that_never_said_anything_are_left_out() -> None:
    role = line({"choices": [{"index": 1, "delta": {"role": "assistant"}}]})
    assert read(delta("stop", content="a"), role, DONE).events == (TextDelta(0, "a"), STOP)


def test_notes_are_told_when_they_change() -> None:
    noted = [{"system_fingerprint": "a"}, {"system_fingerprint": "a"}, {"system_fingerprint": "b"}]
    events = read(*(line({"choices": [], **note}) for note in noted), delta("stop", content="x")).events
    assert [event.fields for event in events if isinstance(event, Noted)] == [noted[0], noted[2]]


@pytest.mark.parametrize(
    ("note", "is_told"),
    [
        ({"system_fingerprint": "fp_44709d6fcb"}, True),
        ({"system_fingerprint": "see sk-proj-abc at OpenAI"}, False),
        ({"system_fingerprint": "x" * 65}, False),
        ({"system_fingerprint": 3}, False),
        ({"service_tier": "flex"}, True),
        ({"service_tier": "on_demand"}, False),
        ({"service_tier": ["flex"]}, False),
        ({"system_fingerprint": "vllm-0.19.1-tp1"}, False),
        ({"moderation": {"flagged": False}}, True),
        ({"moderation": {"input": {"type": "error", "message": "Azure says no"}}}, False),
        ({"moderation": ["flagged"]}, False),
        ({"metadata": {"job": "nightly"}}, True),
        ({"metadata": {"served_by": "https://gpu-7.internal"}}, False),
        ({"metadata": {"note": "x" * 70_000}}, False),
    ],
)
def test_only_labels_are_told(note: dict[str, Any], is_told: bool) -> None:
    events = read(line({"choices": [], **note}), delta("stop", content="x")).events
    assert [event.fields for event in events if isinstance(event, Noted)] == [note] * is_told


def test_a_note_too_deep_to_be_written_again_is_not_told() -> None:
    deep = b'data: {"choices":[],"metadata":' + b'{"a":' * 300 + b"1" + b"}" * 300 + b"}\n\n"
    assert read(deep, delta("stop", content="x")).events == (TextDelta(0, "x"), STOP)


def test_a_tier_that_callers_do_not_know_still_has_its_price() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 3}}
    events = read(line({**usage, "service_tier": "on_demand"}), delta("stop", content="x")).events
    assert UsageReported(Usage(3, service_tier="on_demand")) in events


def test_groqs_member_may_be_anything() -> None:
    chunks = [line({"choices": [], "x_groq": odd}) for odd in (None, {"id": "1"}, {"usage": 3})]
    assert read(*chunks, delta("stop", content="a")).events == (TextDelta(0, "a"), STOP)


def test_usage_may_be_anything() -> None:
    chunks = [line({"choices": [], "usage": odd}) for odd in (None, {}, 3, {"total_tokens": 3})]
    assert not any(isinstance(event, UsageReported) for event in read(*chunks, delta("stop", content="a")).events)


LOGPROBS = {"content": [{"token": "a"}], "refusal": []}
CLEAN = {"content": [{"token": "a"}]}


@pytest.mark.parametrize(
    ("chunk", "events"),
    [
        (delta(content="a", logprobs=LOGPROBS), [TextDelta(0, "a", CLEAN)]),
        (delta(content="", logprobs=LOGPROBS), [TextDelta(0, "", CLEAN)]),
        (delta(logprobs=LOGPROBS, role="assistant"), [TextDelta(0, "", CLEAN)]),
        (delta(refusal="no", logprobs=LOGPROBS), [RefusalDelta(0, "no", CLEAN)]),
        (delta(content="a", refusal="no", logprobs=LOGPROBS), [RefusalDelta(0, "no"), TextDelta(0, "a", CLEAN)]),
        (delta("stop", logprobs=LOGPROBS), [TextDelta(0, "", CLEAN), Finished(0, FinishReason.STOP, "stop")]),
        (delta("stop", logprobs=-0.5), [Finished(0, FinishReason.STOP, "stop")]),
        (delta(content="a", logprobs=-0.5), [TextDelta(0, "a")]),
        (delta(content="a", logprobs={"tokens": "a"}), [TextDelta(0, "a")]),
    ],
)
def test_logprobs_stay_with_their_text(chunk: bytes, events: list[Event]) -> None:
    assert list(decoder().feed(chunk)) == events


@pytest.mark.parametrize(
    ("content", "events"),
    [
        ([{"type": "text", "text": "a"}, {"type": "reference", "reference_ids": [1]}], [TextDelta(0, "a")]),
        ([{"type": "thinking", "thinking": "h"}], [ReasoningDelta(0, "h")]),
        ([{"type": "thinking", "thinking": [{"text": "h"}, 3]}, {"text": 3}], [ReasoningDelta(0, "h")]),
        ([{"type": "thinking"}], []),
        ([], []),
    ],
)
def test_content_in_blocks(content: list[Any], events: list[Event]) -> None:
    assert list(decoder().feed(delta(content=content))) == events


def test_empty_members_say_nothing() -> None:
    empty = delta(role="assistant", content="", refusal=None, tool_calls=None, annotations=[], audio={"id": None})
    assert read(empty, delta(content=None, audio=3, annotations=3, function_call=None), delta("stop")).events == (STOP,)
    assert type(failed(empty, DONE)) is BadReply


def test_tags_are_not_looked_for_where_the_host_takes_them_out() -> None:
    tagged = decoder(Quirk.CLOSING_THINK_TAG)
    events = read(delta(reasoning="h"), delta(content="a"), delta("stop"), using=tagged).events
    assert events == (ReasoningDelta(0, "h"), TextDelta(0, "a"), STOP)
    late = decoder(Quirk.THINK_TAGS)
    events = read(delta(content="a"), delta(reasoning="h"), delta("stop", content="b"), using=late).events
    assert events == (TextDelta(0, "a"), ReasoningDelta(0, "h"), TextDelta(0, "b"), STOP)


@pytest.mark.parametrize(("finish", "text"), [("stop", "Yes."), ("length", "")])
def test_thinking_that_was_only_assumed(finish: str, text: str) -> None:
    tagged = decoder(Quirk.CLOSING_THINK_TAG)
    events = read(delta(finish, content="Yes."), DONE, using=tagged).events
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == text


def test_an_unknown_reason_ends_an_answer_like_any_other() -> None:
    assert read(delta("weird", content="a"), DONE).events[-1] == Finished(0, FinishReason.STOP, "weird")
    assert read(delta("", content="a"), DONE).events[-1] == Finished(0, FinishReason.STOP)
