"""What holds for every Gemini body, over made-up requests: the SDK's types, and the rules that the host checks."""

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import orjson
import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, ValidationError

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
from tests.support.targets import make_target, make_vendor

FORMAT = GeminiFormat()


class Body(BaseModel):
    """The REST body, of the SDK's own types; nothing that they do not know is let through."""

    model_config = ConfigDict(extra="forbid")

    contents: list[types.Content]
    systemInstruction: types.Content | None = None
    tools: list[types.Tool] | None = None
    toolConfig: types.ToolConfig | None = None
    generationConfig: types.GenerationConfig | None = None
    serviceTier: types.ServiceTier | None = None


PNG = "data:image/png;base64,iVBORw0KGgo="
PDF = "data:application/pdf;base64,JVBERi0xLjQK"
TEXTS = st.sampled_from(["", " \n", "Hi.", "日本 \u2028", '{"json": 1}', '{"a": {"$ref": "#/$defs/A"}}', "[1]"])
IDS = st.sampled_from(["call_1", "call_1", "functions.f:0", "x" * 70, "é", "call_9"])
NAMES = st.sampled_from(["f", "g", "free", "other.tool"])
ARGUMENTS = st.sampled_from(["", " ", "{}", '{"a": 1.50}', "[1]", '{"a":', "null", '{"a": 12345678901234567890}'])
EFFORTS = st.sampled_from(["none", "minimal", "low", "medium", "high", "xhigh", "max"])


def some(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """An object with any of these members."""
    return st.fixed_dictionaries({}, optional=members)


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


def content(*parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return TEXTS | st.lists(st.one_of(*parts), min_size=1, max_size=3)


SYSTEM = st.builds(
    lambda role, said: [{"role": role, "content": said}], st.sampled_from(["system", "developer"]), content(TEXT_PART)
)
USER = st.builds(
    lambda said, name: [{"role": "user", "content": said, **name}],
    content(TEXT_PART, IMAGE_PART, AUDIO_PART, FILE_PART),
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


def body_of(messages: list[Any], tools: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    if more.get("response_format") == {"type": "json_object"}:  # the prompt must ask for it too
        messages = [{"role": "system", "content": "Answer in JSON."}, *messages]
    return {"model": "m", "messages": messages, **tools, **more}


BODY = st.builds(
    body_of,
    MESSAGES,
    st.just({}) | st.fixed_dictionaries({"tools": st.just(TOOLS)}, optional={"tool_choice": st.sampled_from(CHOICES)}),
    some(
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
    ),
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
@settings(max_examples=150)
def test_every_body_is_what_the_host_takes(written: Any, target: Target, data: st.DataObject) -> None:
    request = parse_chat(json.dumps(written).encode(), PLAIN).request
    body = sent(request, target, data.draw(memories(target)))
    if body is None:
        return
    Body.model_validate(body)
    check_turns(body["contents"])
    check_steps(body["contents"])
    check_tools(body)
    check_thinking(body, target)
    if target.host.thinking_switch is ThinkingSwitch.LEVEL:
        check_signed(body["contents"])


def test_the_types_let_nothing_through() -> None:
    odd: dict[str, Any]
    for odd in ({"thinking": {}}, {"generationConfig": {"topB": 1}}, {"contents": [{"parts": [{"txt": "a"}]}]}):
        with pytest.raises(ValidationError):
            Body.model_validate({"contents": [], **odd})


def check_turns(contents: list[Any]) -> None:
    """A user's turn first, no two alike in a row, one payload a part, and no text without any unless it is signed."""
    roles = [turn["role"] for turn in contents]
    assert roles[0] == "user"
    assert all(one != other for one, other in pairwise(roles))
    for turn in contents:
        assert turn["parts"]
        for part in turn["parts"]:
            payload = part.keys() - {SIGNATURE, "thought"}
            assert len(payload) == 1
            assert part.get("text") != "" or SIGNATURE in part


def check_steps(contents: list[Any]) -> None:
    """Every step's results come at once, first and in the order of its calls, by the same names and ids."""
    for place, turn in enumerate(contents):
        calls = [each["functionCall"] for each in turn["parts"] if "functionCall" in each]
        following = contents[place + 1]["parts"] if place + 1 < len(contents) else []
        results = [each["functionResponse"] for each in following if "functionResponse" in each]
        if turn["role"] == "model":
            assert [(call["name"], call.get("id")) for call in calls] == [
                (result["name"], result.get("id")) for result in results
            ]
            assert all("functionResponse" in each for each in following[: len(results)])
            assert all(isinstance(call["args"], dict) for call in calls)
            assert all(isinstance(result["response"], dict) for result in results)
            assert not any('"$ref":' in json.dumps(result["response"]) for result in results)


def check_tools(body: Mapping[str, Any]) -> None:
    config = body.get("toolConfig", {}).get("functionCallingConfig", {})
    assert "tools" in body or not config
    declared = [tool for each in body.get("tools", ()) for tool in each["functionDeclarations"]]
    assert len(body.get("tools", [0])) == 1
    allowed = config.get("allowedFunctionNames", [])
    assert not allowed or config["mode"] == "ANY"
    assert set(allowed) <= {tool["name"] for tool in declared}
    for tool in declared:
        assert tool.get("parametersJsonSchema", {"type": "object"})["type"] == "object"
        check_schema(tool.get("parametersJsonSchema", {}))
    generation = body.get("generationConfig", {})
    assert "responseJsonSchema" not in generation or generation["responseMimeType"] == "application/json"
    check_schema(generation.get("responseJsonSchema", {}))


def check_schema(schema: Mapping[str, Any]) -> None:
    """No keyword that the host does not document, nothing beside a reference, and nothing that refers to nothing."""
    documented = {
        *("$defs", "$ref", "type", "format", "title", "description", "enum", "items", "prefixItems", "minItems"),
        *("maxItems", "minimum", "maximum", "anyOf", "oneOf", "properties", "additionalProperties", "required"),
    }
    for inner in schemas_in(schema):
        assert inner.keys() <= documented
        if "$ref" in inner:
            assert inner.keys() == {"$ref"}
            assert inner["$ref"].removeprefix("#/$defs/") in schema["$defs"]


def schemas_in(schema: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for name in ("properties", "$defs"):
            for inner in schema.get(name, {}).values():
                yield from schemas_in(inner)
        for name in ("items", "additionalProperties"):
            yield from schemas_in(schema.get(name))
        for name in ("anyOf", "oneOf", "prefixItems"):
            for inner in schema.get(name, ()):
                yield from schemas_in(inner)


def check_thinking(body: Mapping[str, Any], target: Target) -> None:
    config = body.get("generationConfig", {}).get("thinkingConfig", {})
    assert not {"thinkingBudget", "thinkingLevel"} <= config.keys()
    assert not config or target.model.abilities.thinking is not Thinking.NONE
    assert -1 <= config.get("thinkingBudget", 0) <= 24_576
    if target.model.abilities.thinking is Thinking.ALWAYS:
        assert config.get("thinkingBudget") != 0


def check_signed(contents: list[Any]) -> None:
    """Since the last user's words, the first call of each step is signed, or the host has signed another one."""
    begins = max(place for place, turn in enumerate(contents) if is_said(turn))
    for place, turn in enumerate(contents):
        calls = [each for each in turn["parts"] if "functionCall" in each]
        assert place < begins or not calls or any(SIGNATURE in call for call in calls)
        assert all(call.get(SIGNATURE) != UNSIGNED for call in calls[1:])


def is_said(turn: Mapping[str, Any]) -> bool:
    return turn["role"] == "user" and any("functionResponse" not in each for each in turn["parts"])


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
@settings(max_examples=30)
def test_a_request_gives_the_same_bytes_every_time(written: Any, target: Target) -> None:
    request = parse_chat(json.dumps(written).encode(), PLAIN).request
    assert sent(request, target, {}) == sent(request, target, {})
