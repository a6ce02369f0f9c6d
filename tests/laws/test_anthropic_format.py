"""Laws of the Anthropic format over its golden transcripts and over what hypothesis makes up."""

import json
from collections.abc import Iterable
from typing import Any, get_args

import anthropic
import httpx2
import orjson
import pytest
from anthropic.types import StopReason
from anthropic.types.shared.error_type import ErrorType
from hypothesis import given, settings
from hypothesis import strategies as st

from core.catalog.model import Format
from core.chat import Choice, Reply
from core.errors import UpstreamUnavailable
from core.events import fold
from core.providers.anthropic import AnthropicFormat
from core.providers.anthropic.errors import STATUS_OF, failure_in_band
from core.providers.anthropic.finish import FINISH
from core.providers.base import Outgoing, StreamDecoder
from core.providers.http_errors import failure_class
from core.providers.registry import provider
from tests.support.examples import times
from tests.support.golden import Case, case_id, cases
from tests.support.laws import (
    answered,
    check_nothing_else_escapes,
    check_whole_is_fold,
    decoded,
    truncations,
)
from tests.support.splitting import cut
from tests.support.targets import make_target, make_vendor

FORMAT = AnthropicFormat()
CASES = cases(Format.ANTHROPIC)
TARGET = make_target(vendor=make_vendor(format=Format.ANTHROPIC))

each_case = pytest.mark.parametrize("case", CASES, ids=case_id)


def decoder(custom_tools: Iterable[str] = ()) -> StreamDecoder:
    return FORMAT.decoder(Outgoing(TARGET, "", {}, b"", custom_tools=frozenset(custom_tools)), 200, {})


def test_the_format_is_registered() -> None:
    assert isinstance(provider(Format.ANTHROPIC), AnthropicFormat)


@pytest.mark.parametrize("case", [case for case in CASES if "error" not in case.json("expected.json")], ids=case_id)
def test_an_answer_ends_with_its_terminal_event_alone(case: Case) -> None:
    end = case.data.rstrip()
    for length in truncations(end):
        assert answered(case.decoders()(), [end[:length]]).error is not None


ODD: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 700) | st.floats() | st.sampled_from(["", "a", "error", "\ud83d"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def odd(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """An object whose members are missing, as they should be, or anything else."""
    return st.fixed_dictionaries({}, optional={name: member | ODD for name, member in members.items()})


COUNT = st.integers(0, 9)
USAGE = odd(
    input_tokens=COUNT,
    output_tokens=COUNT,
    cache_read_input_tokens=COUNT,
    cache_creation_input_tokens=COUNT,
    cache_creation=odd(ephemeral_5m_input_tokens=COUNT, ephemeral_1h_input_tokens=COUNT),
    output_tokens_details=odd(thinking_tokens=COUNT),
    service_tier=st.just("standard"),
    speed=st.just("fast"),
)
CITATION = odd(type=st.just("web_search_result_location"), url=st.just("u"), title=st.just("t"))
BLOCK = odd(
    type=st.sampled_from(["text", "thinking", "redacted_thinking", "tool_use", "server_tool_use"]),
    text=st.just("t"),
    citations=st.lists(CITATION, max_size=2),
    thinking=st.just("h"),
    signature=st.just("s"),
    data=st.just("d"),
    id=st.just("toolu_1"),
    name=st.sampled_from(["f", "g"]),
    input=st.just({"input": "x"}),
)
DELTA = odd(
    type=st.sampled_from(["text_delta", "input_json_delta", "thinking_delta", "signature_delta", "citations_delta"]),
    text=st.just("t"),
    partial_json=st.just("{}"),
    thinking=st.just("h"),
    signature=st.just("s"),
    citation=CITATION,
    stop_reason=st.sampled_from(["end_turn", "refusal", "odd"]),
    stop_details=odd(category=st.just("bio")),
)
MESSAGE = odd(
    type=st.just("message"), content=st.lists(BLOCK | ODD, max_size=3), usage=USAGE, stop_reason=st.just("end_turn")
)
EVENT = odd(
    type=st.sampled_from(
        [
            *("message_start", "message_delta", "message_stop", "ping", "error"),
            *("content_block_start", "content_block_delta", "content_block_delta", "content_block_stop"),
        ]
    ),
    index=st.integers(0, 1),
    message=MESSAGE,
    content_block=BLOCK,
    delta=DELTA,
    usage=USAGE,
    error=odd(type=st.just("api_error"), message=st.just("m"), details=odd(error_code=st.just("c"))),
)


@given(st.lists(EVENT | ODD, max_size=6), st.booleans(), st.booleans())
@settings(max_examples=times(4))
def test_malformed_events_give_events_or_a_failure(events: list[Any], is_ended: bool, custom: bool) -> None:
    said = [*events, *[{"type": "message_stop"}] * is_ended]
    text = "".join(f"data: {json.dumps(event)}\n\n" for event in said)
    check_nothing_else_escapes(lambda: decoder(["f"] * custom), [text.encode()])


@given(MESSAGE)
@settings(max_examples=times(4))
def test_malformed_whole_messages_give_events_or_a_failure(body: Any) -> None:
    check_nothing_else_escapes(decoder, [json.dumps(body).encode()])


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
INPUT = st.dictionaries(TEXT, TEXT | st.integers(0, 9), max_size=2)
ANSWER_BLOCK = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, TEXT),
    st.builds(lambda text, seal: {"type": "thinking", "thinking": text, "signature": seal}, TEXT | st.just(""), TEXT),
    st.builds(lambda data: {"type": "redacted_thinking", "data": data}, TEXT),
    st.builds(
        lambda name, given: {"type": "tool_use", "id": "toolu_1", "name": name, "input": given},
        st.sampled_from(["f", "custom"]),
        INPUT,
    ),
)


@given(st.lists(ANSWER_BLOCK, max_size=5), st.sampled_from(sorted(FINISH)), st.data())
def test_any_answer_is_the_same_whole_and_streamed(blocks: list[Any], reason: str, data: st.DataObject) -> None:
    usage = {"input_tokens": 3, "output_tokens": 4}
    whole = {"type": "message", "content": blocks, "stop_reason": reason, "usage": usage}
    events: list[Any] = [{"type": "message_start", "message": {"content": [], "usage": usage}}]
    for index, block in enumerate(blocks):
        opening, deltas = streamed(block, data)
        events.append({"type": "content_block_start", "index": index, "content_block": opening})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 4}})
    events.append({"type": "message_stop"})
    stream = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    check_whole_is_fold(
        answered(decoder(["custom"]), [stream.encode()]), answered(decoder(["custom"]), [orjson.dumps(whole)])
    )


def streamed(block: Any, data: st.DataObject) -> tuple[Any, list[Any]]:
    """A block as it begins in a stream, and its deltas, cut anywhere."""
    match block["type"]:
        case "text":
            return {**block, "text": ""}, [{"type": "text_delta", "text": each} for each in cuts(block["text"], data)]
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": each} for each in cuts(block["thinking"], data)]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
            return {**block, "thinking": "", "signature": ""}, deltas
        case "tool_use":
            written = orjson.dumps(block["input"]).decode() if block["input"] else ""
            deltas = [{"type": "input_json_delta", "partial_json": each} for each in cuts(written, data)]
            return {**block, "input": {}}, deltas
        case _:
            return block, []


def cuts(text: str, data: st.DataObject) -> list[str]:
    at = data.draw(st.lists(st.integers(0, len(text)), max_size=4))
    return [piece.decode("utf-32-le") for piece in cut(text.encode("utf-32-le"), [4 * place for place in at])]


# Total over what the installed SDK knows, so that something new is noticed.


def test_every_stop_reason_is_mapped() -> None:
    assert set(get_args(StopReason)) == set(FINISH)


def test_every_error_type_has_a_status_and_so_a_class() -> None:
    assert set(get_args(ErrorType)) <= set(STATUS_OF)
    for kind, status in STATUS_OF.items():
        failure = failure_in_band(TARGET, {"type": "error", "error": {"type": kind, "message": "m"}})
        assert type(failure) is failure_class(status)
        assert failure.upstream_status == status


def test_an_error_type_that_nobody_knows_is_the_hosts_fault() -> None:
    assert isinstance(failure_in_band(TARGET, {"type": "error", "error": {"type": "new_error"}}), UpstreamUnavailable)


# The SDK as an independent reader of the transcripts.


def read_by_sdk(case: Case) -> anthropic.types.Message:
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=case.data)

    with httpx2.Client(transport=httpx2.MockTransport(answer)) as http:
        client = anthropic.Anthropic(api_key="k", base_url="http://127.0.0.1:9", max_retries=0, http_client=http)
        with client.messages.stream(model="m", max_tokens=1, messages=[{"role": "user", "content": "x"}]) as stream:
            return stream.get_final_message()


@pytest.mark.parametrize("case", [case for case in CASES if "reads" in case.about], ids=case_id)
def test_the_sdk_reads_the_same(case: Case) -> None:
    outcome = decoded(case.decoders()(), [case.data])
    assert outcome.error is None
    reply = fold(outcome.events)
    theirs = read_by_sdk(case)
    assert len(reply.choices) == 1
    assert our_form(reply.choices[0]) == sdk_form(theirs)
    assert our_usage(reply) == sdk_usage(theirs.usage)


def sdk_form(message: Any) -> dict[str, Any]:
    blocks = message.content
    thinking = [block for block in blocks if block.type in ("thinking", "redacted_thinking")]
    readable = [block.thinking for block in thinking if block.type == "thinking" and block.thinking]
    return {
        "finish": FINISH[message.stop_reason].value,
        "text": "".join(block.text for block in blocks if block.type == "text"),
        "reasoning": "\n\n".join(readable),
        "thinking": [
            ("redacted", block.data) if block.type == "redacted_thinking" else (block.thinking, block.signature)
            for block in thinking
        ],
        "calls": [(block.id, block.name, block.input) for block in blocks if block.type == "tool_use"],
    }


def our_form(choice: Choice) -> dict[str, Any]:
    assert choice.finish is not None
    return {
        "finish": choice.finish.value,
        "text": choice.text or "",
        "reasoning": choice.reasoning or "",
        "thinking": [
            ("redacted", block.redacted) if block.redacted is not None else (block.text, block.signature)
            for block in choice.thinking
        ],
        "calls": [(call.id, call.name, json.loads(call.arguments)) for call in choice.tool_calls],
    }


def sdk_usage(usage: Any) -> tuple[int, ...]:
    written = usage.cache_creation_input_tokens or 0
    return (
        usage.input_tokens + (usage.cache_read_input_tokens or 0) + written,
        usage.cache_read_input_tokens or 0,
        written,
        usage.output_tokens,
        usage.output_tokens_details.thinking_tokens if usage.output_tokens_details else 0,
    )


def our_usage(reply: Reply) -> tuple[int, ...]:
    usage = reply.usage
    assert usage is not None
    return (
        usage.input_tokens,
        usage.cached_tokens,
        usage.written_tokens,
        usage.output_tokens,
        usage.reasoning_tokens or 0,
    )
