"""Whatever a caller may ask, the body is one that Bedrock takes: checked by botocore and by the bounds of its model."""

from typing import Any

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from core.catalog.model import Abilities, Format, StructuredOutput, Target, Thinking, ThinkingSwitch
from core.chat import SealedThinking
from core.ports import ToolTurn
from core.providers.base import Prepared
from core.providers.bedrock import BedrockFormat
from tests.support.converse_checks import problems
from tests.support.examples import times
from tests.support.requests import ask
from tests.support.targets import make_target, make_vendor

FORMAT = BedrockFormat()
ABLE: dict[str, Any] = {
    "tools": True,
    "parallel_tools": True,
    "vision": True,
    "documents": True,
    "audio_input": True,
    "structured_output": StructuredOutput.VERIFIED,
}


def target(switch: ThinkingSwitch, thinking: Thinking, **can: Any) -> Target:
    return make_target(
        "us.lab.small-v1:0",
        vendor=make_vendor(format=Format.BEDROCK),
        abilities=Abilities(**{**ABLE, "thinking": thinking, **can}),
        thinking_switch=switch,
    )


TARGETS = [
    target(ThinkingSwitch.NONE, Thinking.NONE),
    target(ThinkingSwitch.REASONING_EFFORT, Thinking.ALWAYS, efforts=("low", "medium", "high")),
    target(ThinkingSwitch.THINKING_TYPE, Thinking.OPTIONAL),
    target(ThinkingSwitch.BUDGET, Thinking.OPTIONAL),
    target(ThinkingSwitch.ADAPTIVE, Thinking.OPTIONAL, thinks_by_default=True),
    target(ThinkingSwitch.BETWEEN_TOOLS, Thinking.OPTIONAL),
    target(ThinkingSwitch.EFFORT, Thinking.ALWAYS),
]

TEXT = st.sampled_from(["", " \n", "Hi.", "Grüße 東京", "Say it in JSON."])
FILE_NAMES = st.none() | st.sampled_from(["a.pdf", "Résumé (2).PDF", "../../etc/passwd", "", "..", "x" * 300, "表.csv"])
TTL = st.sampled_from([{}, {"ttl": "30m"}, {"ttl": "12h"}])
MARK = st.none() | TTL.map(lambda ttl: {"mode": "explicit", **ttl})


def marked(part: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda made, mark: {**made, "prompt_cache_breakpoint": mark} if mark else made, part, MARK)


TEXT_PART = marked(TEXT.map(lambda text: {"type": "text", "text": text}))
IMAGE = st.sampled_from(
    ["data:image/png;base64,iVBORw0KGgo=", "data:;base64,_9j_4AA", "data:image/webp;base64,AAAA"]
).map(lambda url: {"type": "image_url", "image_url": {"url": url}})
FILE = st.builds(
    lambda data, name: {"type": "file", "file": {"file_data": data, **({"filename": name} if name else {})}},
    st.sampled_from(["JVBERi0xLjQK", "data:text/csv;base64,YSxiCg==", "data:,plain%20text", "iVBORw0KGgo="]),
    FILE_NAMES,
)
AUDIO = st.sampled_from(["wav", "mp3"]).map(
    lambda kind: {"type": "input_audio", "input_audio": {"data": "UklG\nRg==", "format": kind}}
)
USER = TEXT | st.lists(TEXT_PART | marked(IMAGE) | marked(FILE) | marked(AUDIO), min_size=1, max_size=4)
SAID = TEXT | st.lists(TEXT_PART, min_size=1, max_size=2)
CALL_IDS = st.sampled_from(["call_0", "call_1", "a.b:c", "functions.f:0|x", "é", "x" * 80])
NAMES = st.sampled_from(["look", "find", "functions.look", "n" * 70])
ARGUMENTS = st.sampled_from(["", " ", "{}", '{"a": 1.50}', "[1]", "nonsense", '{"a"', "null"])
RESULTS = st.sampled_from(["", "Oslo", '{"temp": 21.0}', "[1]", '{"cut'])


@st.composite
def tool_loop(draw: st.DrawFn) -> list[dict[str, Any]]:
    ids = draw(st.lists(CALL_IDS, min_size=1, max_size=3, unique=True))
    calls: list[Any] = []
    for call_id in ids:
        if draw(st.booleans()):
            function = {"name": draw(NAMES), "arguments": draw(ARGUMENTS)}
            calls.append({"id": call_id, "type": "function", "function": function})
        else:
            calls.append({"id": call_id, "type": "custom", "custom": {"name": "shell", "input": draw(TEXT)}})
    contents = RESULTS | st.lists(TEXT_PART, min_size=1, max_size=2)
    results = [{"role": "tool", "tool_call_id": call_id, "content": draw(contents)} for call_id in ids]
    turn = {"role": "assistant", "content": draw(st.none() | SAID), "tool_calls": calls}
    return [turn, *draw(st.permutations(results))]


SYSTEM = st.builds(
    lambda role, content: [{"role": role, "content": content}], st.sampled_from(["system", "developer"]), SAID
)
USERS = USER.map(lambda content: [{"role": "user", "content": content}])
ANSWERS: list[dict[str, Any]] = [
    {"content": "Hello. "},
    {"content": [{"type": "refusal", "refusal": "No."}]},
    {"content": None, "refusal": "No."},
    {"content": "", "audio": {"id": "audio_1", "transcript": "Said."}},
    {"content": "", "reasoning_content": "Hm."},
]
ASSISTANTS = st.sampled_from(ANSWERS).map(lambda said: [{"role": "assistant", **said}])
LEGACY = st.just(
    [
        {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}},
        {"role": "function", "name": "look", "content": "seen"},
    ]
)
MESSAGES = st.lists(SYSTEM | USERS | ASSISTANTS | tool_loop() | LEGACY, min_size=1, max_size=6).map(
    lambda segments: [message for segment in segments for message in segment]
)

SCHEMAS = st.sampled_from(
    [
        {},
        {"type": "object", "title": "T", "properties": {"title": {"type": "string"}}, "additionalProperties": False},
        {"anyOf": [{"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}, {"type": "null"}]},
        {
            "type": "object",
            "properties": {"n": {"$ref": "#/$defs/N"}},
            "$defs": {"N": {"items": {"$ref": "#/$defs/N"}}},
        },
    ]
)
TOOLS = st.builds(
    lambda schema, strict, description: [
        {"type": "function", "function": {"name": "look", "parameters": schema, "strict": strict}},
        {"type": "function", "function": {"name": "find", "description": description}},
        {"type": "custom", "custom": {"name": "shell", "format": {"type": "text"}}},
    ],
    SCHEMAS,
    st.booleans(),
    TEXT,
)
LOOK = {"type": "function", "function": {"name": "look"}}
ALLOWED = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [LOOK]}}
CHOICES = st.sampled_from(["none", "auto", "required", LOOK, ALLOWED])
SCHEMA_FORMAT = {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": {"type": "object"}}}
WITH_TOOLS = st.fixed_dictionaries(
    {"tools": TOOLS}, optional={"tool_choice": CHOICES, "parallel_tool_calls": st.booleans()}
)
WITH_FUNCTIONS = st.just({"functions": [{"name": "look"}], "function_call": {"name": "look"}})
MEMBERS = st.fixed_dictionaries(
    {},
    optional={
        "temperature": st.sampled_from([0, 0.5, 1, 2]),
        "top_p": st.sampled_from([0, 0.95, 1]),
        "stop": st.sampled_from(["END", ["a", ""], []]),
        "max_tokens": st.sampled_from([1, 1024, 2048]),
        "extended_thinking": st.booleans(),
        "reasoning_effort": st.sampled_from(["none", "minimal", "medium", "max"]),
        "response_format": st.sampled_from([{"type": "text"}, SCHEMA_FORMAT]),
        "service_tier": st.sampled_from(["auto", "default", "flex", "priority", "scale", "fast"]),
        "metadata": st.dictionaries(st.sampled_from(["", "a", "ä"]), st.sampled_from(["", "x 1", "é", "v" * 300])),
        "seed": st.just(1),
        "user": st.just("u"),
        "verbosity": st.just("low"),
    },
)


@given(MESSAGES, MEMBERS, WITH_TOOLS | WITH_FUNCTIONS | st.just({}), st.sampled_from(TARGETS), st.data())
@settings(max_examples=times(6))
def test_every_body_is_one_that_the_service_takes(
    messages: list[Any], members: dict[str, Any], tools: dict[str, Any], to: Target, data: st.DataObject
) -> None:
    request = ask(messages, **members, **tools)
    calls = [call.id for message in request.messages for call in message.tool_calls]
    thinking = (SealedThinking("Hm.", "S=="), SealedThinking(redacted="AA==", calls_before=1))
    turn = ToolTurn(
        "m", data.draw(st.sampled_from([to.name, "elsewhere"])), thinking, upstream_ids=dict.fromkeys(calls, "u")
    )
    turns = {call_id: turn for call_id in calls if data.draw(st.booleans())}
    outgoing = FORMAT.encode(request, to, Prepared(turns=turns))
    assert list(problems(to.host.upstream_model, orjson.loads(outgoing.body))) == []
    assert FORMAT.encode(request, to, Prepared(turns=turns)) == outgoing
