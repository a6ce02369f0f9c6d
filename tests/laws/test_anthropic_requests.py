"""What holds for every Anthropic body, over made-up requests: the SDK's types, and the rules that the host checks."""

import json
from collections.abc import Mapping
from typing import Any

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from core.catalog.model import Abilities, Format, Quirk, StructuredOutput, Target, Thinking, ThinkingSwitch
from core.chat import ChatRequest, SealedThinking
from core.errors import InvalidRequest
from core.ports import ToolTurn
from core.providers.anthropic import AnthropicFormat
from core.providers.base import Media, Prepared
from core.providers.fields import dispose
from core.surfaces.openai_chat import parse_chat
from core.surfaces.surface import PLAIN
from tests.support.examples import times
from tests.support.made_requests import EFFORTS, PDF, PNG, bodies, histories, some
from tests.support.targets import make_target, make_vendor
from tests.support.vendors.anthropic_checks import problems

FORMAT = AnthropicFormat()

TEXTS = st.sampled_from(["", " \n", "Hi.", "日本 \u2028", '{"json": 1}', "</system>"])
IDS = st.sampled_from(["call_1", "call_1", "functions.f:0", "x" * 70, "a|b", "é", "toolu_9"])

BREAKPOINT = some(
    prompt_cache_breakpoint=st.sampled_from([{"mode": "explicit"}, {"mode": "explicit", "ttl": "12h"}]),
)


def part(kind: str, payload: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda said, mark: {"type": kind, kind: said, **mark}, payload, BREAKPOINT)


TEXT_PART = part("text", TEXTS)
IMAGE_PART = part("image_url", st.sampled_from([{"url": PNG}, {"url": "https://a.example/b.png", "detail": "low"}]))
FILE_PART = part(
    "file",
    st.sampled_from(
        [{"file_data": PDF, "filename": "a.pdf"}, {"file_data": "aGVsbG8="}, {"file_data": "https://a.b/c"}]
    ),
)


MESSAGES = histories(TEXTS, IDS, TEXT_PART, IMAGE_PART, FILE_PART)
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "f", "description": "", "parameters": {}, "strict": True}},
    {"type": "function", "function": {"name": "g", "parameters": {"type": "object"}, "strict": False}},
    {"type": "custom", "custom": {"name": "free", "description": "Free."}},
]
CHOICES: list[Any] = [
    *("none", "auto", "required"),
    {"type": "function", "function": {"name": "g"}},
    {
        "type": "allowed_tools",
        "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "f"}}]},
    },
]
SCHEMA = {"name": "n", "strict": True, "schema": {"type": "object", "properties": {}, "additionalProperties": False}}
FORMATS: list[Any] = [
    {"type": "text"},
    {"type": "json_object"},
    {"type": "json_schema", "json_schema": SCHEMA},
    {"type": "json_schema", "json_schema": {"name": "n"}},
]


BODY = bodies(
    MESSAGES,
    TOOLS,
    CHOICES,
    max_tokens=st.sampled_from([1, 1024, 1025, 2000, 9000]),
    temperature=st.sampled_from([0, 0.5, 1, 1.5]),
    top_p=st.sampled_from([0.1, 0.99]),
    stop=st.sampled_from(["END", ["END", " "], ["\n"], []]),
    parallel_tool_calls=st.booleans(),
    reasoning_effort=EFFORTS,
    extended_thinking=st.booleans(),
    response_format=st.sampled_from(FORMATS),
    service_tier=st.sampled_from(["auto", "default", "flex", "priority"]),
    user=st.just("u"),
    safety_identifier=st.just("s"),
    prompt_cache_options=st.sampled_from([{}, {"mode": "explicit"}, {"mode": "implicit", "ttl": "30m"}]),
    seed=st.just(7),
    logit_bias=st.just({"50256": -100}),
    metadata=st.just({"a": "b"}),
    verbosity=st.just("low"),
    prompt_cache_key=st.just("k"),
    odd_field=st.just(1),
)

SWITCHES = st.sampled_from(
    [
        (ThinkingSwitch.BUDGET, Thinking.OPTIONAL),
        (ThinkingSwitch.ADAPTIVE, Thinking.OPTIONAL),
        (ThinkingSwitch.BETWEEN_TOOLS, Thinking.OPTIONAL),
        (ThinkingSwitch.EFFORT, Thinking.ALWAYS),
        (ThinkingSwitch.NONE, Thinking.NONE),
    ]
)


@st.composite
def targets(draw: st.DrawFn) -> Target:
    switch, thinking = draw(SWITCHES)
    quirks = draw(st.frozensets(st.sampled_from([Quirk.SYSTEM_TURNS, Quirk.INLINE_MEDIA])))
    refuses_sampling = draw(st.booleans())
    return make_target(
        vendor=make_vendor(format=Format.ANTHROPIC, quirks=quirks),
        abilities=Abilities(
            tools=True,
            vision=True,
            documents=True,
            structured_output=draw(st.sampled_from(StructuredOutput)),
            thinking=thinking,
            thinks_by_default=draw(st.booleans()),
            forced_tools=thinking is not Thinking.ALWAYS,
            efforts=draw(st.sampled_from([(), ("low", "medium", "high")])),
            refuses=frozenset({"temperature", "top_p"} if refuses_sampling else ()),
        ),
        context_tokens=60_000,
        max_output_tokens=9_000,
        thinking_switch=switch,
        api_version=None if refuses_sampling else "2023-06-01",
    )


THOUGHTS = st.lists(
    st.builds(
        lambda text, redacted, calls: SealedThinking(
            "" if redacted else text, None if redacted else f"sig-{text}", redacted, calls_before=calls
        ),
        st.sampled_from(["", "Let me see.\n"]),
        st.none() | st.just("c2VjcmV0"),
        st.integers(0, 4),
    ),
    max_size=3,
).map(tuple)


@st.composite
def memories(draw: st.DrawFn, target: Target) -> Mapping[str, ToolTurn]:
    turns = {}
    for call_id in draw(st.sets(IDS)):
        host = draw(st.sampled_from([target.name, "other/host"]))
        upstream = draw(st.sampled_from([{}, {call_id: "toolu_9"}]))
        turns[call_id] = ToolTurn(target.model.id, host, draw(THOUGHTS), upstream_ids=upstream)
    return turns


def sent(request: ChatRequest, target: Target, turns: Mapping[str, ToolTurn]) -> dict[str, Any] | None:
    """The body that goes out, None where the target refuses the request."""
    media = {remote.url: Media(b"fetched", "text/plain") for remote in FORMAT.needs(request, target)}
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


@given(BODY, targets(), st.data())
def test_thinking_goes_back_to_its_own_host_alone_and_unchanged(
    written: Any, target: Target, data: st.DataObject
) -> None:
    request = parse_chat(json.dumps(written).encode(), PLAIN).request
    turns = data.draw(memories(target))
    body = sent(request, target, turns)
    if body is None:
        return
    back = [block for turn in body["messages"] for block in turn["content"] if block["type"].endswith("thinking")]
    own = {
        json.dumps({"type": "redacted_thinking", "data": block.redacted})
        if block.redacted is not None
        else json.dumps({"type": "thinking", "thinking": block.text, "signature": block.signature})
        for turn in turns.values()
        if turn.host == target.name
        for block in turn.thinking
    }
    assert {json.dumps(block) for block in back} <= own


@given(BODY, targets())
def test_a_request_gives_the_same_bytes_every_time(written: Any, target: Target) -> None:
    request = parse_chat(json.dumps(written).encode(), PLAIN).request
    assert sent(request, target, {}) == sent(request, target, {})
