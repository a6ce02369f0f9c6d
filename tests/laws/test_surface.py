"""What holds for every request and every answer on both surfaces."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from core.chat import ChatRequest, Json
from core.errors import GatewayError, InvalidRequest
from core.events import Event, fold
from core.surfaces.openai_chat import ParsedChat, StreamRenderer, parse_chat, render_reply, usage_object
from core.surfaces.openai_chat.fields import FIELDS
from core.surfaces.surface import PLAIN, ROUTING, SURFACES, Surface
from tests.support.event_streams import event_streams
from tests.support.frames import DONE, assembled, frames_of, read_by_openai

ID, CREATED, MODEL = "req-" + "0" * 32, 1_700_000_000, "lab/small"
USAGE = usage_object(None, None, latency_ms=5)
ROUTING_OBJECT: Json = {"object": "routing", "request_id": ID}


def streamed(
    events: list[Event], cuts: set[int], surface: Surface, *, include_usage: bool = False, legacy: bool = False
) -> list[Json]:
    """The frames of a whole stream whose events arrive in batches that end at these places."""
    renderer = StreamRenderer(
        surface,
        response_id=ID,
        created=CREATED,
        model=MODEL,
        include_usage=include_usage,
        legacy_functions=legacy,
    )
    data = renderer.opening(ROUTING_OBJECT)
    for batch in batches(events, cuts):
        data += renderer.events(batch)
    return frames_of(data + renderer.closing(USAGE))


def batches(events: list[Event], cuts: set[int]) -> Iterator[list[Event]]:
    edges = [0, *sorted(cut for cut in cuts if cut < len(events)), len(events)]
    for start, end in pairwise(edges):
        yield events[start:end]


def whole(events: list[Event], surface: Surface, *, legacy: bool = False) -> dict[str, Json]:
    return render_reply(
        surface,
        fold(events),
        response_id=ID,
        created=CREATED,
        model=MODEL,
        usage=USAGE,
        routing=ROUTING_OBJECT,
        legacy_functions=legacy,
    )


CUTS = st.sets(st.integers(0, 60), max_size=8)


@given(event_streams(), CUTS, st.sampled_from(SURFACES), st.booleans(), st.booleans())
def test_a_stream_adds_up_to_the_whole_answer(
    events: list[Event], cuts: set[int], surface: Surface, include_usage: bool, legacy: bool
) -> None:
    frames = streamed(events, cuts, surface, include_usage=include_usage, legacy=legacy)
    together = assembled(frames)
    for choice in whole(events, surface, legacy=legacy)["choices"]:
        streamed_choice = together.pop(choice["index"])
        message = {name: value for name, value in choice["message"].items() if value is not None}
        said = {name: value for name, value in streamed_choice["message"].items() if value is not None}
        assert said == message
        assert streamed_choice["finish_reason"] == choice["finish_reason"]
        assert streamed_choice["logprobs"] == choice["logprobs"]
    assert together == {}


@given(event_streams(), CUTS, CUTS, st.sampled_from(SURFACES))
def test_how_events_arrive_together_never_shows(
    events: list[Event], cuts: set[int], others: set[int], surface: Surface
) -> None:
    assert streamed(events, cuts, surface) == streamed(events, others, surface)


@given(event_streams(), CUTS, st.sampled_from(SURFACES), st.booleans())
def test_every_frame_is_what_clients_rely_on(
    events: list[Event], cuts: set[int], surface: Surface, include_usage: bool
) -> None:
    frames = streamed(events, cuts, surface, include_usage=include_usage)
    assert frames[-1] == DONE
    kinds = [frame["object"] for frame in frames[:-1]]
    own = {kind for kind in kinds if kind != "chat.completion.chunk"}
    if surface is PLAIN:
        assert own == set()
    else:
        assert kinds[0] == "routing"
        assert own == ({"routing"} if include_usage else {"routing", "usage"})
    for frame in frames[:-1]:
        assert (frame["id"], frame["created"], frame["model"]) == (ID, CREATED, MODEL)
        assert isinstance(frame["choices"], list)
        assert "provider" not in frame
        if include_usage:
            assert frame["usage"] == (USAGE if frame is frames[-2] else None)
        else:
            assert ("usage" in frame) == (frame["object"] == "usage")
    assert all(frame["choices"] for frame in frames[: -2 if include_usage else -1])


@given(event_streams(custom=False), CUTS, st.sampled_from(SURFACES), st.booleans())
def test_the_openai_package_reads_what_we_mean(
    events: list[Event], cuts: set[int], surface: Surface, include_usage: bool
) -> None:
    frames = streamed(events, cuts, surface, include_usage=include_usage)
    for frame in frames[:-1]:
        if frame["object"] == "chat.completion.chunk":
            ChatCompletionChunk.model_validate(frame)
    ChatCompletion.model_validate(whole(events, surface))
    read = read_by_openai(frames)
    for choice, meant in zip(read.choices, whole(events, surface)["choices"], strict=True):
        message = choice.message
        assert message.content == meant["message"]["content"]
        assert message.refusal == meant["message"]["refusal"]
        assert getattr(message, "reasoning_content", None) == meant["message"].get("reasoning_content")
        assert choice.finish_reason == meant["finish_reason"]
        calls = [call.model_dump(exclude_none=True) for call in message.tool_calls or []]
        for call in calls:
            call.pop("index", None)
        assert calls == meant["message"].get("tool_calls", [])
        audio = message.audio.model_dump() if message.audio else None
        assert audio == meant["message"].get("audio")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
ROLES = st.sampled_from(["system", "developer", "user", "assistant", "tool", "function", "judge"])
PART = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "image_url", "file", "refusal", "video"])},
    optional={"text": JSON, "image_url": JSON, "file": JSON, "refusal": JSON, "prompt_cache_breakpoint": JSON},
)
MESSAGE = st.fixed_dictionaries(
    {"role": ROLES | JSON},
    optional={
        "content": JSON | st.lists(PART, max_size=2),
        "tool_calls": JSON,
        "tool_call_id": JSON,
        "name": JSON,
        "function_call": JSON,
        "audio": JSON,
    },
)
BODY = st.dictionaries(st.sampled_from(sorted(FIELDS)), JSON, max_size=4).flatmap(
    lambda members: st.fixed_dictionaries(
        {"model": st.just("lab/small") | JSON, "messages": st.lists(MESSAGE, max_size=3) | JSON}
    ).map(lambda base: {**base, **members})
)


def outcome(body: bytes, surface: Surface) -> ParsedChat | GatewayError:
    try:
        return parse_chat(body, surface)
    except GatewayError as error:
        return error


def check_parse(body: bytes, surface: Surface) -> None:
    parsed = outcome(body, surface)
    if isinstance(parsed, GatewayError):
        check_refusal(parsed)
    else:
        check_request(parsed.request, surface)


def check_refusal(error: GatewayError) -> None:
    assert isinstance(error, InvalidRequest)
    assert 400 <= error.status < 500
    assert len(error.message) < 1_000
    assert error.message.endswith((".", "?"))
    assert error.param is not None or error.code in ("invalid_json", "request_too_large")
    assert error.param is None or error.param in error.message


def check_request(request: ChatRequest, surface: Surface) -> None:
    assert request.messages
    nulls = {name for name, value in request.written.items() if value is None}
    assert nulls <= set(request.unknown)
    assert not {"routing", "extended_thinking"} & set(request.written)
    assert not (surface.strict_fields and request.unknown)
    for message, written in zip(request.messages, request.written["messages"], strict=True):
        assert message.written == written


@given(BODY | JSON, st.sampled_from(SURFACES))
def test_any_body_is_understood_or_refused_by_name(body: Any, surface: Surface) -> None:
    check_parse(orjson.dumps(body), surface)


@given(st.binary(max_size=60), st.sampled_from(SURFACES))
def test_any_bytes_are_understood_or_refused(body: bytes, surface: Surface) -> None:
    check_parse(body, surface)


GOOD: Json = {
    "model": "lab/small",
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Where?"}]},
        {
            "role": "assistant",
            "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "here"},
    ],
    "tools": [{"type": "function", "function": {"name": "look", "parameters": {"anything": {"goes": 1}}}}],
    "tool_choice": {"type": "function", "function": {"name": "look"}},
    "response_format": {"type": "json_schema", "json_schema": {"name": "out", "schema": {"free": [1]}}},
    "stream": True,
    "stream_options": {"include_usage": True},
    "web_search_options": {"user_location": {"type": "approximate", "approximate": {"city": "Rome"}}},
    "moderation": {"model": "m", "policy": {"input": {"mode": "score"}}},
}
FREE = ("tools[0].function.parameters", "response_format.json_schema.schema", "metadata")


def places(value: Json, path: str = "") -> Iterator[tuple[str, dict[str, Json]]]:
    """Every object of a body with the dotted path to it, save what is free-form."""
    if path in FREE:
        return
    if isinstance(value, dict):
        yield path, value
        for name, member in value.items():
            yield from places(member, f"{path}.{name}" if path else name)
    if isinstance(value, list):
        for index, member in enumerate(value):
            yield from places(member, f"{path}[{index}]")


PLACES = [path for path, _ in places(GOOD)]


@pytest.mark.parametrize("path", PLACES)
def test_a_field_nobody_knows_is_found_at_every_depth(path: str) -> None:
    body = orjson.loads(orjson.dumps(GOOD))
    dict(places(body))[path]["surprise"] = {"deep": 1}
    full = f"{path}.surprise" if path else "surprise"
    with pytest.raises(InvalidRequest) as raised:
        parse_chat(orjson.dumps(body), ROUTING)
    assert (raised.value.status, raised.value.code, raised.value.param) == (422, "unknown_field", full)
    request = parse_chat(orjson.dumps(body), PLAIN).request
    assert request.unknown == (full,)
    assert request.written == body
