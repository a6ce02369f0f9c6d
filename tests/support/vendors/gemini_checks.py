"""What Gemini refuses before any model runs: by its SDK's types, and by the rules of generateContent.

The rules are those of the wire reference, 2.2, 4.3, 5, 6 and 7.
"""

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from google.genai import types
from pydantic import BaseModel, ConfigDict, ValidationError

from core.catalog.model import Quirk, Target, Thinking, ThinkingSwitch

SIGNATURE = "thoughtSignature"
UNSIGNED = "skip_thought_signature_validator"
# The longest budget that every model with budgets takes.
LONGEST_BUDGET = 24_576
KEYWORDS = frozenset(
    {
        *("$defs", "$ref", "type", "format", "title", "description", "enum", "items", "prefixItems", "minItems"),
        *("maxItems", "minimum", "maximum", "anyOf", "oneOf", "properties", "additionalProperties", "required"),
        *("minLength", "maxLength", "minProperties", "maxProperties", "pattern", "nullable", "propertyOrdering"),
    }
)
"""What the API reference and the SDK's `Schema` name."""


class Body(BaseModel):
    """The REST body, of the SDK's own types; nothing that they do not know is let through."""

    model_config = ConfigDict(extra="forbid")

    contents: list[types.Content]
    systemInstruction: types.Content | None = None
    tools: list[types.Tool] | None = None
    toolConfig: types.ToolConfig | None = None
    generationConfig: types.GenerationConfig | None = None
    serviceTier: types.ServiceTier | None = None


def problems(body: Mapping[str, Any], target: Target) -> Iterator[str]:
    """Everything that is wrong with a request body."""
    try:
        Body.model_validate(body)
    except ValidationError as error:
        yield str(error)
        return
    yield from _turns(body["contents"])
    yield from _steps(body["contents"])
    yield from _tools(body, target)
    yield from _thinking(body, target)
    if target.host.thinking_switch is ThinkingSwitch.LEVEL:
        yield from _signed(body["contents"])


def _turns(contents: list[Any]) -> Iterator[str]:
    """A user's turn first, no two alike in a row, one payload a part, and no text without any unless it is signed."""
    roles = [turn["role"] for turn in contents]
    if not roles or roles[0] != "user" or any(one == other for one, other in pairwise(roles)):
        yield f"roles do not alternate, or do not begin with the user: {roles}"
    for turn in contents:
        if not turn["parts"]:
            yield "a turn has no parts"
        for part in turn["parts"]:
            if len(part.keys() - {SIGNATURE, "thought"}) != 1:
                yield f"a part has one payload: {part}"
            if part.get("text") == "" and SIGNATURE not in part:
                yield "a text is empty"
            if SIGNATURE in part and not b64decode(part[SIGNATURE].replace("_", "/")):
                yield "a signature is no base64"


def _steps(contents: list[Any]) -> Iterator[str]:
    """Every step's results come at once, first and in the order of its calls, by the same names and ids."""
    for place, turn in enumerate(contents):
        calls = [each["functionCall"] for each in turn["parts"] if "functionCall" in each]
        following = contents[place + 1]["parts"] if place + 1 < len(contents) else []
        results = [each["functionResponse"] for each in following if "functionResponse" in each]
        if turn["role"] != "model":
            continue
        made = [(call["name"], call.get("id")) for call in calls]
        if made != (told := [(result["name"], result.get("id")) for result in results]):
            yield f"the calls {made} do not have their results: {told}"
        if not all("functionResponse" in each for each in following[: len(results)]):
            yield "results do not come first"
        if not all(isinstance(call["args"], dict) for call in calls):
            yield "args are no object"
        if not all(isinstance(result["response"], dict) for result in results):
            yield "a response is no object"
        if any('"$ref":' in json.dumps(result["response"]) for result in results):
            yield "a response refers to nothing"


def _tools(body: Mapping[str, Any], target: Target) -> Iterator[str]:
    config = body.get("toolConfig", {}).get("functionCallingConfig", {})
    if config and "tools" not in body:
        yield "a function calling config without tools"
    declared = [tool for each in body.get("tools", ()) for tool in each["functionDeclarations"]]
    if len(body.get("tools", [0])) != 1:
        yield "declarations stand in several tools"
    allowed = config.get("allowedFunctionNames", [])
    if allowed and config["mode"] != "ANY":
        yield "allowed function names go with the mode ANY alone"
    if unknown := set(allowed) - {tool["name"] for tool in declared}:
        yield f"allowed function names that are not declared: {unknown}"
    for tool in declared:
        schema = tool.get("parametersJsonSchema", {"type": "object"})
        if schema["type"] != "object":
            yield "parameters are no object"
        yield from _schema(schema)
    generation = body.get("generationConfig", {})
    is_json = generation.get("responseMimeType") == "application/json"
    if "responseJsonSchema" in generation and not is_json:
        yield "a schema without its MIME type"
    if is_json and declared and target.has(Quirk.JSON_WITHOUT_TOOLS):
        yield "Function calling with a response mime type: 'application/json' is unsupported"
    yield from _schema(generation.get("responseJsonSchema", {}))


def _schema(schema: Mapping[str, Any]) -> Iterator[str]:
    """No keyword that the host does not document, nothing beside a reference, and nothing that refers to nothing."""
    for inner in _schemas_in(schema):
        if unknown := inner.keys() - KEYWORDS:
            yield f"Unknown name {sorted(unknown)} in a schema"
        if "$ref" in inner and (
            inner.keys() != {"$ref"} or inner["$ref"].removeprefix("#/$defs/") not in schema["$defs"]
        ):
            yield f"a reference that leads nowhere: {inner}"


def _schemas_in(schema: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for name in ("properties", "$defs"):
            for inner in schema.get(name, {}).values():
                yield from _schemas_in(inner)
        for name in ("items", "additionalProperties"):
            yield from _schemas_in(schema.get(name))
        for name in ("anyOf", "oneOf", "prefixItems"):
            for inner in schema.get(name, ()):
                yield from _schemas_in(inner)


def _thinking(body: Mapping[str, Any], target: Target) -> Iterator[str]:
    config = body.get("generationConfig", {}).get("thinkingConfig", {})
    thinking, switch = target.model.abilities.thinking, target.host.thinking_switch
    if {"thinkingBudget", "thinkingLevel"} <= config.keys():
        yield "a thinking budget and a thinking level"
    if config and thinking is Thinking.NONE:
        yield "this model does not support thinking"
    if not -1 <= config.get("thinkingBudget", 0) <= LONGEST_BUDGET:
        yield f"the thinking budget {config['thinkingBudget']} is out of range"
    if thinking is Thinking.ALWAYS and config.get("thinkingBudget") == 0:
        yield "this model only works in thinking mode"
    if "thinkingLevel" in config and switch is not ThinkingSwitch.LEVEL:
        yield "thinking level is not supported for this model"
    for name, theirs in (("temperature", "temperature"), ("top_p", "topP")):
        if name in target.model.abilities.refuses and theirs in body.get("generationConfig", {}):
            yield f"{theirs} is not supported by this model"


def _signed(contents: list[Any]) -> Iterator[str]:
    """Since the last user's words, the first call of each step is signed, or the host has signed another one."""
    begins = max(place for place, turn in enumerate(contents) if _is_said(turn))
    for place, turn in enumerate(contents):
        calls = [each for each in turn["parts"] if "functionCall" in each]
        if place >= begins and calls and not any(SIGNATURE in call for call in calls):
            yield "Function call is missing a thought_signature in functionCall parts"
        if any(call.get(SIGNATURE) == UNSIGNED for call in calls[1:]):
            yield "only a step's first call is excused from its signature"


def _is_said(turn: Mapping[str, Any]) -> bool:
    return turn["role"] == "user" and any("functionResponse" not in each for each in turn["parts"])
