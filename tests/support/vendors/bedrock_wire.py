"""Bedrock's ConverseStream as the conversation's vendor reads and writes it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from core.providers.thinking import is_claude
from tests.support.bedrock_frames import events
from tests.support.converse_checks import refusal
from tests.support.script import Head, Received, Send, Step, reply
from tests.support.vendors.anthropic_checks import thinking_problems
from tests.support.vendors.rows import Row
from tests.support.vendors.talk import Item, Spoken, Turn, call, sealed

ERRORS = {400: "ValidationException", 403: "AccessDeniedException"}
SAMPLING = {"temperature": "temperature", "top_p": "topP"}
NO_OUTPUT = "(no output)"


class BedrockWire:
    """One row on Bedrock: Claude, whose thinking is sealed, or any other model."""

    def __init__(self, row: Row) -> None:
        self._row = row
        self._is_claude = is_claude(row.target)

    def problems(self, request: Received, body: Any) -> Iterator[str]:
        """What the service refuses, then what the model behind it does."""
        if found := refusal(request):
            yield found[1]
            return
        target = self._row.target
        if request.path != f"/model/{quote(target.host.upstream_model, safe=':')}/converse-stream":
            yield "The provided model identifier is invalid."
        additional = body.get("additionalModelRequestFields", {})
        inference = body.get("inferenceConfig", {})
        for name, theirs in SAMPLING.items():
            if name in target.model.abilities.refuses and theirs in inference:
                yield f"{theirs} is not supported by this model"
        choice = body.get("toolConfig", {}).get("toolChoice", {})
        if choice and "auto" not in choice and not target.model.abilities.forced_tools:
            yield "this model does not support forced tool use"
        if self._is_claude:
            yield from thinking_problems(_as_claude(body, additional, inference), target)
        elif "thinking" in additional:
            yield "thinking: Extra inputs are not permitted"

    def turns(self, body: Any) -> list[Turn]:
        """The assistant's turns, with the results that follow them."""
        messages = body["messages"]
        found = []
        for place, turn in enumerate(messages):
            if turn["role"] == "assistant":
                after = messages[place + 1]["content"] if place + 1 < len(messages) else []
                results = [_text(block["toolResult"]) for block in after if "toolResult" in block]
                found.append(Turn(tuple(map(_item, turn["content"])), tuple(results)))
        return found

    def made(self, spoken: Spoken, number: int) -> Turn:
        """The blocks as they have to come back: unsigned thinking need not."""
        return Turn(tuple(_item(block) for block in self._blocks(spoken, number) if not _is_unsigned(block)))

    def answer(self, spoken: Spoken, number: int) -> Sequence[Step]:
        """The event stream of a message."""
        frames: list[tuple[str, Any]] = [("messageStart", {"role": "assistant"})]
        for index, block in enumerate(self._blocks(spoken, number)):
            start, deltas = _streamed(block)
            at = {"contentBlockIndex": index}
            if start is not None:
                frames.append(("contentBlockStart", {**at, "start": start}))
            frames += [("contentBlockDelta", {**at, "delta": delta}) for delta in deltas]
            frames.append(("contentBlockStop", at))
        frames.append(("messageStop", {"stopReason": "tool_use" if spoken.calls else "end_turn"}))
        usage = {"inputTokens": 40, "cacheReadInputTokens": 10, "outputTokens": 20, "totalTokens": 70}
        frames.append(("metadata", {"usage": usage, "metrics": {"latencyMs": 9}}))
        head = Head(200, {"content-type": "application/vnd.amazon.eventstream"})
        return [head, *(Send(events(frame)) for frame in frames)]

    def refusal(self, status: int, message: str) -> Sequence[Step]:
        """AWS's error: the kind in a header."""
        return reply({"message": message}, status, {"x-amzn-errortype": f"{ERRORS[status]}:http://internal/"})

    def _blocks(self, spoken: Spoken, number: int) -> list[dict[str, Any]]:
        """Thinking, sealed where it is Claude's, text, and calls with more thinking between them."""
        blocks: list[dict[str, Any]] = []
        seal = (self._row.slug, number)
        if spoken.thinking and self._is_claude:
            blocks.append(_reasoning({"text": spoken.thinking, "signature": sealed(*seal)}))
            blocks.append({"reasoningContent": {"redactedContent": sealed(*seal, "redacted")}})
        elif spoken.thinking:
            blocks.append(_reasoning({"text": spoken.thinking}))
        if spoken.text:
            blocks.append({"text": spoken.text})
        for place, (name, arguments) in enumerate(spoken.calls):
            if place and spoken.thinking and self._is_claude:
                blocks.append(_reasoning({"text": "", "signature": sealed(*seal, place)}))
            use_id = f"tooluse_{number}.{place}"
            blocks.append({"toolUse": {"toolUseId": use_id, "name": name, "input": dict(arguments)}})
        return blocks


def _as_claude(body: Mapping[str, Any], additional: Mapping[str, Any], inference: Mapping[str, Any]) -> dict[str, Any]:
    """What of a call is Claude's own, as its own format has it."""
    claude: dict[str, Any] = {name: value for name, value in additional.items() if name in ("thinking", "tool_choice")}
    claude |= {name: inference[theirs] for name, theirs in SAMPLING.items() if theirs in inference}
    if "any" in (choice := body.get("toolConfig", {}).get("toolChoice", {})) or "tool" in choice:
        claude["tool_choice"] = {"type": "any"}
    if "effort" in body.get("outputConfig", {}):
        claude["output_config"] = {"effort": body["outputConfig"]["effort"]}
    # The service's own limit where none is sent is the model's.
    claude["max_tokens"] = inference.get("maxTokens", 1 << 20)
    kinds = {"toolResult": "tool_result", "reasoningContent": "thinking"}
    claude["messages"] = [
        {"content": [{"type": kinds.get(next(iter(block)), "other")} for block in turn["content"]]}
        for turn in body["messages"]
    ]
    return claude


def _reasoning(text: Mapping[str, str]) -> dict[str, Any]:
    return {"reasoningContent": {"reasoningText": text}}


def _is_unsigned(block: Mapping[str, Any]) -> bool:
    return "signature" not in block.get("reasoningContent", {}).get("reasoningText", {"signature": ""})


def _item(block: Mapping[str, Any]) -> Item:
    if "text" in block:
        return Item("text", block["text"])
    if "toolUse" in block:
        return call(block["toolUse"]["name"], block["toolUse"]["input"])
    return Item("thinking", block)


def _text(result: Mapping[str, Any]) -> str:
    said = "".join(json.dumps(each["json"]) if "json" in each else each["text"] for each in result["content"])
    return "" if said == NO_OUTPUT else said


def _streamed(block: Mapping[str, Any]) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    match block:
        case {"text": text}:
            return None, [{"text": text}]
        case {"toolUse": {"input": arguments, **use}}:
            written = json.dumps(arguments, ensure_ascii=False) if arguments else ""
            pieces = [written[:5], written[5:]]
            return {"toolUse": use}, [{"toolUse": {"input": piece}} for piece in pieces if piece]
        case {"reasoningContent": {"reasoningText": said}}:
            return None, [{"reasoningContent": {name: value}} for name, value in said.items() if value]
        case _:
            return None, [dict(block)]
