"""Reads the OpenAPI document for tests: validators of its components, and valid values of their every variant."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema_rs

from core.chat import Json
from functions.gateway.openapi.document import openapi_document

Schema = dict[str, Any]
PREFIX = "#/components/schemas/"

# Where any string will not do.
PATTERNED = {"http": "https://example.com/cat.png", "A-Za": "word"}


@cache
def document() -> Schema:
    """The document; nobody may change it."""
    return openapi_document("X-Inferbase-")


def component(name: str) -> Schema:
    """A schema of the document."""
    found: Schema = document()["components"]["schemas"][name]
    return found


@cache
def validator(name: str, *, closed: bool = False) -> jsonschema_rs.Draft202012Validator:
    """What tells whether a value is as a component says.

    Args:
        name: The component.
        closed: Whether members that are not described are wrong, wherever members are described.
    """
    components: Schema = document()["components"]
    return jsonschema_rs.Draft202012Validator(
        {"$ref": f"{PREFIX}{name}", "components": _closed(components) if closed else components}
    )


def faults(name: str, value: Json, *, closed: bool = False) -> list[str]:
    """What is wrong with a value, in words."""
    return [str(error) for error in validator(name, closed=closed).iter_errors(value)]


def resolved(shape: Schema) -> Schema:
    """The schema that a reference leads to."""
    while "$ref" in shape:
        shape = component(shape["$ref"].removeprefix(PREFIX))
    return shape


def samples(shape: Schema) -> Iterator[Json]:
    """Valid values of a schema; every member and every variant at every depth is in at least one of them."""
    shape = resolved(shape)
    if "const" in shape:
        yield shape["const"]
    elif "enum" in shape:
        yield from shape["enum"]
    elif "properties" in shape:
        yield from _objects(shape)
    elif "anyOf" in shape or "oneOf" in shape:
        for each in shape.get("anyOf") or shape["oneOf"]:
            yield from samples(each)
    else:
        yield from _simple(shape)


def least(shape: Schema) -> Json:
    """A valid value with nothing in it that need not be there."""
    return next(iter(samples(shape)))


def _objects(shape: Schema) -> Iterator[Json]:
    members = shape["properties"]
    base = {name: least(members[name]) for name in shape.get("required", ())}
    yield _mended(base, shape)
    for name, member in members.items():
        for value in samples(member):
            if value is not None:
                yield _mended({**base, name: value}, shape)


def _mended(value: Schema, shape: Schema) -> Json:
    """The object, with one of the members that it needs beside those that are always required."""
    for branch in shape.get("anyOf", ()):
        whole = {**{name: least(each) for name, each in branch.get("properties", {}).items()}, **value}
        if is_valid(whole, shape):
            return whole
    return value


def is_valid(value: Json, shape: Schema) -> bool:
    """Whether a value is as a part of the document says."""
    return jsonschema_rs.Draft202012Validator({**shape, "components": document()["components"]}).is_valid(value)


def _simple(shape: Schema) -> Iterator[Json]:
    types = shape.get("type", "string")
    for kind in [types] if isinstance(types, str) else types:
        match kind:
            case "string":
                pattern = shape.get("pattern", "")
                yield next(
                    (sample for mark, sample in PATTERNED.items() if mark in pattern.replace("[hH]", "http")), "word"
                )
            case "boolean":
                yield from (True, False)
            case "integer" | "number":
                yield min(1, shape.get("maximum", 1))
            case "array":
                yield [] if not shape.get("minItems") else [least(shape["items"])]
                for each in samples(shape["items"]):
                    yield [each]
            case "object":
                inner = shape.get("additionalProperties")
                yield {"key": least(inner)} if isinstance(inner, dict) else {}
            case _:
                yield None


def _closed(value: Any) -> Any:
    if isinstance(value, list):
        return [_closed(each) for each in value]
    if not isinstance(value, dict):
        return value
    made = {name: _closed(each) for name, each in value.items()}
    if value.get("type") == "object" and "properties" in value and "additionalProperties" not in value:
        made["additionalProperties"] = False
    return made
