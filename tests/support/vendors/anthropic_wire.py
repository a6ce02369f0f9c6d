"""Anthropic's Messages API as the conversation's vendor reads and writes it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.catalog.model import Quirk
from tests.support.script import Head, Received, Send, Step, reply
from tests.support.vendors.anthropic_checks import problems
from tests.support.vendors.rows import Row
from tests.support.vendors.talk import Item, Spoken, Turn, call, sealed

KINDS = {400: "invalid_request_error", 401: "authentication_error"}
VERSIONS = ("2023-06-01", "2026-10-21")
USAGE = {"input_tokens": 40, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 0, "output_tokens": 1}


class AnthropicWire:
    """One row that speaks Claude's own format."""

    def __init__(self, row: Row) -> None:
        self._row = row

    def problems(self, request: Received, body: Any) -> Iterator[str]:
        """Address, headers, then the body."""
        target = self._row.target
        if target.has(Quirk.VERTEX_PATH):
            if not request.path.endswith(f"/publishers/anthropic/models/{target.host.upstream_model}:streamRawPredict"):
                yield f"no such path: {request.path}"
            version = body.get("anthropic_version")
        else:
            if not request.path.endswith("/v1/messages"):
                yield f"no such path: {request.path}"
            if body.get("model") != target.host.upstream_model:
                yield f"model: {body.get('model')}"
            version = request.headers.get("anthropic-version")
        if version not in VERSIONS:
            yield f"anthropic-version: {version!r} is not a valid version"
        if request.headers.get("content-type") != "application/json":
            yield "content-type: application/json is wanted"
        if body.get("stream") is not True:
            yield "stream: the call is not for a stream"
        yield from problems(body, target)

    def turns(self, body: Any) -> list[Turn]:
        """The assistant's turns, with the results that follow them."""
        messages = body["messages"]
        found = []
        for place, turn in enumerate(messages):
            if turn["role"] == "assistant":
                after = messages[place + 1]["content"] if place + 1 < len(messages) else []
                results = [_text(block) for block in after if block["type"] == "tool_result"]
                found.append(Turn(tuple(map(_item, turn["content"])), tuple(results)))
        return found

    def made(self, spoken: Spoken, number: int) -> Turn:
        """The blocks as they have to come back."""
        return Turn(tuple(map(_item, self._blocks(spoken, number))))

    def answer(self, spoken: Spoken, number: int) -> Sequence[Step]:
        """The stream of a message."""
        events: list[dict[str, Any]] = [
            {
                "type": "message_start",
                "message": {"type": "message", "role": "assistant", "content": [], "usage": USAGE},
            },
            {"type": "ping"},
        ]
        for index, block in enumerate(self._blocks(spoken, number)):
            opening, deltas = _streamed(block)
            events.append({"type": "content_block_start", "index": index, "content_block": opening})
            events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            events.append({"type": "content_block_stop", "index": index})
        reason = "tool_use" if spoken.calls else "end_turn"
        usage = {"output_tokens": 20, "output_tokens_details": {"thinking_tokens": 8 if spoken.thinking else 0}}
        events.append({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage})
        events.append({"type": "message_stop"})
        lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        return [Head(200, {"content-type": "text/event-stream"}), *(Send(line.encode()) for line in lines)]

    def refusal(self, status: int, message: str) -> Sequence[Step]:
        """Anthropic's error object."""
        error = {"type": KINDS[status], "message": message}
        return reply({"type": "error", "error": error, "request_id": "req_1"}, status)

    def _blocks(self, spoken: Spoken, number: int) -> list[dict[str, Any]]:
        """Thinking, a redacted piece of it, text, and calls with more thinking between them."""
        blocks: list[dict[str, Any]] = []
        seal = (self._row.slug, number)
        if spoken.thinking:
            blocks.append({"type": "thinking", "thinking": spoken.thinking, "signature": sealed(*seal)})
            blocks.append({"type": "redacted_thinking", "data": sealed(*seal, "redacted")})
        if spoken.text:
            blocks.append({"type": "text", "text": spoken.text})
        for place, (name, arguments) in enumerate(spoken.calls):
            if place and spoken.thinking:
                blocks.append({"type": "thinking", "thinking": "", "signature": sealed(*seal, place)})
            blocks.append({"type": "tool_use", "id": f"toolu_{number}_{place}", "name": name, "input": dict(arguments)})
        return blocks


def _item(block: Mapping[str, Any]) -> Item:
    match block["type"]:
        case "text":
            return Item("text", block["text"])
        case "tool_use":
            return call(block["name"], block["input"])
        case _:
            return Item("thinking", block)


def _text(block: Mapping[str, Any]) -> str:
    content = block.get("content", "")
    return content if isinstance(content, str) else "".join(each["text"] for each in content)


def _streamed(block: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[dict[str, Any]]]:
    match block["type"]:
        case "text":
            return {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}]
        case "thinking":
            pieces = [block["thinking"][:4], block["thinking"][4:]]
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces if piece]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
            return {**block, "thinking": "", "signature": ""}, deltas
        case "tool_use":
            written = json.dumps(block["input"], ensure_ascii=False) if block["input"] else ""
            pieces = [written[:5], written[5:]]
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces if piece]
            return {**block, "input": {}}, deltas
        case _:
            return block, []
