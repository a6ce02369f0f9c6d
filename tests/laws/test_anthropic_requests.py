"""What holds for every Anthropic body, over made-up requests: the SDK's types, and the rules that the host checks."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import orjson
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from core.catalog.model import Abilities, Format, Quirk, StructuredOutput, Target, Thinking, ThinkingSwitch
from core.chat import ChatRequest, SealedThinking
from core.errors import InvalidRequest
from core.ports import ToolTurn
from core.providers.anthropic import AnthropicFormat
from core.providers.base import Media, Prepared
from core.providers.fields import dispose
from core.surfaces.openai_chat import parse_chat
from core.surfaces.surface import PLAIN
from tests.support.targets import make_target, make_vendor

FORMAT = AnthropicFormat()
PARAMS: TypeAdapter[Any] = TypeAdapter(MessageCreateParamsStreaming)

PNG = "data:image/png;base64,iVBORw0KGgo="
PDF = "data:application/pdf;base64,JVBERi0xLjQK"
TEXTS = st.sampled_from(["", " \n", "Hi.", "日本 \u2028", '{"json": 1}', "</system>"])
IDS = st.sampled_from(["call_1", "call_1", "functions.f:0", "x" * 70, "a|b", "é", "toolu_9"])
NAMES = st.sampled_from(["f", "g", "free", "other.tool"])
ARGUMENTS = st.sampled_from(["", " ", "{}", '{"a": 1.50}', "[1]", '{"a":', "null", '{"a": 12345678901234567890}'])
EFFORTS = st.sampled_from(["none", "minimal", "low", "medium", "high", "xhigh", "max"])


def some(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """An object with any of these members."""
    return st.fixed_dictionaries({}, optional=members)


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


def content(*parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return TEXTS | st.lists(st.one_of(*parts), min_size=1, max_size=3)


SYSTEM = st.builds(
    lambda role, said: [{"role": role, "content": said}], st.sampled_from(["system", "developer"]), content(TEXT_PART)
)
USER = st.builds(
    lambda said, name: [{"role": "user", "content": said, **name}],
    content(TEXT_PART, IMAGE_PART, FILE_PART),
    some(name=st.just("ann")),
)
REFUSAL = st.builds(lambda said: {"type": "refusal", "refusal": said}, TEXTS)
ASSISTANT = st.builds(
    lambda said, more: [{"role": "assistant", "content": said, **more}],
    content(TEXT_PART, REFUSAL),
    some(refusal=TEXTS, reasoning_content=TEXTS, audio=st.just({"id": "a", "transcript": "Heard."})),
)


def loop(said: Any, calls: list[tuple[str, str, str]], results: list[Any], turned: bool) -> list[dict[str, Any]]:
    """An assistant's calls and their results, in order or turned round."""
    made = [
        {"id": call_id, "type": "custom", "custom": {"name": name, "input": arguments}}
        if name == "free"
        else {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in calls
    ]
    told = [
        {"role": "tool", "tool_call_id": call_id, "content": result}
        for (call_id, _, _), result in zip(calls, results, strict=False)
    ]
    return [{"role": "assistant", "content": said, "tool_calls": made}, *(reversed(told) if turned else told)]


LOOP = st.builds(
    loop,
    st.none() | TEXTS,
    st.lists(st.tuples(IDS, NAMES, ARGUMENTS), min_size=1, max_size=3),
    st.lists(content(TEXT_PART), min_size=3, max_size=3),
    st.booleans(),
)
MESSAGES = st.lists(st.one_of(SYSTEM, USER, ASSISTANT, LOOP, LOOP), min_size=1, max_size=6).map(
    lambda turns: [message for turn in turns for message in turn]
)
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


def body_of(messages: list[Any], tools: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    if more.get("response_format") == {"type": "json_object"}:  # the prompt must ask for it too
        messages = [{"role": "system", "content": "Answer in JSON."}, *messages]
    return {"model": "m", "messages": messages, **tools, **more}


BODY = st.builds(
    body_of,
    MESSAGES,
    st.just({}) | st.fixed_dictionaries({"tools": st.just(TOOLS)}, optional={"tool_choice": st.sampled_from(CHOICES)}),
    some(
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
    ),
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
@settings(max_examples=150)
def test_every_body_is_what_the_host_takes(written: Any, target: Target, data: st.DataObject) -> None:
    request = parse_chat(json.dumps(written).encode(), PLAIN).request
    body = sent(request, target, data.draw(memories(target)))
    if body is None:
        return
    check_types(body, target)
    check_turns(body["messages"])
    check_tools(body)
    check_thinking(body, target)
    check_marks(body)
    assert all(text.strip() for text in texts(body))


def check_types(body: Mapping[str, Any], target: Target) -> None:
    """The SDK's own parameter types, without a single member that they do not know."""
    # Its types are those of the newest version, which has no sampling parameters.
    older = ("temperature", "top_p") if target.host.api_version == "2023-06-01" else ()
    known = {name: value for name, value in body.items() if name not in older}
    assert read(PARAMS.validate_python(known, extra="forbid")) == known
    assert 0 <= body.get("temperature", 0) <= 1


def read(value: Any) -> Any:
    """What was validated; the SDK's arrays are checked while they are read."""
    match value:
        case dict():
            return {name: read(member) for name, member in value.items()}
        case str() | int() | float() | None:
            return value
        case _:
            return [read(item) for item in value]


def check_turns(messages: list[Any]) -> None:
    """A user's turn first and last, no two alike in a row, calls answered at once and with nothing before that."""
    roles = [turn["role"] for turn in messages]
    assert roles[0] == "user"
    assert roles[-1] in ("user", "system")
    assert all(one != other for one, other in pairwise(roles))
    seen: set[str] = set()
    for place, turn in enumerate(messages):
        kinds = [block["type"] for block in turn["content"]]
        assert kinds
        if turn["role"] == "system":
            assert roles[place - 1] == "user"
            assert set(kinds) == {"text"}
        calls = [block["id"] for block in turn["content"] if block["type"] == "tool_use"]
        assert not seen & set(calls)
        assert len(set(calls)) == len(calls)
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call_id) for call_id in calls)
        seen |= set(calls)
        results = [block["tool_use_id"] for block in turn["content"] if block["type"] == "tool_result"]
        assert kinds[: len(results)] == ["tool_result"] * len(results)
        before = messages[place - 1]["content"] if place else []
        assert results == [block["id"] for block in before if block["type"] == "tool_use"]


def check_tools(body: Mapping[str, Any]) -> None:
    used = {block["name"] for turn in body["messages"] for block in turn["content"] if block["type"] == "tool_use"}
    assert "tools" in body or not used
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", name) for name in used)
    assert "tools" in body or "tool_choice" not in body
    assert all("type" in tool["input_schema"] for tool in body.get("tools", ()))


def check_thinking(body: Mapping[str, Any], target: Target) -> None:
    thinking = body.get("thinking", {})
    thinks = thinking.get("type") in ("enabled", "adaptive")
    assert thinks == ("display" in thinking)
    if thinking.get("type") == "enabled":
        assert 1024 <= thinking["budget_tokens"] < body["max_tokens"]
    if thinks:
        assert body.get("tool_choice", {}).get("type") not in ("any", "tool")
    if target.host.thinking_switch is ThinkingSwitch.EFFORT:
        assert thinking["type"] == "adaptive"
    if thinking.get("type") == "enabled" and body["messages"][-1]["content"][0]["type"] == "tool_result":
        assert any(block["type"].endswith("thinking") for block in body["messages"][-2]["content"])


def check_marks(body: Mapping[str, Any]) -> None:
    marks = [mark for mark in find(body["messages"], "cache_control")]
    marks = [*find(body.get("system", []), "cache_control"), *marks]
    assert len(marks) + ("cache_control" in body) <= 4
    lifetimes = ["ttl" in mark for mark in marks]
    assert lifetimes == sorted(lifetimes, reverse=True)


def find(value: Any, name: str) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, member in value.items():
            if key == name:
                yield member
            else:
                yield from find(member, name)
    elif isinstance(value, list):
        for item in value:
            yield from find(item, name)


def texts(body: Mapping[str, Any]) -> Iterator[str]:
    """Every text that the host would refuse if it were blank."""
    for blocks in (body.get("system", []), *(turn["content"] for turn in body["messages"])):
        yield from (block["text"] for block in blocks if block["type"] == "text")
        for block in blocks:
            if block["type"] == "tool_result":
                inner = block.get("content", "-")
                yield from [inner] if isinstance(inner, str) else (each["text"] for each in inner)
    yield from body.get("stop_sequences", ())


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
@settings(max_examples=30)
def test_a_request_gives_the_same_bytes_every_time(written: Any, target: Target) -> None:
    request = parse_chat(json.dumps(written).encode(), PLAIN).request
    assert sent(request, target, {}) == sent(request, target, {})
