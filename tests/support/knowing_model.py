"""A scripted upstream's script for clients: it answers as a model would that always says what is known beforehand.

- It calls each tool once after a user's message, in the order of the list: a tool that takes a `city` once for each
  city that the message names. What it puts into arguments and JSON documents stands in `FACTS`, by the member's name.
- When every tool was called, it repeats what they returned.
- A message that says "break off" is answered by half an answer, one that says "think" by reasoning first.
- A prompt that says "JSON", in a request that says it nowhere else, is answered by a document in a code fence.
- Everything else it answers with `GREETING`.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.support.answers import chunk, usage_chunk
from tests.support.script import Received, Reset, Step, stream

GREETING: Final = "Hello there!"
REASONING: Final = "They greet me."
CITIES: Final = ("Paris", "Rome", "Oslo")
FACTS: Final[Mapping[str, Any]] = {"name": "Ada", "age": 36, "city": "Paris", "email": "ada@example.com"}
_OF_TYPE: Final[Mapping[str, Any]] = {"string": "word", "integer": 7, "number": 1.5, "boolean": True, "null": None}

Deltas = Iterator[dict[str, Any]]


def know(request: Received) -> list[Step]:
    """The script of one answer; as a stream, which is what the gateway asks for."""
    body = request.json
    turn = _since_user(body["messages"])
    question = _text(turn[0])
    if "break off" in question:
        return [*stream(chunk({"role": "assistant", "content": "Hel"}), done=False), Reset()]
    if calls := list(_calls(body, turn, question)):
        deltas, finish = _call_deltas(calls), "tool_calls"
    else:
        deltas, finish = _text_deltas(body, turn, question), "stop"
    choices = range(body.get("n") or 1)
    chunks = [_of_choice(chunk(delta), each) for delta in deltas for each in choices]
    ends = [_of_choice(chunk({}, finish), each) for each in choices]
    return stream(*chunks, *ends, usage_chunk())


def filled(schema: Mapping[str, Any], name: str = "", *, root: Mapping[str, Any] | None = None) -> Any:
    """A document that a JSON Schema allows, of what is known."""
    root = schema if root is None else root
    match schema:
        case {"$ref": str(path)}:
            return filled(root["$defs"][path.rpartition("/")[2]], name, root=root)
        case {"anyOf": [first, *_]} | {"allOf": [first, *_]} | {"enum": [first, *_]} | {"const": first}:
            return filled(first, name, root=root) if isinstance(first, dict) else first
        case {"properties": dict(properties)}:
            return {each: filled(inner, each, root=root) for each, inner in properties.items()}
        case {"items": dict(inner)}:
            return [filled(inner, name, root=root)]
        case _:
            return FACTS.get(name, _OF_TYPE.get(schema.get("type", "object"), {}))


def _since_user(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    last = max(place for place, message in enumerate(messages) if message["role"] == "user")
    return messages[last:]


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _calls(body: Mapping[str, Any], turn: list[dict[str, Any]], question: str) -> Iterator[tuple[str, str]]:
    """Name and arguments of what is called now."""
    if body.get("tool_choice") == "none":
        return
    called = {call["function"]["name"] for message in turn for call in message.get("tool_calls") or ()}
    left = [tool["function"] for tool in body.get("tools") or () if tool["function"]["name"] not in called]
    for tool in left[:1]:
        schema = tool.get("parameters") or {}
        arguments = filled(schema)
        named = [{"city": city} for city in sorted(CITIES, key=question.find) if city in question]
        for known in named if named and "city" in arguments else [{}]:
            yield tool["name"], json.dumps({**arguments, **known})


def _call_deltas(calls: list[tuple[str, str]]) -> Deltas:
    yield {"role": "assistant", "content": None}
    for index, (name, arguments) in enumerate(calls):
        function = {"name": name, "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": f"up-{index}", "type": "function", "function": function}]}
        for piece in _pieces(arguments):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _text_deltas(body: Mapping[str, Any], turn: list[dict[str, Any]], question: str) -> Deltas:
    yield {"role": "assistant", "content": ""}
    if "think" in question:
        for piece in _pieces(REASONING):
            yield {"reasoning_content": piece}
    for piece in _pieces(_answer(body, turn)):
        yield {"content": piece}


def _answer(body: Mapping[str, Any], turn: list[dict[str, Any]]) -> str:
    asked = body.get("response_format") or {}
    if asked.get("type") == "json_schema":
        return json.dumps(filled(asked["json_schema"]["schema"]))
    if asked.get("type") == "json_object":
        return json.dumps(FACTS)
    results = [_text(message) for message in turn if message["role"] == "tool"]
    if results:
        return f"I heard: {', '.join(results)}."
    asks_for_json = any("JSON" in _text(message) for message in body["messages"])
    return f"```json\n{json.dumps(FACTS)}\n```" if asks_for_json else GREETING


def _pieces(text: str) -> list[str]:
    return [text[start : start + 4] for start in range(0, len(text), 4)]


def _of_choice(whole: dict[str, Any], index: int) -> dict[str, Any]:
    return {**whole, "choices": [{**whole["choices"][0], "index": index}]}
