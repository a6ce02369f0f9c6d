"""Makes values of the parameter types of the `openai` package: every member, every variant, every path."""

import types
import typing
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NotRequired, Required

from openai.types.chat.completion_create_params import CompletionCreateParamsBase
from typing_extensions import is_typeddict

from core.chat import Json

# Where any string of the right type will not do.
STRINGS = {
    "image_url.url": "https://example.com/cat.png",
    "city": "Rome",
    "country": "IT",
}
NUMBERS = {"top_logprobs": 3, "n": 2, "seed": 7, "logit_bias": 5}

# Free-form in the types, not in what they mean.
OBJECTS: dict[str, dict[str, Json]] = {
    "tool_choice.allowed_tools.tools[]": {"type": "function", "function": {"name": "word"}},
    "messages[].content[].file": {"file_data": "JVBERi0="},
}


@dataclass(frozen=True, slots=True)
class Sample:
    """A valid value, and the pattern of the path whose variant it shows."""

    shows: str
    value: Json


def request_fields() -> dict[str, Any]:
    """The top-level fields that the package knows, with their types."""
    hints = typing.get_type_hints(CompletionCreateParamsBase, include_extras=True)
    return {**hints, "stream": bool | None}


def samples(kind: Any, path: str) -> list[Sample]:
    """Values of a type, such that every variant at every depth is in at least one of them; nulls too."""
    kind = _bare(kind)
    if is_typeddict(kind):
        return list(_of_members(kind, path))
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return [sample for each in arguments for sample in samples(each, path)]
    if origin is typing.Literal:
        return [Sample(f"{path}={value}", value) for value in arguments]
    if kind is type(None):
        return [Sample(f"{path}=null", None)]
    if path in OBJECTS and origin is dict:
        return [Sample(path, OBJECTS[path])]
    if origin is dict:
        value = samples(arguments[1], path)[0].value
        return [Sample(path, {"key": value})]
    if origin is list or _is_sequence(origin):
        return [Sample(each.shows, [each.value]) for each in samples(arguments[0], f"{path}[]")]
    return [Sample(path, _simple(kind, path))]


def paths(kind: Any, path: str) -> set[str]:
    """The patterns of a field and of everything inside it."""
    kind = _bare(kind)
    found = {path}
    if is_typeddict(kind):
        for name, member in _members(kind).items():
            found |= paths(member, f"{path}.{name}")
        return found
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        for each in arguments:
            found |= paths(each, path)
    elif origin is list or _is_sequence(origin):
        found |= paths(arguments[0], f"{path}[]")
    return found


def _of_members(kind: Any, path: str) -> Iterator[Sample]:
    hints = _members(kind)
    members = {name: samples(member, f"{path}.{name}") for name, member in hints.items()}
    least: dict[str, Json] = {**OBJECTS.get(path, {})}
    for name, hint in hints.items():
        if typing.get_origin(hint) is Required:
            least[name] = next((each.value for each in members[name] if each.value is not None), None)
    yield Sample(path, least)
    for name, values in members.items():
        for each in values:
            yield Sample(each.shows, {**least, name: each.value})


def _members(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind, include_extras=True)


def _bare(kind: Any) -> Any:
    while typing.get_origin(kind) in (Required, NotRequired, typing.Annotated):
        kind = typing.get_args(kind)[0]
    return kind


def _is_sequence(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, Iterable) and origin is not dict


def _simple(kind: Any, path: str) -> Json:
    tail = path.rpartition("content[].")[2]
    name = path.rpartition(".")[2].removesuffix("[]")
    if kind is str:
        return STRINGS.get(tail, STRINGS.get(name, "word"))
    if kind is bool:
        return True
    if kind in (int, float):
        return NUMBERS.get(name, 1)
    return {"type": "object"}
