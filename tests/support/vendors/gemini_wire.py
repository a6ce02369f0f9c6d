"""Gemini's generateContent as the conversation's vendor reads and writes it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.catalog.model import ThinkingSwitch
from tests.support.script import Head, Received, Send, Step, reply
from tests.support.vendors.gemini_checks import SIGNATURE, UNSIGNED, problems
from tests.support.vendors.rows import Row
from tests.support.vendors.talk import Item, Spoken, Turn, call, sealed

STATUSES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED"}


class GeminiWire:
    """One row that speaks Gemini's format. Models that think in levels give their calls ids."""

    def __init__(self, row: Row) -> None:
        self._row = row
        self._gives_ids = row.target.host.thinking_switch is ThinkingSwitch.LEVEL

    def problems(self, request: Received, body: Any) -> Iterator[str]:
        """Address, headers, then the body."""
        model = self._row.target.host.upstream_model
        if not request.path.endswith(f"/models/{model}:streamGenerateContent?alt=sse"):
            yield f"no such path: {request.path}"
        if request.headers.get("content-type") != "application/json":
            yield "content-type: application/json is wanted"
        yield from problems(body, self._row.target)

    def turns(self, body: Any) -> list[Turn]:
        """The model's turns, with the responses that follow them."""
        contents = body["contents"]
        found = []
        for place, turn in enumerate(contents):
            if turn["role"] == "model":
                after = contents[place + 1]["parts"] if place + 1 < len(contents) else []
                results = [_text(part["functionResponse"]) for part in after if "functionResponse" in part]
                found.append(Turn(tuple(map(_item, turn["parts"])), tuple(results)))
        return found

    def made(self, spoken: Spoken, number: int) -> Turn:
        """The parts as they have to come back: thoughts without a signature need not."""
        parts = [part for part in self._parts(spoken, number) if not part.get("thought")]
        return Turn(tuple(map(_item, parts)))

    def answer(self, spoken: Spoken, number: int) -> Sequence[Step]:
        """The stream of a response: a chunk for each part, then the reason."""
        thoughts = 8 if spoken.thinking else 0
        usage = {"promptTokenCount": 50, "cachedContentTokenCount": 10, "candidatesTokenCount": 20 - thoughts}
        usage |= {"totalTokenCount": 70, **({"thoughtsTokenCount": thoughts} if thoughts else {})}
        chunks: list[Any] = [{"content": {"role": "model", "parts": [part]}} for part in self._parts(spoken, number)]
        chunks.append({"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"})
        lines = (
            f"data: {json.dumps({'candidates': [{**chunk, 'index': 0}], 'usageMetadata': usage})}\r\n\r\n"
            for chunk in chunks
        )
        return [Head(200, {"content-type": "text/event-stream"}), *(Send(line.encode()) for line in lines)]

    def refusal(self, status: int, message: str) -> Sequence[Step]:
        """Google's error object."""
        return reply({"error": {"code": status, "message": message, "status": STATUSES[status]}}, status)

    def _parts(self, spoken: Spoken, number: int) -> list[dict[str, Any]]:
        """A thought, text, and calls of which the first is signed."""
        parts: list[dict[str, Any]] = []
        if spoken.thinking:
            parts.append({"text": spoken.thinking, "thought": True})
        if spoken.text:
            parts.append({"text": spoken.text})
        for place, (name, arguments) in enumerate(spoken.calls):
            made: dict[str, Any] = {"name": name, "args": dict(arguments)}
            if self._gives_ids:
                made["id"] = f"fc-{number}-{place}"
            part: dict[str, Any] = {"functionCall": made}
            if place == 0 and spoken.thinking:
                part[SIGNATURE] = sealed(self._row.slug, number)
            parts.append(part)
        return parts


def _item(part: Mapping[str, Any]) -> Item:
    seal = part.get(SIGNATURE)
    seal = None if seal == UNSIGNED else seal
    if "functionCall" not in part:
        return Item("thinking" if part.get("thought") else "text", part["text"], seal)
    made = part["functionCall"]
    # An id is part of the seal: it goes back as it came, or not at all.
    return call(made["name"], made["args"], f"{seal} {made['id']}" if "id" in made else seal)


def _text(response: Mapping[str, Any]) -> str:
    said = response["response"]
    return said["output"] if said.keys() == {"output"} else json.dumps(said)
