"""The conversation that every checking vendor can hold: two calls at once, one more, an answer, and another.

It is told in no vendor's words; wires turn it into bytes, and read out of a request how much of it has come back.
"""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any


@dataclass(frozen=True, slots=True)
class Spoken:
    """One turn of the model: what it thinks, says and calls, each call with its arguments."""

    thinking: str = ""
    text: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()


SCRIPT: Sequence[Spoken] = (
    Spoken(
        "The weather, and where\u2028they are.",
        "I look both up.",
        (("weather", {"city": "Rōma", "days": 3}), ("here", {})),
    ),
    Spoken("Now the way.\n", "", (("route", {"from": "Oslo", "to": "Rōma"}),)),
    Spoken("That is all.", "Take the train. 🚆"),
    Spoken("Trains go both ways.", "There is one back, too."),
)

RESULTS: Mapping[str, str] = {"weather": '{"temp": 21.50, "sky": "clear"}', "here": "Oslo", "route": ""}
"""What the caller's tools return, by their names."""

TOOLS: Sequence[Any] = (
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "Tells the weather.",
            "parameters": {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": {
                    "city": {"type": "string", "minLength": 1, "default": "Rome", "examples": ["Oslo"]},
                    "days": {"type": ["integer", "null"], "exclusiveMinimum": 0},
                    "default": {"$ref": "#/$defs/Unit"},
                },
                "required": ["city"],
                "additionalProperties": False,
                "$defs": {"Unit": {"oneOf": [{"const": "C"}, {"const": "F"}]}},
            },
        },
    },
    {"type": "function", "function": {"name": "here"}},
    {
        "type": "function",
        "function": {
            "name": "route",
            "parameters": {
                "type": "object",
                "properties": {
                    "from": {"type": "string"},
                    "to": {"type": "string"},
                    "via": {"type": "array", "items": {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}}},
                },
                "required": ["from", "to"],
            },
        },
    },
)

FOLLOW_UP: Any = {"role": "user", "content": "And back again?"}
"""What the user says to an answer that calls no tool."""

OPENING: Sequence[Any] = (
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "name": "ann", "content": "Weather here and in Rōma, and how do I get there?"},
)


@dataclass(frozen=True, slots=True)
class Item:
    """Something in a turn, as its vendor has it: `thinking`, `text` or `call`; a call's `seal` stands apart."""

    kind: str
    said: Any
    seal: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """An assistant's turn in a history: its items in order, and each call's result by its place among the calls."""

    items: tuple[Item, ...]
    results: tuple[str, ...] = ()


def sealed(*names: object) -> str:
    """A seal that nobody else could have made; in base64 with all its characters, so that any damage shows."""
    return b64encode(sha256("/".join(map(str, names)).encode()).digest() + b"\xff\xfe\xfb").decode()


def call(name: str, arguments: Any, seal: str | None = None) -> Item:
    """A call, whatever its id."""
    return Item("call", {"name": name, "arguments": arguments}, seal)


def mismatches(returned: Sequence[Turn], made: Sequence[Turn], *, without_thinking: bool) -> Iterator[str]:
    """Where turns that came back are not as they were made, byte for byte and in order.

    Args:
        returned: The assistant's turns of a history.
        made: Those that the vendor made.
        without_thinking: Whether thinking and seals may be missing, all or none.
    """
    for number, (here, there) in enumerate(zip(returned, made, strict=False)):
        expected = there.items
        if not any(item.kind == "call" for item in expected):
            # Nobody asks for the thinking of a turn that ended in an answer.
            expected = tuple(item for item in expected if item.kind != "thinking")
        if without_thinking and not any(item.kind == "thinking" or item.seal for item in here.items):
            expected = tuple(Item(item.kind, item.said) for item in expected if item.kind != "thinking")
        if here.items != expected:
            yield f"turn {number} came back changed: {here.items}, not {expected}"
        names = [item.said["name"] for item in there.items if item.kind == "call"]
        for name, result in zip(names, here.results, strict=True):
            if not _is_same(result, RESULTS[name]):
                yield f"the result of {name} is {result!r}"


def _is_same(result: str, expected: str) -> bool:
    if expected.startswith("{"):
        return bool(json.loads(result) == json.loads(expected))
    return result == expected
