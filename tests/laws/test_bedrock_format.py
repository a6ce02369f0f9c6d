"""Laws of the Bedrock format over its golden transcripts and over what hypothesis makes up."""

import json
from base64 import b64encode
from collections.abc import Iterable
from typing import Any

import orjson
import pytest
from botocore.exceptions import EventStreamError
from botocore.parsers import create_parser
from hypothesis import given, settings
from hypothesis import strategies as st

from core.catalog.model import Format
from core.chat import Choice
from core.errors import Interrupted
from core.events import fold
from core.providers.base import Outgoing, StreamDecoder
from core.providers.bedrock import BedrockFormat
from core.providers.bedrock.errors import STATUS_OF
from core.providers.bedrock.finish import FAILED, FINISH
from core.providers.registry import provider
from tests.support.bedrock_frames import encoded, events
from tests.support.converse_checks import operation
from tests.support.examples import times
from tests.support.golden import Case, case_id, cases
from tests.support.laws import (
    Outcome,
    answered,
    check_nothing_else_escapes,
    check_whole_is_fold,
    decoded,
    truncations,
)
from tests.support.splitting import cut
from tests.support.targets import make_target, make_vendor

FORMAT = BedrockFormat()
CASES = cases(Format.BEDROCK)
STREAMS = [case for case in CASES if case.has("frames.json")]
TARGET = make_target(vendor=make_vendor(format=Format.BEDROCK))

each_case = pytest.mark.parametrize("case", CASES, ids=case_id)
each_stream = pytest.mark.parametrize("case", STREAMS, ids=case_id)


def decoder(custom_tools: Iterable[str] = ()) -> StreamDecoder:
    return FORMAT.decoder(Outgoing(TARGET, "", {}, b"", custom_tools=frozenset(custom_tools)), 200, {})


def test_the_format_is_registered() -> None:
    assert isinstance(provider(Format.BEDROCK), BedrockFormat)


@each_stream
def test_a_transcripts_bytes_are_what_its_frames_say(case: Case) -> None:
    assert case.data == encoded(case.json("frames.json"))


@pytest.mark.parametrize("case", [case for case in STREAMS if "error" not in case.json("expected.json")], ids=case_id)
def test_a_stream_cut_anywhere_but_behind_its_stop_has_failed(case: Case) -> None:
    frames = case.json("frames.json")["frames"]
    stopped = next(index for index, frame in enumerate(frames) if "messageStop" in frame) + 1
    complete = {len(encoded({"frames": frames[:length]})) for length in range(stopped, len(frames) + 1)}
    new = case.decoders()
    for length in sorted({*truncations(case.data), *complete} - {len(case.data)}):
        failed = answered(new(), [case.data[:length]]).error is not None
        assert failed != (length in complete), length


@each_stream
@given(data=st.data())
@settings(max_examples=times(0.3))
def test_a_damaged_bit_breaks_the_answer_off(case: Case, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(case.data) - 1))
    damaged = bytearray(case.data)
    damaged[at] ^= 1 << data.draw(st.integers(0, 7))
    full, outcome = (decoded(case.decoders()(), [each]) for each in (case.data, bytes(damaged)))
    assert outcome.error is not None
    assert outcome.events == full.events[: len(outcome.events)]


@given(st.integers(4, 400), st.integers(0, 7))
def test_damage_behind_the_first_byte_is_an_interruption(at: int, bit: int) -> None:
    data = bytearray(next(case.data for case in CASES if case.name == "text"))
    data[at] ^= 1 << bit
    assert isinstance(decoded(decoder(), [bytes(data)]).error, Interrupted)


ODD: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 700) | st.floats() | st.sampled_from(["", "a", "AA==", "\ud83d"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def odd(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """An object whose members are missing, as they should be, or anything else."""
    return st.fixed_dictionaries({}, optional={name: member | ODD for name, member in members.items()})


COUNT, INDEX = st.integers(0, 9), st.integers(0, 2)
USAGE = odd(
    inputTokens=COUNT,
    outputTokens=COUNT,
    cacheReadInputTokens=COUNT,
    cacheWriteInputTokens=COUNT,
    cacheDetails=st.lists(odd(ttl=st.sampled_from(["5m", "1h"]), inputTokens=COUNT) | ODD, max_size=2),
)
THOUGHT = odd(text=st.just("h"), signature=st.just("S=="), redactedContent=st.sampled_from(["AA==", "?"]))
CALL = odd(
    toolUseId=st.just("t1"),
    name=st.sampled_from(["f", "g"]),
    input=st.sampled_from([{"input": "x"}, "{}", '{"a":']),
    type=st.just("server_tool_use"),
)
CITATION = odd(title=st.just("t"), location=odd(web=odd(url=st.just("u"), domain=st.just("d"))))
DELTA = odd(
    text=st.just("t"), toolUse=odd(input=st.just("{}")), reasoningContent=THOUGHT, citation=CITATION, toolResult=ODD
)
STOP = odd(stopReason=st.sampled_from(["end_turn", "max_tokens", "malformed_tool_use"]))
METADATA = odd(usage=USAGE, serviceTier=odd(type=st.just("flex")))
FRAME = st.one_of(
    st.tuples(st.just("messageStart"), odd(role=st.just("assistant"))),
    st.tuples(st.just("contentBlockStart"), odd(contentBlockIndex=INDEX, start=odd(toolUse=CALL, toolResult=ODD))),
    st.tuples(st.just("contentBlockDelta"), odd(contentBlockIndex=INDEX, delta=DELTA)),
    st.tuples(st.just("contentBlockDelta"), odd(contentBlockIndex=INDEX, delta=DELTA)),
    st.tuples(st.just("contentBlockStop"), odd(contentBlockIndex=INDEX)),
    st.tuples(st.just("messageStop"), STOP),
    st.tuples(st.just("metadata"), METADATA),
    st.tuples(st.sampled_from(["messageStop", "metadata", "contentBlockDelta", "other"]), ODD),
    st.tuples(st.sampled_from(["exception:throttlingException", "exception:modelErrorException", "exception:"]), ODD),
)


@given(st.lists(FRAME, max_size=6), st.booleans())
@settings(max_examples=times(4))
def test_malformed_events_give_events_or_a_failure(frames: list[tuple[str, Any]], wrapped: bool) -> None:
    data = events(*((kind, json.dumps(payload)) for kind, payload in frames))
    check_nothing_else_escapes(lambda: decoder(["f"] * wrapped), [data])


BLOCK = odd(
    text=st.just("t"),
    toolUse=CALL,
    reasoningContent=odd(reasoningText=THOUGHT, redactedContent=st.just("AA==")),
    citationsContent=odd(
        content=st.lists(odd(text=st.just("t")), max_size=2), citations=st.lists(CITATION, max_size=2)
    ),
)
ANSWER = odd(
    output=odd(message=odd(content=st.lists(BLOCK | ODD, max_size=3))),
    stopReason=st.sampled_from(["end_turn", "tool_use"]),
    usage=USAGE,
    message=st.just("m"),
)


@given(ANSWER, st.booleans())
@settings(max_examples=times(4))
def test_malformed_answers_give_events_or_a_failure(answer: Any, wrapped: bool) -> None:
    check_nothing_else_escapes(lambda: decoder(["f"] * wrapped), [json.dumps(answer).encode()])


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
ARGUMENTS = st.dictionaries(TEXT, TEXT | st.integers(0, 9), max_size=2)
THINKING = st.tuples(TEXT, st.sampled_from([None, "S1==", "S2=="]))
PART = st.one_of(
    st.tuples(st.just("text"), TEXT),
    st.tuples(st.just("thinking"), THINKING),
    st.tuples(st.just("redacted"), st.binary(min_size=1, max_size=9)),
    st.tuples(st.just("call"), ARGUMENTS),
)


@given(st.lists(PART, max_size=5), st.data())
def test_any_answer_is_the_same_whole_and_streamed(parts: list[tuple[str, Any]], data: st.DataObject) -> None:
    content: list[Any] = []
    frames: list[tuple[str, Any]] = []
    for index, (kind, value) in enumerate(parts):
        block, start, deltas = spoken(index, kind, value, data)
        content.append(block)
        if start is not None:
            frames.append(("contentBlockStart", {"contentBlockIndex": index, "start": start}))
        frames += [("contentBlockDelta", {"contentBlockIndex": index, "delta": delta}) for delta in deltas]
        frames.append(("contentBlockStop", {"contentBlockIndex": index}))
    usage = {"inputTokens": 3, "outputTokens": 4, "totalTokens": 7}
    frames += [("messageStop", {"stopReason": "end_turn"}), ("metadata", {"usage": usage})]
    whole = {"output": {"message": {"content": content}}, "stopReason": "end_turn", "usage": usage}
    check_whole_is_fold(answered(decoder(), [events(*frames)]), answered(decoder(), [orjson.dumps(whole)]))


def spoken(index: int, kind: str, value: Any, data: st.DataObject) -> tuple[Any, Any, list[Any]]:
    """A block of a whole answer, and how a stream starts and continues it."""
    if kind == "text":
        return {"text": value}, None, [{"text": piece} for piece in data.draw(cuts(value))]
    if kind == "call":
        call = {"toolUseId": f"t{index}", "name": "f"}
        pieces = data.draw(cuts(orjson.dumps(value).decode())) if value else []
        return {"toolUse": {**call, "input": value}}, {"toolUse": call}, [{"toolUse": {"input": p}} for p in pieces]
    if kind == "redacted":
        redacted = {"redactedContent": as_base64(value)}
        halves = cut(value, data.draw(st.lists(st.integers(0, len(value)), max_size=2)))
        return (
            {"reasoningContent": redacted},
            None,
            [{"reasoningContent": {"redactedContent": as_base64(half)}} for half in halves],
        )
    text, signature = value
    sealed = {"text": text} if signature is None else {"text": text, "signature": signature}
    deltas = [{"text": piece} for piece in data.draw(cuts(text))]
    deltas += [] if signature is None else [{"signature": signature}]
    return {"reasoningContent": {"reasoningText": sealed}}, None, [{"reasoningContent": delta} for delta in deltas]


def as_base64(data: bytes) -> str:
    return b64encode(data).decode()


def cuts(text: str) -> st.SearchStrategy[list[str]]:
    """A text in pieces."""
    data = text.encode("utf-32-le")
    at = st.lists(st.integers(0, len(text)), max_size=4).map(lambda places: [4 * place for place in places])
    return at.map(lambda places: [piece.decode("utf-32-le") for piece in cut(data, places)])


def stream_members() -> dict[str, Any]:
    """What a stream may bring, by the service model."""
    output: Any = operation().output_shape
    members: dict[str, Any] = output.members["stream"].members
    return members


def test_every_stop_reason_of_the_service_has_a_meaning() -> None:
    reasons = stream_members()["messageStop"].members["stopReason"].enum
    assert reasons
    assert set(reasons) <= set(FINISH) | FAILED
    assert not set(FINISH) & FAILED


def test_every_exception_of_the_service_has_its_status() -> None:
    in_stream = (shape for shape in stream_members().values() if shape.metadata.get("exception"))
    shapes = [*operation().error_shapes, *in_stream]
    assert len(shapes) > 10
    for shape in shapes:
        key = shape.name.lower().removesuffix("exception")
        assert STATUS_OF[key] == shape.metadata["error"]["httpStatusCode"], shape.name


# botocore as an independent reader of the transcripts.


class Body:
    """What botocore reads a stream from."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def stream(self) -> Iterable[bytes]:
        yield self._data


def read_by_botocore(data: bytes) -> list[dict[str, Any]]:
    response = {"headers": {}, "status_code": 200, "body": Body(data), "context": {"operation_name": "ConverseStream"}}
    output: Any = operation().output_shape
    parsed = create_parser("rest-json").parse(response, output)
    return list(parsed["stream"])


@pytest.mark.parametrize("case", [case for case in CASES if "reads" in case.about], ids=case_id)
def test_botocore_reads_the_same(case: Case) -> None:
    outcome = decoded(case.decoders()(), [case.data])
    assert outcome.error is None
    (choice,) = fold(outcome.events).choices
    theirs = read_by_botocore(case.data)
    assert our_form(choice) == their_form(theirs)
    (metadata,) = (event["metadata"] for event in theirs if "metadata" in event)
    usage = fold(outcome.events).usage
    assert usage is not None
    assert usage.total_tokens == metadata["usage"]["totalTokens"]
    assert usage.output_tokens == metadata["usage"]["outputTokens"]


@pytest.mark.parametrize("name", ["error-first", "error-in-stream", "error-unmodelled"])
def test_botocore_fails_where_we_do(name: str) -> None:
    (case,) = (case for case in CASES if case.name == name)
    with pytest.raises(EventStreamError):
        read_by_botocore(case.data)
    assert decoded(case.decoders()(), [case.data]).error is not None


def test_botocore_is_silent_where_we_are_not() -> None:
    (case,) = (case for case in CASES if case.name == "cut-in-a-frame")
    assert read_by_botocore(case.data)
    assert isinstance(decoded(case.decoders()(), [case.data]), Outcome)
    assert isinstance(decoded(case.decoders()(), [case.data]).error, Interrupted)


def our_form(choice: Choice) -> dict[str, Any]:
    return {
        "text": choice.text or "",
        "thinking": (choice.reasoning or "").replace("\n\n", ""),
        "signatures": [block.signature for block in choice.thinking if block.signature is not None],
        "redacted": [block.redacted for block in choice.thinking if block.redacted is not None],
        "calls": [(call.id, call.name, call.arguments) for call in choice.tool_calls],
        "finish": choice.finish,
    }


def their_form(stream: list[dict[str, Any]]) -> dict[str, Any]:
    texts: list[str] = []
    thinking: dict[int, dict[str, Any]] = {}
    calls: dict[int, dict[str, str]] = {}
    finish = ""
    for event in stream:
        (kind, said), *_ = event.items()
        index = said.get("contentBlockIndex", -1)
        call = said.get("start", {}).get("toolUse") if kind == "contentBlockStart" else None
        if call is not None and "type" not in call:
            calls[index] = {**call, "input": ""}
        elif kind == "contentBlockDelta":
            delta = said["delta"]
            texts.append(delta.get("text", ""))
            block = thinking.setdefault(index, {"text": "", "signature": "", "redactedContent": b""})
            for name, piece in delta.get("reasoningContent", {}).items():
                block[name] += piece
            if index in calls:
                calls[index]["input"] += delta.get("toolUse", {}).get("input", "")
        elif kind == "messageStop":
            finish = said["stopReason"]
    return {
        "text": "".join(texts),
        "thinking": "".join(block["text"] for block in thinking.values()),
        "signatures": [block["signature"] for block in thinking.values() if block["signature"]],
        "redacted": [as_base64(block["redactedContent"]) for block in thinking.values() if block["redactedContent"]],
        "calls": [(call["toolUseId"], call["name"], call["input"]) for call in calls.values()],
        "finish": FINISH[finish],
    }
