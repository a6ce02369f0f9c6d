"""What holds for every Gemini body, over made-up requests: the SDK's types, and the rules that the host checks."""

import json
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from core.catalog.model import Abilities, Format, StructuredOutput, Target, Thinking, ThinkingSwitch
from core.chat import ChatRequest, SealedThinking
from core.errors import InvalidRequest
from core.ports import ToolTurn
from core.providers.base import Media, Prepared
from core.providers.fields import dispose
from core.providers.gemini import GeminiFormat
from core.providers.gemini.history import UNSIGNED
from core.providers.gemini.messages import SIGNATURE
from core.surfaces.openai_chat import parse_chat
from core.surfaces.surface import PLAIN
from tests.support.examples import times
from tests.support.made_requests import EFFORTS, PDF, PNG, bodies, histories
from tests.support.targets import make_target, make_vendor
from tests.support.vendors.gemini_checks import Body, problems

FORMAT = GeminiFormat()


TEXTS = st.sampled_from(["", " \n", "Hi.", "日本 \u2028", '{"json": 1}', '{"a": {"$ref": "#/$defs/A"}}', "[1]"])
IDS = st.sampled_from(["call_1", "call_1", "functions.f:0", "x" * 70, "é", "call_9"])


def part(kind: str, *payloads: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.sampled_from([{"type": kind, kind: payload} for payload in payloads])


TEXT_PART = st.builds(lambda text: {"type": "text", "text": text}, TEXTS)
IMAGE_PART = part("image_url", {"url": PNG}, {"url": "https://a.example/b.png", "detail": "low"})
AUDIO_PART = part("input_audio", {"data": "UklGRg==", "format": "wav"}, {"data": "SUQz", "format": "mp3"})
FILE_PART = part(
    "file",
    {"file_data": PDF, "filename": "a.pdf"},
    {"file_data": "aGVsbG8="},
    {"file_data": "https://a.b/c"},
    {"file_data": "https://youtu.be/abc"},
)


MESSAGES = histories(TEXTS, IDS, TEXT_PART, IMAGE_PART, AUDIO_PART, FILE_PART)
SCHEMA = {
    "type": "object",
    "properties": {"default": {"$ref": "#/definitions/A", "description": "d"}, "$ref": {"type": "string"}},
    "required": ["default"],
    "definitions": {"A": {"allOf": [{"const": "a"}, {"$ref": "#/definitions/A"}]}},
    "additionalProperties": False,
    "patternProperties": {"^x": {}},
}
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "f", "description": "", "parameters": {}, "strict": True}},
    {"type": "function", "function": {"name": "g", "parameters": SCHEMA, "strict": False}},
    {"type": "custom", "custom": {"name": "free", "description": "Free."}},
]
CHOICES: list[Any] = [
    *("none", "auto", "required"),
    {"type": "function", "function": {"name": "g"}},
    *(
        {
            "type": "allowed_tools",
            "allowed_tools": {"mode": mode, "tools": [{"type": "function", "function": {"name": "f"}}]},
        }
        for mode in ("auto", "required")
    ),
]
FORMATS: list[Any] = [
    {"type": "text"},
    {"type": "json_object"},
    {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": SCHEMA}},
    {"type": "json_schema", "json_schema": {"name": "n"}},
]


BODY = bodies(
    MESSAGES,
    TOOLS,
    CHOICES,
    max_tokens=st.sampled_from([1, 1024, 9000]),
    temperature=st.sampled_from([0, 0.5, 2]),
    top_p=st.sampled_from([0.1, 1]),
    presence_penalty=st.sampled_from([-2, 0, 1.5]),
    frequency_penalty=st.sampled_from([-2, 0, 1.5]),
    stop=st.sampled_from(["END", ["END", " "], []]),
    seed=st.sampled_from([7, -(2**31), 2**31]),
    n=st.sampled_from([1, 2]),
    logprobs=st.booleans(),
    parallel_tool_calls=st.booleans(),
    reasoning_effort=EFFORTS,
    extended_thinking=st.booleans(),
    response_format=st.sampled_from(FORMATS),
    service_tier=st.sampled_from(["auto", "default", "flex", "priority", "fast", "scale"]),
    user=st.just("u"),
    logit_bias=st.just({"50256": -100}),
    metadata=st.just({"a": "b"}),
    verbosity=st.just("low"),
    prompt_cache_key=st.just("k"),
    odd_field=st.just(1),
)

SWITCHES = st.sampled_from(
    [
        (ThinkingSwitch.BUDGET, Thinking.OPTIONAL),
        (ThinkingSwitch.BUDGET, Thinking.ALWAYS),
        (ThinkingSwitch.LEVEL, Thinking.OPTIONAL),
        (ThinkingSwitch.LEVEL, Thinking.ALWAYS),
        (ThinkingSwitch.NONE, Thinking.ALWAYS),
        (ThinkingSwitch.NONE, Thinking.NONE),
    ]
)


@st.composite
def targets(draw: st.DrawFn) -> Target:
    switch, thinking = draw(SWITCHES)
    return make_target(
        vendor=make_vendor(format=Format.GEMINI),
        abilities=Abilities(
            tools=True,
            vision=True,
            documents=True,
            audio_input=True,
            structured_output=draw(st.sampled_from(StructuredOutput)),
            thinking=thinking,
            thinks_by_default=draw(st.booleans()),
            efforts=draw(st.sampled_from([(), ("low", "high"), ("minimal", "low", "medium", "high", "xhigh")])),
            choices=draw(st.sampled_from([1, 8])),
            refuses=draw(st.sampled_from([frozenset[str](), frozenset({"temperature", "top_p"})])),
        ),
        thinking_switch=switch,
        thinking_visible=draw(st.booleans()),
    )


THOUGHTS = st.lists(
    st.builds(
        lambda text, is_said, calls: SealedThinking(
            detail={"text": text, SIGNATURE: "c2FpZA=="} if is_said else None,
            text="" if is_said else text,
            signature=None if is_said else "dGhvdWdodA==",
            calls_before=calls,
        ),
        st.sampled_from(["", "i."]),
        st.booleans(),
        st.integers(0, 4),
    ),
    max_size=3,
).map(tuple)


@st.composite
def memories(draw: st.DrawFn, target: Target) -> Mapping[str, ToolTurn]:
    turns = {}
    for call_id in draw(st.sets(IDS)):
        host = draw(st.sampled_from([target.name, "other/host"]))
        upstream = draw(st.sampled_from([{}, {call_id: "fc1"}]))
        signatures = draw(st.sampled_from([{}, {call_id: "Y2FsbA=="}]))
        turns[call_id] = ToolTurn(target.model.id, host, draw(THOUGHTS), None, signatures, upstream)
    return turns


def sent(request: ChatRequest, target: Target, turns: Mapping[str, ToolTurn]) -> dict[str, Any] | None:
    """The body that goes out, None where the target refuses the request."""
    media = {remote.url: Media(b"fetched", "text/csv") for remote in FORMAT.needs(request, target)}
    media = {url: Media(b"\xff\xd8\xff", "image/jpeg") if "png" in url else each for url, each in media.items()}
    try:
        outgoing = FORMAT.encode(request, target, Prepared(media, turns))
    except InvalidRequest:
        assert dispose(request, target).refused
        return None
    body: dict[str, Any] = orjson.loads(outgoing.body)
    return body


@given(BODY, targets(), st.data())
@settings(max_examples=times(4))
def test_every_body_is_what_the_host_takes(written: Any, target: Target, data: st.DataObject) -> None:
    request = parse_chat(json.dumps(written).encode(), PLAIN).request
    body = sent(request, target, data.draw(memories(target)))
    if body is None:
        return
    assert list(problems(body, target)) == []


def test_the_types_let_nothing_through() -> None:
    odd: dict[str, Any]
    for odd in ({"thinking": {}}, {"generationConfig": {"topB": 1}}, {"contents": [{"parts": [{"txt": "a"}]}]}):
        with pytest.raises(ValidationError):
            Body.model_validate({"contents": [], **odd})


@given(BODY, targets(), st.data())
def test_signatures_go_back_to_their_own_host_alone_and_unchanged(
    written: Any, target: Target, data: st.DataObject
) -> None:
    request = parse_chat(json.dumps(written).encode(), PLAIN).request
    turns = data.draw(memories(target))
    body = sent(request, target, turns)
    if body is None:
        return
    own = {UNSIGNED}
    for turn in turns.values():
        if turn.host == target.name:
            own |= set(turn.signatures.values())
            own |= {block.signature or (block.detail or {})[SIGNATURE] for block in turn.thinking}
    back = [each[SIGNATURE] for turn in body["contents"] for each in turn["parts"] if SIGNATURE in each]
    assert set(back) <= own
    assert all(b64decode(signature.replace("_", "/")) for signature in back)


@given(BODY, targets())
def test_a_request_gives_the_same_bytes_every_time(written: Any, target: Target) -> None:
    request = parse_chat(json.dumps(written).encode(), PLAIN).request
    assert sent(request, target, {}) == sent(request, target, {})
