"""The schema of a request accepts what the gateway accepts, field by field: neither less nor more."""

import ast
import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import orjson
import pytest

import core.surfaces.openai_chat
from core.chat import Json
from core.errors import GatewayError
from core.surfaces.openai_chat import parse_chat
from core.surfaces.openai_chat.fields import FIELDS
from core.surfaces.surface import SURFACES, Surface
from tests.support.schemas import component, document, samples, validator

# Rules between values, for which JSON Schema has no words. (Nor has it any for 1.0, which the gateway takes for no
# integer.)
ELSEWHERE = re.compile(
    r"names no (function|custom) among the tools|is there twice|does not name an open call|has no result"
    r"|must ask for JSON in words"
)

WORD: Json = {"role": "user", "content": "word, as JSON"}
CALL: Json = {"id": "word", "type": "function", "function": {"name": "word", "arguments": "{}"}}
CALLER: Json = {"role": "assistant", "tool_calls": [CALL]}
RESULT: Json = {"role": "tool", "tool_call_id": "word", "content": "word"}
OLD_CALLER: Json = {"role": "assistant", "function_call": {"name": "word"}}
OLD_RESULT: Json = {"role": "function", "name": "word", "content": "word"}

# What a field needs beside it to be accepted.
BESIDE: list[dict[str, Json]] = [
    {},
    {"stream": True},
    {"logprobs": True},
    {"audio": {"format": "wav", "voice": "word"}},
    {"tools": [{"type": "function", "function": {"name": "word"}}]},
    {"tools": [{"type": "custom", "custom": {"name": "word"}}]},
    {"functions": [{"name": "word"}]},
]
BEFORE: list[list[Json]] = [[], [CALLER], [OLD_CALLER]]
AFTER: list[list[Json]] = [[], [RESULT], [OLD_RESULT]]

Place = tuple[str | int, ...]


def bodies(surface: Surface) -> Iterator[tuple[Json, Place]]:
    """Accepted bodies, and where in each the sample stands."""
    request = component(f"{surface.name}.ChatRequest")
    for name, shape in request["properties"].items():
        for value in samples(shape):
            if name == "messages":
                yield (
                    with_message(value[0], surface)
                    if value[0] != WORD
                    else ({"model": "m", "messages": value}, (name,))
                )
            else:
                yield with_field(name, value, surface)


def with_field(name: str, value: Json, surface: Surface) -> tuple[Json, Place]:
    for more in BESIDE:
        body = {"model": "m", "messages": [WORD], **more, name: value}
        if refusal(body, surface) is None:
            return body, (name,)
    raise AssertionError(f"{name}={value!r} is accepted nowhere")


def with_message(message: Json, surface: Surface) -> tuple[Json, Place]:
    for before in BEFORE:
        for after in AFTER:
            body = {"model": "m", "messages": [*before, message, *after]}
            if refusal(body, surface) is None:
                return body, ("messages", len(before))
    raise AssertionError(f"{message!r} is accepted nowhere: {refusal({'model': 'm', 'messages': [message]}, surface)}")


def refusal(body: Json, surface: Surface) -> str | None:
    try:
        parse_chat(json.dumps(body).encode(), surface)
    except GatewayError as error:
        return error.message
    return None


def places(value: Json, around: Place) -> Iterator[tuple[Place, Json]]:
    yield around, value
    if isinstance(value, dict):
        for name, member in value.items():
            yield from places(member, (*around, name))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from places(member, (*around, index))


def at(body: Json, place: Place) -> Json:
    for step in place:
        body = body[step]
    return body


def replaced(body: Json, place: Place, value: Json) -> Json:
    if not place:
        return value
    copy: Any = body.copy()
    copy[place[0]] = replaced(body[place[0]], place[1:], value)
    return copy


def written() -> set[str]:
    """Every word in the gateway's own tables: the names that it could know, and the values that it could take."""
    folder = Path(core.surfaces.openai_chat.__file__).parent
    trees = [ast.parse(path.read_text("utf-8")) for path in folder.glob("*.py")]
    texts = {node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return {each for each in texts if isinstance(each, str) and re.fullmatch(r"\w+", each)}


def described(value: Any) -> Iterator[str]:
    """Every name and every value that the document offers."""
    if isinstance(value, dict):
        yield from value.get("properties", {})
        yield from (each for each in value.get("enum", ()) if isinstance(each, str))
        for each in value.values():
            yield from described(each)
    elif isinstance(value, list):
        for each in value:
            yield from described(each)


WORDS = sorted(
    written().union(
        described([shape for name, shape in document()["components"]["schemas"].items() if name.startswith("plain.")])
    )
)
NUMBERS = (0, 1, -1, 2, 3, -2, -3, 0.5, -0.5, 20, 21, 100, 101, -100, -101, 128, 129, 86_400_000, 86_400_001)
EDGES = (2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1)
LENGTHS = tuple("a" * length for length in (64, 65, 128, 129, 256, 257, 512, 513))
TEXTS = ("", "a", "ä", "a b", "http://x", "HTTPS://x", "DaTa:,", "data:", "ftp://x", "xhttp://x", "auto")
LISTS: tuple[Json, ...] = ([], [None], [1], ["a"], ["a"] * 4, ["a"] * 5, [""], [{}], [[]], ["audio"])
OBJECTS: tuple[Json, ...] = (
    {},
    {"a": None},
    {"a": 1},
    {"a": 101},
    {"a": "b"},
    {"a": "b" * 513},
    {"a" * 65: "b"},
    {f"a{number}": "b" for number in range(17)},
    {"type": "text"},
    {"type": "text", "text": "a"},
    {"id": "a"},
    {"name": "word"},
)
PROBES: tuple[Json, ...] = (
    *(None, True, False),
    *NUMBERS,
    *EDGES,
    *LENGTHS,
    *TEXTS,
    *LISTS,
    *OBJECTS,
)


def probes(body: Json, place: Place, value: Json, surface: Surface) -> Iterator[Json]:
    """Other values for a place, and what is there with something added, taken away or said twice."""
    yield from PROBES
    if isinstance(value, dict):
        yield {**value, "surprise": 1}
        for name in WORDS:
            if name not in value:
                yield {**value, name: 1}
                if surface.strict_fields:  # elsewhere a null says nothing, whatever its name
                    yield {**value, name: None}
        for name in value:
            yield {other: member for other, member in value.items() if other != name}
    elif isinstance(value, list) and value:
        yield [*value, None]
    elif isinstance(value, str) and refusal(replaced(body, place, "zzz"), surface) is not None:
        yield from WORDS


def pattern(body: Json, place: Place) -> str:
    """The place without indexes, but with the kinds of object that it lies in."""
    shown = []
    for step in place:
        body = body[step]
        shown.append("[]" if isinstance(step, int) else step)
        if isinstance(body, dict):
            shown.append(f"<{body.get('role')},{body.get('type')}>")
    shown.append(type(body).__name__)
    return ".".join(map(str, shown))


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
def test_the_schema_accepts_what_the_gateway_accepts(surface: Surface) -> None:
    check = validator(f"{surface.name}.ChatRequest")
    seen: set[str] = set()
    wrong: list[str] = []
    for body, sample in bodies(surface):
        assert check.is_valid(body), body
        for place, value in places(at(body, sample), sample):
            if (key := pattern(body, place)) in seen:
                continue
            seen.add(key)
            wrong.extend(disagreements(body, place, value, surface))
    wrong.extend(disagreements({"model": "m", "messages": [WORD]}, (), {"model": "m", "messages": [WORD]}, surface))
    assert len(seen) > 200
    assert wrong == []


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
def test_the_schema_knows_which_fields_go_together(surface: Surface) -> None:
    request = component(f"{surface.name}.ChatRequest")
    wrong = [
        found
        for name, shape in request["properties"].items()
        for value in ([WORD], *samples(shape))
        for more in BESIDE
        if (found := disagreement({"model": "m", "messages": [WORD], name: value, **more}, surface))
    ]
    assert wrong == []


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
def test_the_schema_knows_what_an_assistant_message_needs(surface: Surface) -> None:
    contents: list[Json] = [None, "", [], "word"]
    functions: list[Json] = [None, {"name": "word"}]
    calls: list[Json] = [None, [], [CALL]]
    for content, function, made, refused in product(contents, functions, calls, (None, "")):
        message = {"role": "assistant", "content": content, "refusal": refused}
        message |= {"function_call": function, "tool_calls": made}
        results = [RESULT] if made else [OLD_RESULT] if function else []
        assert disagreement({"model": "m", "messages": [message, *results]}, surface) is None


def disagreements(body: Json, place: Place, value: Json, surface: Surface) -> Iterator[str]:
    for probe in probes(body, place, value, surface):
        if found := disagreement(replaced(body, place, probe), surface):
            yield f"{'.'.join(map(str, place))} = {probe!r}: {found}"


def disagreement(body: Json, surface: Surface) -> str | None:
    """What the gateway says of a body, where the schema says something else."""
    refused = refusal(body, surface)
    is_valid = validator(f"{surface.name}.ChatRequest").is_valid(body)
    if is_valid == (refused is None) or (refused and ELSEWHERE.search(refused)):
        return None
    return refused or f"accepted: {body!r}"


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
def test_every_field_stands_in_the_schema(surface: Surface) -> None:
    assert set(component(f"{surface.name}.ChatRequest")["properties"]) == set(FIELDS)


def test_the_surfaces_differ_in_what_is_unknown_alone() -> None:
    def opened(value: Any) -> Any:
        if isinstance(value, dict):
            # A null that belongs elsewhere need not be named where anything passes.
            told = {name: each for name, each in value.items() if each != {"type": "null"}}
            return {
                name: opened(each) for name, each in told.items() if (name, each) != ("additionalProperties", False)
            }
        if isinstance(value, list):
            return [opened(each) for each in value]
        return value.replace("routing.", "plain.") if isinstance(value, str) else value

    schemas = document()["components"]["schemas"]
    reached = set(reachable("routing.ChatRequest"))
    ours = {name for name in reached if name.startswith("routing.")}
    assert len(ours) > 20
    for name in ours:
        assert opened(schemas[name]) == opened(schemas[name.replace("routing.", "plain.")]), name


def reachable(name: str) -> Iterator[str]:
    """The component and all that it refers to."""
    waiting, found = [name], set()
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += re.findall(r'"#/components/schemas/([^"]+)"', orjson.dumps(component(each)).decode())
    yield from found
