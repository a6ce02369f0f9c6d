"""The documented loops: an answer as the openai package dumps it is appended to the history and sent back."""

import json
from collections.abc import Iterable
from typing import Any

import orjson
import pytest
from openai import pydantic_function_tool
from openai.lib._parsing import parse_chat_completion
from openai.types.chat import ChatCompletion
from pydantic import BaseModel

from core.chat import FinishReason, Json
from core.events import (
    AnnotationsAdded,
    AudioDelta,
    Event,
    Finished,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    ToolCallStarted,
    fold,
)
from core.surfaces.json_text import to_json
from core.surfaces.openai_chat import StreamRenderer, parse_chat, render_reply, usage_object
from core.surfaces.surface import ROUTING, SURFACES, Surface
from tests.support.frames import frames_of, read_by_openai
from tests.support.nulls import without_nulls_below

CITATION = {"type": "url_citation", "url_citation": {"start_index": 0, "end_index": 1, "title": "t", "url": "u"}}
AUDIO = {"id": "audio_1", "data": "AA==", "transcript": "hi", "expires_at": 5}
STOP = Finished(0, FinishReason.STOP)

ANSWERS: dict[str, tuple[Event, ...]] = {
    "text": (TextDelta(0, '{"city":"Rome"}'), STOP),
    "thinking": (ReasoningDelta(0, "hm"), TextDelta(0, '{"city":"Rome"}'), STOP),
    "nothing": (Finished(0, FinishReason.CONTENT_FILTER),),
    "cut before a word": (Finished(0, FinishReason.LENGTH),),
    "only thinking": (ReasoningDelta(0, "hm"), Finished(0, FinishReason.LENGTH)),
    "refusal": (RefusalDelta(0, "no"), STOP),
    "citations": (TextDelta(0, '{"city":"Rome"}'), AnnotationsAdded(0, (CITATION,)), STOP),
    "audio": (AudioDelta(0, AUDIO), STOP),
    "calls": (
        ReasoningDelta(0, "hm"),
        ToolCallStarted(0, 0, "call_1", "Look"),
        ToolCallDelta(0, 0, '{"city":"Rome"}'),
        ToolCallStarted(0, 1, "call_2", "Look"),
        ToolCallDelta(0, 1, '{"city":"Oslo"}'),
        Finished(0, FinishReason.TOOL_CALLS),
    ),
}
USAGE = usage_object(None, None, latency_ms=1)


class Look(BaseModel):
    city: str


def whole(events: Iterable[Event]) -> ChatCompletion:
    body = render_reply(ROUTING, fold(events), response_id="r", created=1, model="m", usage=USAGE)
    return ChatCompletion.model_validate(orjson.loads(to_json(body)))


def streamed(events: Iterable[Event]) -> ChatCompletion:
    renderer = StreamRenderer(ROUTING, response_id="r", created=1, model="m", include_usage=True)
    return read_by_openai(frames_of(renderer.events(events) + renderer.closing(USAGE)))


def parsed_by_openai(events: Iterable[Event]) -> ChatCompletion:
    tools = [pydantic_function_tool(Look)]
    # The package raises for answers that were cut off or filtered.
    events = [STOP if isinstance(event, Finished) else event for event in events]
    return parse_chat_completion(response_format=Look, input_tools=tools, chat_completion=whole(events))


def follow_up(message: dict[str, Any]) -> list[Json]:
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": "sunny"} for call in message.get("tool_calls") or []
    ]
    return [{"role": "user", "content": "Hello"}, message, *results, {"role": "user", "content": "And then?"}]


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("read", [whole, streamed, parsed_by_openai], ids=lambda read: read.__name__)
@pytest.mark.parametrize("exclude_none", [False, True])
def test_an_answer_can_be_sent_back_as_it_was_dumped(
    surface: Surface, answer: str, read: Any, exclude_none: bool
) -> None:
    answered = read(ANSWERS[answer]).choices[0].message
    # The package warns of its own generic types, however it is dumped.
    message = answered.model_dump(mode="json", exclude_none=exclude_none, warnings=False)
    history = follow_up(message)
    request = parse_chat(json.dumps({"model": "m", "messages": history}).encode(), surface).request
    assert request.unknown == ()
    assert request.written["messages"] == without_nulls_below(history)
    assert [call.id for call in request.messages[1].tool_calls] == (["call_1", "call_2"] if answer == "calls" else [])


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
def test_a_deprecated_call_can_be_sent_back(surface: Surface) -> None:
    body = render_reply(
        surface,
        fold(ANSWERS["calls"]),
        response_id="r",
        created=1,
        model="m",
        usage=USAGE,
        legacy_functions=True,
    )
    message = ChatCompletion.model_validate(orjson.loads(to_json(body))).choices[0].message.model_dump()
    history = [
        {"role": "user", "content": "Hello"},
        message,
        {"role": "function", "name": "Look", "content": "sunny"},
    ]
    request = parse_chat(json.dumps({"model": "m", "messages": history}).encode(), surface).request
    assert request.messages[1].tool_calls[0].name == "Look"
    assert request.messages[2].tool_call_id == request.messages[1].tool_calls[0].id
