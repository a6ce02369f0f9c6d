"""What Anthropic refuses before any model runs: by its SDK's types, and by the rules of the Messages API.

The rules about conversations, thinking and caching are those of the wire reference, 2.1, 4.2, 4.5 and 7.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from anthropic.types.message_create_params import MessageCreateParamsStreaming
from pydantic import TypeAdapter

from core.catalog.model import Quirk, Target, ThinkingSwitch
from tests.support.vendors.typed import typed_problems

MOST_MARKS = 4
OLDER_VERSION = "2023-06-01"
# The SDK's types are those of the newest version, which has no sampling parameters.
SAMPLING = ("temperature", "top_p")

_PARAMS: TypeAdapter[Any] = TypeAdapter(MessageCreateParamsStreaming)
_THINKING = {
    ThinkingSwitch.BUDGET: {"enabled", "disabled"},
    ThinkingSwitch.ADAPTIVE: {"adaptive", "disabled"},
    ThinkingSwitch.BETWEEN_TOOLS: {"adaptive", "between_tools"},
    ThinkingSwitch.EFFORT: {"adaptive"},
}


def problems(body: Mapping[str, Any], target: Target) -> Iterator[str]:
    """Everything that is wrong with a request body."""
    yield from _types(body, target)
    yield from _turns(body.get("messages", []))
    yield from _tools(body, target)
    yield from thinking_problems(body, target)
    yield from _marks(body)
    if any(not text.strip() for text in _texts(body)):
        yield "text content blocks must be non-empty"


def _types(body: Mapping[str, Any], target: Target) -> Iterator[str]:
    older = SAMPLING if target.host.api_version == OLDER_VERSION else ()
    known = {name: value for name, value in body.items() if name not in older}
    if target.has(Quirk.VERTEX_PATH):  # the model is in the path, the version in the body
        known = {"model": "m", **{name: value for name, value in known.items() if name != "anthropic_version"}}
    yield from typed_problems(_PARAMS, known)
    if not 0 <= body.get("temperature", 0) <= 1:
        yield "temperature: range: 0..1"
    for name in target.model.abilities.refuses & set(SAMPLING):
        if name in body:
            yield f"{name} is not supported by this model"


def _turns(messages: list[Any]) -> Iterator[str]:
    """A user's turn first and last, no two alike in a row, calls answered at once and with nothing before that."""
    roles = [turn["role"] for turn in messages]
    if not roles or roles[0] != "user" or roles[-1] not in ("user", "system"):
        yield f"a conversation begins and ends with the user, not as {roles}"
    if any(one == other for one, other in pairwise(roles)):
        yield f"roles do not alternate: {roles}"
    seen: set[str] = set()
    for place, turn in enumerate(messages):
        kinds = [block["type"] for block in turn["content"]]
        if not kinds:
            yield "a turn has no content"
        if turn["role"] == "system" and (set(kinds) != {"text"} or place == 0 or roles[place - 1] != "user"):
            yield "a system message is text, after a user's turn"
        calls = [block["id"] for block in turn["content"] if block["type"] == "tool_use"]
        if seen & set(calls) or len(set(calls)) < len(calls):
            yield f"`tool_use` ids must be unique: {calls}"
        if not all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call_id) for call_id in calls):
            yield f"tool_use.id: should match '^[a-zA-Z0-9_-]+$': {calls}"
        seen |= set(calls)
        results = [block["tool_use_id"] for block in turn["content"] if block["type"] == "tool_result"]
        if kinds[: len(results)] != ["tool_result"] * len(results):
            yield f"tool results must come first: {kinds}"
        before = messages[place - 1]["content"] if place else []
        if results != (made := [block["id"] for block in before if block["type"] == "tool_use"]):
            yield f"`tool_use` ids {made} were found without their `tool_result` blocks: {results}"


def _tools(body: Mapping[str, Any], target: Target) -> Iterator[str]:
    turns = body.get("messages", [])
    used = {block["name"] for turn in turns for block in turn["content"] if block["type"] == "tool_use"}
    if used and "tools" not in body:
        yield "tools must be defined when the history uses some"
    if not all(re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", name) for name in used):
        yield f"tool_use.name: {used}"
    choice = body.get("tool_choice", {}).get("type")
    if choice is not None and "tools" not in body:
        yield "tool_choice may only be specified while providing tools"
    if choice in ("any", "tool") and not target.model.abilities.forced_tools:
        yield "this model does not support forced tool use"
    if any("type" not in tool["input_schema"] for tool in body.get("tools", ())):
        yield "tools.input_schema.type: Field required"


def thinking_problems(body: Mapping[str, Any], target: Target) -> Iterator[str]:
    """What is wrong with the switches of thinking, and with what goes beside them."""
    thinking = body.get("thinking", {})
    kind = thinking.get("type")
    thinks = kind in ("enabled", "adaptive")
    if kind is not None and kind not in _THINKING.get(target.host.thinking_switch, set()):
        yield f"thinking.type {kind} is not supported by this model"
    if thinks != ("display" in thinking):
        yield "thinking.display: some models show nothing without it"
    if kind == "enabled" and not 1024 <= thinking["budget_tokens"] < body["max_tokens"]:
        yield "`max_tokens` must be greater than `thinking.budget_tokens`, which is at least 1024"
    if thinks and body.get("tool_choice", {}).get("type") in ("any", "tool"):
        yield "thinking may not be enabled when tool_choice forces tool use"
    if thinks and (body.get("temperature", 1) != 1 or body.get("top_p", 1) < 0.95):
        yield "temperature may only be set to 1 when thinking is enabled"
    effort = body.get("output_config", {}).get("effort")
    if effort is not None and target.model.abilities.efforts and effort not in target.model.abilities.efforts:
        yield f"effort {effort} is not supported by this model"
    last = body["messages"][-1]["content"] if body.get("messages") else [{"type": ""}]
    if kind == "enabled" and last[0]["type"] == "tool_result":
        before = body["messages"][-2]["content"]
        if not before[0]["type"].endswith("thinking"):
            yield "expected `thinking` or `redacted_thinking`, but found another block first"


def _marks(body: Mapping[str, Any]) -> Iterator[str]:
    marks = [*_find(body.get("system", []), "cache_control"), *_find(body.get("messages", []), "cache_control")]
    if len(marks) + ("cache_control" in body) > MOST_MARKS:
        yield f"a maximum of {MOST_MARKS} blocks with cache_control may be provided"
    lifetimes = ["ttl" in mark for mark in marks]
    if lifetimes != sorted(lifetimes, reverse=True):
        yield "a ttl='1h' cache_control block must not come after a ttl='5m' one"


def _find(value: Any, name: str) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, member in value.items():
            if key == name:
                yield member
            else:
                yield from _find(member, name)
    elif isinstance(value, list):
        for item in value:
            yield from _find(item, name)


def _texts(body: Mapping[str, Any]) -> Iterator[str]:
    """Every text that the host would refuse if it were blank."""
    for blocks in (body.get("system", []), *(turn["content"] for turn in body.get("messages", []))):
        yield from (block["text"] for block in blocks if block["type"] == "text")
        for block in blocks:
            if block["type"] == "tool_result":
                inner = block.get("content", "-")
                yield from [inner] if isinstance(inner, str) else (each["text"] for each in inner)
    yield from body.get("stop_sequences", ())
