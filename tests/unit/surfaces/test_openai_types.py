"""Every field that the installed `openai` package knows is accepted, in every variant, and ends in exactly one way."""

import orjson
import pytest

from core.catalog.model import Abilities, Format, Quirk, StructuredOutput, Thinking, ThinkingSwitch
from core.chat import ChatRequest, Json
from core.providers.dispositions import ROWS, TABLE, rule_for
from core.providers.fields import QUIET, dispose, fields_of
from core.surfaces.openai_chat import parse_chat
from core.surfaces.openai_chat.fields import FIELDS
from core.surfaces.surface import ROUTING
from tests.support.targets import make_target, make_vendor
from tests.support.typed_params import Sample, paths, request_fields, samples

KNOWN = request_fields()
SAMPLES = [(name, sample) for name, kind in KNOWN.items() for sample in samples(kind, name)]

USER: Json = {"role": "user", "content": "Answer in JSON."}
FUNCTION: Json = {"type": "function", "function": {"name": "word"}}
CUSTOM: Json = {"type": "custom", "custom": {"name": "word"}}
CALL: Json = {"id": "word", "type": "function", "function": {"name": "word", "arguments": "{}"}}
RESULT: Json = {"role": "tool", "tool_call_id": "word", "content": "word"}
OLD_CALL: Json = {"role": "assistant", "function_call": {"name": "word", "arguments": "{}"}}
OLD_RESULT: Json = {"role": "function", "name": "word", "content": "word"}

# What a field needs beside it.
BESIDE: dict[str, Json] = {
    "stream_options": {"stream": True},
    "top_logprobs": {"logprobs": True},
    "modalities": {"audio": {"format": "wav", "voice": "alloy"}},
    "function_call": {"functions": [{"name": "word"}]},
    "parallel_tool_calls": {"tools": [FUNCTION]},
}

# Models that can do everything, one per format.
ABLE = Abilities(
    tools=True,
    parallel_tools=True,
    vision=True,
    documents=True,
    audio_input=True,
    audio_output=True,
    json_mode=True,
    structured_output=StructuredOutput.VERIFIED,
    thinking=Thinking.OPTIONAL,
    choices=8,
)
TARGETS = {
    wire: make_target(
        vendor=make_vendor(format=wire, quirks=frozenset({Quirk.CUSTOM_TOOLS})),
        abilities=ABLE,
        thinking_switch=ThinkingSwitch.REASONING_EFFORT,
    )
    for wire in Format
}


def conversation(message: Json) -> list[Json]:
    """A history that the message can stand in."""
    role = message["role"]
    if role == "tool":
        return [USER, {"role": "assistant", "tool_calls": [CALL]}, message]
    if role == "function":
        return [USER, OLD_CALL, message]
    if role != "assistant":
        return [message]
    if message.get("tool_calls"):
        return [USER, message, {**RESULT, "tool_call_id": message["tool_calls"][0]["id"]}]
    if message.get("function_call"):
        return [USER, message, OLD_RESULT]
    return [USER, {"content": "word", **message} if message.get("content", "") else {**message, "content": "word"}]


def request_with(name: str, sample: Sample) -> dict[str, Json]:
    body = {"model": "word", "messages": [USER], **BESIDE.get(name, {}), name: sample.value}
    if name == "messages":
        body["messages"] = conversation(sample.value[0])
    if name == "tool_choice":
        body["tools"] = [CUSTOM if ".custom" in sample.shows else FUNCTION]
        if isinstance(sample.value, dict) and sample.value["type"] == "custom":
            body["tools"] = [CUSTOM]
    return body


def parsed(name: str, sample: Sample) -> ChatRequest:
    return parse_chat(orjson.dumps(request_with(name, sample)), ROUTING).request


def test_the_package_knows_the_37_fields_of_the_contract_and_so_do_we() -> None:
    assert len(KNOWN) == 37
    assert set(FIELDS) - set(KNOWN) == {"routing", "extended_thinking"}
    assert set(KNOWN) <= set(FIELDS)


@pytest.mark.parametrize(("name", "sample"), SAMPLES, ids=[sample.shows for _, sample in SAMPLES])
def test_every_variant_is_accepted_and_ends_in_exactly_one_way(name: str, sample: Sample) -> None:
    request = parsed(name, sample)
    assert request.unknown == ()
    for target in TARGETS.values():
        disposed = dispose(request, target)
        refused = {field for field, _ in disposed.refused}
        for field, value in fields_of(request).items():
            ends = sum((field in disposed.kept, field in disposed.reported, field in refused))
            says_nothing = value is None or value in QUIET.get(field, ())
            assert ends == 1 or (ends == 0 and says_nothing), (field, target.vendor.format)
        assert set(disposed.reported) <= set(fields_of(request))


@pytest.mark.parametrize("wire", Format)
def test_every_path_has_a_rule_in_every_format(wire: Format) -> None:
    everything = set().union(*(paths(kind, name) for name, kind in KNOWN.items()))
    without = [path for path in everything if rule_for(path, wire) is None]
    assert without == []


def test_the_table_is_total() -> None:
    assert set(TABLE) == set(Format)
    for wire in Format:
        assert set(TABLE[wire]) == set(ROWS)
        assert all(rule.reason for rule in TABLE[wire].values())
    assert set(KNOWN) <= set(ROWS)
    assert rule_for("nobody.knows", Format.OPENAI) is None
