"""Short ways to write JSON Schemas (draft 2020-12). They know no field of the API."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

Schema: TypeAlias = dict[str, Any]

LARGEST_COUNT: Final = 2**64 - 1
"""What the reader of bodies takes for a whole number at most; more it rounds."""


def ref(name: str, about: str = "") -> Schema:
    """What the component of that name says."""
    return _said({"$ref": f"#/components/schemas/{name}"}, about)


def text(about: str = "", *, least: int | None = None, most: int | None = None, pattern: str | None = None) -> Schema:
    """A string; lengths count characters."""
    limits = {"minLength": least, "maxLength": most, "pattern": pattern}
    return _said({"type": "string", **_given(limits)}, about)


def words(*values: str, about: str = "") -> Schema:
    """One of some strings."""
    return _said({"type": "string", "enum": list(values)}, about)


def whole(about: str = "", *, low: int | None = None, high: int | None = None) -> Schema:
    """A whole number."""
    return _said({"type": "integer", **_given({"minimum": low, "maximum": high})}, about)


def number(about: str = "", *, low: float | None = None, high: float | None = None) -> Schema:
    """A number."""
    return _said({"type": "number", **_given({"minimum": low, "maximum": high})}, about)


def flag(about: str = "") -> Schema:
    """True or false."""
    return _said({"type": "boolean"}, about)


def free(about: str = "") -> Schema:
    """An object with any members."""
    return _said({"type": "object"}, about)


def anything(about: str = "") -> Schema:
    """Any JSON value."""
    return _said({}, about)


def array(items: Schema, about: str = "", *, least: int | None = None, most: int | None = None) -> Schema:
    """An array of values of one shape."""
    limits = _given({"minItems": least, "maxItems": most})
    return _said({"type": "array", "items": items, **limits}, about)


def mapping(values: Schema, about: str = "", **limits: Any) -> Schema:
    """An object whose members have any names and values of one shape."""
    return _said({"type": "object", "additionalProperties": values, **limits}, about)


def either(*shapes: Schema, about: str = "") -> Schema:
    """A value of at least one of these shapes."""
    return _said({"anyOf": list(shapes)}, about)


def by_member(member: str, kinds: Mapping[str, str], about: str = "") -> Schema:
    """An object whose `member` tells which component describes it."""
    unique = dict.fromkeys(kinds.values())
    targets = {kind: f"#/components/schemas/{name}" for kind, name in kinds.items()}
    shape = {"oneOf": [ref(name) for name in unique], "discriminator": {"propertyName": member, "mapping": targets}}
    return _said(shape, about)


def record(members: Mapping[str, Schema], required: Sequence[str] = (), about: str = "", **more: Any) -> Schema:
    """An object with known members; those that are not required may be left out."""
    shape: Schema = {"type": "object", "properties": dict(members)}
    if required:
        shape["required"] = list(required)
    return _said({**shape, **more}, about)


def nullable(shape: Schema) -> Schema:
    """The shape, or null."""
    kind = shape.get("type")
    if kind == "null":
        return shape
    if isinstance(kind, str):
        made = {**shape, "type": [kind, "null"]}
        if "enum" in shape:
            made["enum"] = [*shape["enum"], None]
        return made
    inner = dict(shape)
    about = inner.pop("description", "")
    if not inner:
        return shape
    shapes = inner["anyOf"] if set(inner) == {"anyOf"} else [inner]
    return _said({"anyOf": [*shapes, {"type": "null"}]}, about)


def _given(limits: Mapping[str, Any]) -> Schema:
    return {name: limit for name, limit in limits.items() if limit is not None}


def _said(shape: Schema, about: str) -> Schema:
    return {**shape, "description": about} if about else shape
