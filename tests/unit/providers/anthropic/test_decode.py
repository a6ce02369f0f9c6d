"""Answers that the transcripts do not show: bent, early, or in another form."""

import json
from typing import Any

import pytest

from core.catalog.model import Format
from core.chat import FinishReason
from core.errors import AccountFailure, BadReply, Interrupted, UpstreamUnavailable
from core.events import AnnotationsAdded, Finished, ReasoningDelta, TextDelta, ThinkingSealed, ToolCallDelta, fold
from core.framing.sse import MAX_EVENT_BYTES
from core.providers.anthropic import AnthropicFormat
from core.providers.anthropic.decode import MessagesDecoder
from core.providers.base import Outgoing
from tests.support.laws import Outcome, answered, decoded
from tests.support.targets import make_target, make_vendor

TARGET = make_target(vendor=make_vendor(format=Format.ANTHROPIC))


def new(*custom_tools: str) -> MessagesDecoder:
    return AnthropicFormat().decoder(Outgoing(TARGET, "", {}, b"", custom_tools=frozenset(custom_tools)), 200, {})


def sse(*events: Any) -> bytes:
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()


def opened(block: dict[str, Any], index: int = 0) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def more(delta: dict[str, Any], index: int = 0) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


STOP = {"type": "message_stop"}
END = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}


def outcome(*events: Any, custom: tuple[str, ...] = ()) -> Outcome:
    return decoded(new(*custom), [sse(*events)])


def test_a_stream_is_done_at_its_end_and_hears_no_more() -> None:
    decoder = new()
    before = decoder.done
    assert decoder.feed(sse(STOP, {"type": "error"})) == (Finished(0, FinishReason.STOP),)
    assert (before, decoder.done) == (False, True)
    assert decoder.feed(b"\xff\xff\n\n") == ()
    assert decoder.close() == ()


def test_text_in_an_opening_counts() -> None:
    assert outcome(opened({"type": "text", "text": "Hi"}), END, STOP).events[0] == TextDelta(0, "Hi")


def test_blocks_that_a_host_leaves_open_are_closed_at_the_end() -> None:
    events = outcome(
        opened({"type": "thinking", "thinking": "Hm", "signature": ""}),
        more({"type": "signature_delta", "signature": "s"}),
        opened({"type": "tool_use", "id": "a", "name": "f", "input": {}}, 1),
        STOP,
    ).events
    (choice,) = fold(events).choices
    assert [(block.text, block.signature) for block in choice.thinking] == [("Hm", "s")]
    assert choice.tool_calls[0].arguments == "{}"


def test_an_index_that_is_used_again_begins_a_new_block() -> None:
    call = opened({"type": "tool_use", "id": "a", "name": "f", "input": {}})
    (choice,) = fold(outcome(call, call, STOP).events).choices
    assert [made.arguments for made in choice.tool_calls] == ["{}", "{}"]


def test_a_whole_input_in_an_opening_is_used_when_no_piece_follows() -> None:
    call = opened({"type": "tool_use", "id": "a", "name": "f", "input": {"a": 1}})
    assert ToolCallDelta(0, 0, '{"a":1}') in outcome(call, STOP).events
    pieces = outcome(call, more({"type": "input_json_delta", "partial_json": '{"b":2}'}), STOP)
    assert [event for event in pieces.events if isinstance(event, ToolCallDelta)] == [ToolCallDelta(0, 0, '{"b":2}')]


@pytest.mark.parametrize(
    ("pieces", "arguments"), [([], ""), (['{"in', 'put":"ls"}'], "ls"), (['{"x":1}'], '{"x":1}'), (['{"inp'], '{"inp')]
)
def test_a_free_text_call_is_let_out_whole(pieces: list[str], arguments: str) -> None:
    deltas = [more({"type": "input_json_delta", "partial_json": piece}) for piece in pieces]
    call = opened({"type": "tool_use", "id": "a", "name": "shell", "input": {"input": ""}})
    (choice,) = fold(outcome(call, *deltas, STOP, custom=("shell",)).events).choices
    assert (choice.tool_calls[0].kind, choice.tool_calls[0].arguments) == ("custom", arguments)


def test_a_call_without_a_name_is_no_answer() -> None:
    assert isinstance(outcome(opened({"type": "tool_use", "id": "a", "name": ""})).error, BadReply)


def test_a_piece_of_no_block_is_no_answer() -> None:
    assert isinstance(outcome(more({"type": "text_delta", "text": "x"}, 3)).error, BadReply)


def test_a_block_that_is_closed_twice_says_nothing_more() -> None:
    close = {"type": "content_block_stop", "index": 0}
    assert outcome(close, STOP).error is None


def test_redacted_thinking_without_its_data_is_left_out() -> None:
    assert not any(
        isinstance(event, ThinkingSealed) for event in outcome(opened({"type": "redacted_thinking"}), STOP).events
    )


def test_thinking_blocks_are_parted_for_readers() -> None:
    events = outcome(
        opened({"type": "thinking", "thinking": "One."}),
        opened({"type": "thinking", "thinking": ""}, 1),
        opened({"type": "thinking", "thinking": "Two."}, 2),
        STOP,
    ).events
    assert [event.text for event in events if isinstance(event, ReasoningDelta)] == ["One.", "\n\nTwo."]


def test_a_citation_without_a_title() -> None:
    cited = {"type": "text", "text": "é.", "citations": [{"type": "web_search_result_location", "url": "u"}, None]}
    notes = [event for event in outcome(opened(cited), STOP).events if isinstance(event, AnnotationsAdded)]
    found = {"url": "u", "title": "", "start_index": 0, "end_index": 2}
    assert notes == [AnnotationsAdded(0, ({"type": "url_citation", "url_citation": found},))]


def test_the_last_stop_reason_counts() -> None:
    later = {"type": "message_delta", "delta": {"stop_reason": "max_tokens", "stop_details": {"category": 7}}}
    none = {"type": "message_delta", "delta": {"stop_reason": None}}
    finished = outcome(END, later, none, STOP).events[-1]
    assert isinstance(finished, Finished)
    assert (finished.reason.value, finished.upstream_reason) == ("length", "max_tokens")


def test_a_word_that_nobody_documents_ends_an_answer() -> None:
    finished = outcome({"type": "message_delta", "delta": {"stop_reason": "bored"}}, STOP).events[-1]
    assert finished == Finished(0, FinishReason.STOP, "bored")


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ([1], BadReply),
        ({"type": "message_start"}, BadReply),
        ({"type": "message", "content": None}, BadReply),
        ({"type": "message", "content": ["x"]}, BadReply),
        ({"type": "error", "error": {"type": "authentication_error", "message": "m"}}, AccountFailure),
        ({"type": "strange", "error": {"message": "m"}}, UpstreamUnavailable),
        ({"message": "Too busy."}, UpstreamUnavailable),
        ({}, UpstreamUnavailable),
    ],
)
def test_what_is_no_answer(event: Any, kind: type[Exception]) -> None:
    assert type(outcome(event).error) is kind


def test_an_event_that_is_named_an_error_is_one() -> None:
    failure = decoded(new(), [b'event: error\ndata: {"message": "m"}\n\n']).error
    assert isinstance(failure, UpstreamUnavailable)
    assert failure.detail == "502: UpstreamUnavailable"


def test_a_failure_waits_until_what_came_before_it_was_taken() -> None:
    decoder = new()
    assert len(decoder.feed(sse(opened({"type": "text", "text": "Hi"}), [1]))) == 1
    for again in (decoder.feed, decoder.feed):
        with pytest.raises(BadReply):
            again(b"")
    with pytest.raises(BadReply):
        decoder.close()


def test_broken_framing_is_no_answer() -> None:
    assert isinstance(decoded(new(), [b"data: \xff\n\n"]).error, BadReply)
    assert isinstance(decoded(new(), [b"data: " + b"x" * MAX_EVENT_BYTES, b"x\n\n"]).error, BadReply)


@pytest.mark.parametrize(
    "data", [b"", b": ping\n\n", b'data: {"type"', b"data: \xc3", b"data: [DONE]\n\n", b"data:\n\n"]
)
def test_nothing_is_an_answer_that_broke_off(data: bytes) -> None:
    assert isinstance(decoded(new(), [data]).error, Interrupted)


def test_an_error_may_lack_its_blank_line() -> None:
    assert isinstance(
        decoded(new(), [sse({"type": "error", "error": {"type": "api_error"}}).rstrip()]).error, UpstreamUnavailable
    )


def test_a_web_page_is_shown_to_the_operator() -> None:
    failure = decoded(new(), [b"\n<!DOCTYPE html>", b"<p>" * 400]).error
    assert isinstance(failure, BadReply)
    assert failure.detail == "a web page came instead of an answer"


def test_a_turn_that_ends_with_calls_says_so_whatever_the_host_says() -> None:
    call = opened({"type": "tool_use", "id": "a", "name": "f", "input": {}})
    (choice,) = fold(answered(new(), [sse(call, END, STOP)]).events).choices
    assert choice.finish is not None
    assert choice.finish.value == "tool_calls"
    assert choice.tool_calls[0].upstream_id == "a"
