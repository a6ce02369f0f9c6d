"""What a stream decoder does beside the transcripts: when it is done, what it keeps, what it takes for a body."""

from typing import Any

import orjson
import pytest

from core.catalog.model import Format
from core.chat import FinishReason, SealedThinking, Usage
from core.errors import BadReply, Interrupted, UpstreamFailure, UpstreamRateLimited
from core.events import (
    AnnotationsAdded,
    Event,
    Finished,
    ReasoningDelta,
    TextDelta,
    ThinkingSealed,
    ToolCallDelta,
    ToolCallStarted,
    UsageReported,
)
from core.framing.eventstream import MAX_PAYLOAD_BYTES
from core.providers.base import Outgoing
from core.providers.bedrock.decode import ConverseDecoder
from tests.support.bedrock_frames import events
from tests.support.eventstream import encode_event, encode_frame
from tests.support.targets import make_target, make_vendor

TARGET = make_target(vendor=make_vendor(format=Format.BEDROCK))
START = ("messageStart", {"role": "assistant"})
TEXT = ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Hi."}})
STOP = ("messageStop", {"stopReason": "end_turn"})
METADATA = ("metadata", {"usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}})
THROTTLED = ("exception:throttlingException", {"message": "m"})
USAGE = UsageReported(Usage(input_tokens=1, output_tokens=2))
END = Finished(0, FinishReason.STOP, "end_turn")


def decoder(*custom_tools: str) -> ConverseDecoder:
    return ConverseDecoder(Outgoing(TARGET, "", {}, b"", custom_tools=frozenset(custom_tools)))


def is_done(reader: ConverseDecoder) -> bool:
    return reader.done


def delta(index: int, **delta: Any) -> tuple[str, Any]:
    return ("contentBlockDelta", {"contentBlockIndex": index, "delta": delta})


def started(index: int, **start: Any) -> tuple[str, Any]:
    return ("contentBlockStart", {"contentBlockIndex": index, "start": start})


def stopped(index: int) -> tuple[str, Any]:
    return ("contentBlockStop", {"contentBlockIndex": index})


def fed(*frames: tuple[str, Any]) -> tuple[Event, ...]:
    """What an answer with these frames brings up to its stop."""
    return decoder().feed(events(START, *frames))


def test_metadata_makes_it_done_and_nothing_that_follows_matters() -> None:
    reader = decoder()
    assert reader.feed(events(START, TEXT, STOP)) == (TextDelta(0, "Hi."), END)
    assert not is_done(reader)
    assert reader.feed(events(METADATA, THROTTLED) + b"garbage") == (USAGE,)
    assert is_done(reader)
    assert reader.feed(b"more") == ()
    assert reader.close() == ()


def test_a_stop_without_metadata_is_an_end() -> None:
    reader = decoder()
    reader.feed(events(TEXT, STOP))
    assert reader.close() == ()
    assert not reader.done


def test_a_stop_with_broken_metadata_is_none() -> None:
    reader = decoder()
    assert reader.feed(events(TEXT, STOP, METADATA)[:-3])[-1] == END
    with pytest.raises(Interrupted) as caught:
        reader.close()
    assert "cut" in caught.value.detail


def test_nothing_at_all_is_interrupted() -> None:
    reader = decoder()
    assert reader.feed(b"") == ()
    with pytest.raises(Interrupted):
        reader.close()


def test_what_came_before_a_failure_is_passed_on_first() -> None:
    reader = decoder()
    assert reader.feed(events(TEXT, THROTTLED, TEXT)) == (TextDelta(0, "Hi."),)
    with pytest.raises(UpstreamRateLimited):
        reader.feed(events(TEXT))
    with pytest.raises(UpstreamRateLimited):
        reader.close()


def test_a_failure_first_is_raised_at_once() -> None:
    with pytest.raises(UpstreamRateLimited):
        decoder().feed(events(THROTTLED))


def test_a_failure_behind_the_stop_counts() -> None:
    reader = decoder()
    assert reader.feed(events(TEXT, STOP, THROTTLED)) == (TextDelta(0, "Hi."), END)
    with pytest.raises(UpstreamRateLimited):
        reader.feed(b"")
    with pytest.raises(UpstreamRateLimited):
        reader.close()


def test_an_answer_that_failed_is_metered() -> None:
    reader = decoder()
    assert reader.feed(events(TEXT, ("messageStop", {"stopReason": "malformed_tool_use"}))) == (TextDelta(0, "Hi."),)
    assert reader.feed(b"") == ()
    assert reader.feed(events(METADATA)) == (USAGE,)
    assert reader.done
    with pytest.raises(BadReply) as caught:
        reader.close()
    assert caught.value.detail == "malformed_tool_use"


@pytest.mark.parametrize(
    "frame",
    [
        ("contentBlockDelta", {"delta": {"text": "x"}}),
        ("contentBlockDelta", {"contentBlockIndex": True, "delta": {"text": "x"}}),
        ("contentBlockDelta", {"contentBlockIndex": 0}),
        ("contentBlockStart", {"contentBlockIndex": 0, "start": []}),
        ("contentBlockStart", {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "t"}}}),
        ("contentBlockStart", {"contentBlockIndex": 0, "start": {"toolUse": {"name": 5}}}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"toolUse": {"input": "{}"}}}),
        ("messageStop", {}),
        ("messageStop", []),
        ("metadata", "not json"),
    ],
)
def test_what_is_not_the_format_is_a_bad_reply(frame: tuple[str, Any]) -> None:
    with pytest.raises(BadReply):
        decoder().feed(events(frame))


def test_frames_of_other_kinds_are_skipped() -> None:
    other = encode_frame({":message-type": "note", ":event-type": "messageStop"}, b"{}")
    bare = encode_frame({}, b"")
    later = encode_event("somethingNew", b"not even JSON")
    assert decoder().feed(other + bare + later + events(TEXT)) == (TextDelta(0, "Hi."),)


def test_an_exception_without_a_body() -> None:
    with pytest.raises(UpstreamRateLimited):
        decoder().feed(encode_frame({":message-type": "exception", ":exception-type": "throttlingException"}, b""))


def test_blocks_may_be_interleaved() -> None:
    call = {"toolUseId": "t", "name": "f"}
    frames = [
        *(started(1, toolUse=call), delta(0, text="a"), delta(1, toolUse={"input": "{"}), delta(0, text="b")),
        *(delta(1, toolUse={"input": "}"}), stopped(1), stopped(0)),
    ]
    assert fed(*frames) == (
        ToolCallStarted(0, 0, "t", "f"),
        TextDelta(0, "a"),
        ToolCallDelta(0, 0, "{"),
        TextDelta(0, "b"),
        ToolCallDelta(0, 0, "}"),
    )


def test_a_block_that_changes_its_kind_is_another_block() -> None:
    frames = [
        delta(0, reasoningContent={"text": "Hm."}),
        delta(0, reasoningContent={"signature": "S"}),
        delta(0, text="a"),
    ]
    assert fed(*frames) == (
        ReasoningDelta(0, "Hm."),
        ThinkingSealed(0, SealedThinking("Hm.", "S")),
        TextDelta(0, "a"),
    )


def test_a_call_without_an_id() -> None:
    assert fed(started(0, toolUse={"name": "f"}), delta(0, toolUse={"input": {"a": 1}})) == (
        ToolCallStarted(0, 0, "", "f"),
        ToolCallDelta(0, 0, '{"a":1}'),
    )


def test_a_free_text_tools_call_is_held_until_it_is_whole() -> None:
    reader = decoder("sh")
    call = [started(0, toolUse={"toolUseId": "t", "name": "sh"}), delta(0, toolUse={"input": '{"input":"l'})]
    assert reader.feed(events(*call)) == (ToolCallStarted(0, 0, "t", "sh", "custom"),)
    rest = [delta(0, toolUse={"input": 's"}'}), ("messageStop", {"stopReason": "tool_use"})]
    assert reader.feed(events(*rest))[0] == ToolCallDelta(0, 0, "ls")


def test_pieces_of_what_is_sealed_are_put_together() -> None:
    pieces = [delta(0, reasoningContent={"redactedContent": piece}) for piece in ("AA==", "AQI=")]
    assert fed(*pieces, stopped(0)) == (ThinkingSealed(0, SealedThinking(redacted="AAEC")),)
    with pytest.raises(BadReply):
        fed(*pieces, delta(0, reasoningContent={"redactedContent": "?"}), stopped(0))


def test_one_piece_of_what_is_sealed_stays_as_it_is() -> None:
    odd = "not base64"
    assert fed(delta(0, reasoningContent={"redactedContent": odd}), stopped(0)) == (
        ThinkingSealed(0, SealedThinking(redacted=odd)),
    )


def test_text_and_seal_in_one_block_are_two() -> None:
    pieces = [
        delta(0, reasoningContent=each) for each in ({"text": "a"}, {"signature": "S"}, {"redactedContent": "AA=="})
    ]
    assert fed(*pieces, stopped(0))[1:] == (
        ThinkingSealed(0, SealedThinking("a", "S")),
        ThinkingSealed(0, SealedThinking(redacted="AA==")),
    )


@pytest.mark.parametrize(
    "citation",
    [
        None,
        {"title": "t"},
        {"location": {"documentPage": {"start": 1}}},
        {"location": {"web": {"domain": "d"}}},
        {"location": "x"},
    ],
)
def test_citations_without_an_address_have_no_place(citation: Any) -> None:
    assert fed(delta(0, text="a"), delta(0, citation=citation), stopped(0)) == (TextDelta(0, "a"),)


def test_a_citation_may_lack_a_title() -> None:
    cited = {"location": {"web": {"url": "https://a/b"}}}
    (_, added) = fed(delta(0, text="aé"), delta(0, citation=cited), stopped(0))
    found = {"url": "https://a/b", "title": "", "start_index": 0, "end_index": 2}
    assert added == AnnotationsAdded(0, ({"type": "url_citation", "url_citation": found},))


def whole(content: Any, **members: Any) -> bytes:
    message = {"message": {"role": "assistant", "content": content}}
    return orjson.dumps({"output": message, "stopReason": "end_turn", **members})


def test_a_whole_answer_comes_at_its_end() -> None:
    reader = decoder()
    data = whole([{"text": "Hi."}, {"novelty": 1}])
    assert reader.feed(b" \n" + data[:9]) == ()
    assert reader.feed(data[9:]) == ()
    assert reader.close() == (TextDelta(0, "Hi."), END)
    assert reader.done


def test_the_blocks_of_a_whole_answer_are_those_of_a_stream() -> None:
    thinking = {"reasoningText": {"text": "Hm.", "signature": "S"}}
    cited = {"content": [{"text": "a"}, 5], "citations": [{"title": "t", "location": {"web": {"url": "https://a/b"}}}]}
    blocks = [
        {"reasoningContent": thinking},
        {"reasoningContent": {"redactedContent": "AA=="}},
        {"citationsContent": cited},
        {"citationsContent": {}},
        {"toolUse": {"toolUseId": "t", "name": "f", "input": {"a": 1}}},
    ]
    reader = decoder()
    reader.feed(whole(blocks, stopReason="tool_use"))
    found = {"url": "https://a/b", "title": "t", "start_index": 0, "end_index": 1}
    assert reader.close() == (
        ReasoningDelta(0, "Hm."),
        ThinkingSealed(0, SealedThinking("Hm.", "S")),
        ThinkingSealed(0, SealedThinking(redacted="AA==")),
        TextDelta(0, "a"),
        AnnotationsAdded(0, ({"type": "url_citation", "url_citation": found},)),
        ToolCallStarted(0, 0, "t", "f", "function"),
        ToolCallDelta(0, 0, '{"a":1}'),
        Finished(0, FinishReason.TOOL_CALLS, "tool_use"),
    )


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (whole([5]), BadReply),
        (whole([{"toolUse": {}}]), BadReply),
        (whole([], stopReason=None), BadReply),
        (whole([], stopReason="malformed_model_output"), BadReply),
        (b"{}", BadReply),
        (b"[]", BadReply),
        (b'{"output":{"message":[]}}', BadReply),
        (b'{"message":"m","__type":"x#ThrottlingException"}', UpstreamRateLimited),
        (b'{"output":', Interrupted),
        (b"<html>", BadReply),
        (b"\xff\xff", BadReply),
        (b"\n\n", BadReply),
    ],
)
def test_other_bodies_are_failures(body: bytes, kind: type[UpstreamFailure]) -> None:
    reader = decoder()
    assert reader.feed(body) == ()
    with pytest.raises(kind):
        reader.close()


def test_a_body_has_its_bounds() -> None:
    reader = decoder()
    reader.feed(b"{" + b" " * (MAX_PAYLOAD_BYTES - 1))
    with pytest.raises(BadReply):
        reader.feed(b" ")


def test_an_empty_piece_of_text_says_nothing() -> None:
    assert fed(delta(0, text=""), TEXT, delta(0, text="")) == (TextDelta(0, "Hi."),)
