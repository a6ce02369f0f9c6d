"""Brings a tool's input schema into the form that every model on Bedrock takes, without changing what it allows inside.

Bedrock wants an object at the root; Claude refuses choices there, Nova everything but `type`, `properties` and
`required` (the services' own refusals, and Amazon Nova user guide, "Defining a tool", read 2026-11-30). Only keywords
are looked at: a property may have the name of any.
"""

from collections.abc import Mapping
from typing import Final

from core.chat import Json

MOST_NODES: Final = 5_000
DEEPEST: Final = 48
"""Bounds for references that are resolved; a schema beyond them keeps its references."""

_DEFINITIONS: Final = ("$defs", "definitions")

# They describe the document, not what it allows.
_ABOUT: Final = frozenset({"$schema", "$id", "$comment", *_DEFINITIONS})
_SAID: Final = frozenset({"title", "description", "default", "examples", "deprecated"})

_BY_NAME: Final = frozenset({"properties", "patternProperties", "dependentSchemas"})
_INSIDE: Final = frozenset(
    {
        *("items", "prefixItems", "contains", "additionalProperties", "unevaluatedProperties", "unevaluatedItems"),
        *("propertyNames", "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "additionalItems"),
    }
)
_CHOICES: Final = ("anyOf", "oneOf")
_ALL: Final = "allOf"
_OBJECT: Final = "object"


def tool_schema(parameters: Mapping[str, Json] | None, *, strict: bool = False) -> dict[str, Json]:
    """The schema to send.

    Args:
        parameters: The caller's, or None for a tool without any.
        strict: Whether the host is to enforce it; then `additionalProperties` at the root counts.
    """
    root = {name: value for name, value in _folded(_resolved(parameters or {})).items() if name not in _SAID}
    if isinstance(root.get("additionalProperties"), bool) and not strict:
        del root["additionalProperties"]
    kind = _OBJECT if _may_be_object(root) else root["type"]
    return {**root, "type": kind, "properties": root.get("properties", {})}


class _TooLarge(Exception):
    """The references lead too far to be resolved."""


class _Resolver:
    """Puts definitions where they are referred to. `kept` are references that must stay: those into themselves."""

    def __init__(self, root: Mapping[str, Json]) -> None:
        self._root = root
        self._nodes = 0
        self.kept: set[str] = set()

    def schema(self, node: Json, within: tuple[str, ...] = (), depth: int = 0) -> Json:
        if not isinstance(node, Mapping):
            return node
        self._nodes += 1
        if self._nodes > MOST_NODES or depth > DEEPEST:
            raise _TooLarge
        reference = node.get("$ref")
        if isinstance(reference, str):
            meant = None if reference in within else self._find(reference)
            if isinstance(meant, Mapping):
                beside = {name: value for name, value in node.items() if name != "$ref"}
                differs = any(name in meant and meant[name] != beside[name] for name in beside if name not in _SAID)
                both = {_ALL: [meant, beside]} if differs else {**meant, **beside}
                return self.schema(both, (*within, reference), depth)
            self.kept.add(reference)
        return {
            name: self._member(name, value, within, depth + 1) for name, value in node.items() if name not in _ABOUT
        }

    def _member(self, name: str, value: Json, within: tuple[str, ...], depth: int) -> Json:
        if name in _BY_NAME and isinstance(value, Mapping):
            return {each: self.schema(inner, within, depth) for each, inner in value.items()}
        if name not in _INSIDE:
            return value
        if isinstance(value, list):
            return [self.schema(inner, within, depth) for inner in value]
        return self.schema(value, within, depth)

    def _find(self, reference: str) -> Json:
        """What a local pointer leads to; None for any other."""
        found: Json = self._root if reference.startswith("#/") else None
        for step in reference[2:].split("/"):
            name = step.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, Mapping) else None
        return found


def _resolved(schema: Mapping[str, Json]) -> dict[str, Json]:
    resolver = _Resolver(schema)
    try:
        resolved: dict[str, Json] = resolver.schema(schema)
    except _TooLarge:
        return dict(schema)
    if not resolver.kept:
        return resolved
    # What refers to itself needs its definitions.
    return {**resolved, **{name: schema[name] for name in _DEFINITIONS if name in schema}}


def _folded(schema: Mapping[str, Json]) -> dict[str, Json]:
    """The schema without choices at its root: it has the properties of all of them, and requires what they all do."""
    folded = {name: value for name, value in schema.items() if name not in (_ALL, *_CHOICES)}
    for part in _schemas(schema, _ALL):
        folded = {**part, **folded, **_joined(folded, part, _ALL, _names(folded) + _names(part))}
    for name in _CHOICES:
        choices = [choice for choice in _schemas(schema, name) if _may_be_object(choice)]
        shared = [each for each in _names(choices[0] if choices else {}) if all(each in _names(c) for c in choices)]
        required = _names(folded) + shared
        for choice in choices:
            folded.update(_joined(folded, choice, "anyOf", required))
    return folded


def _schemas(schema: Mapping[str, Json], name: str) -> list[dict[str, Json]]:
    inner = schema.get(name)
    return [_folded(each) for each in inner if isinstance(each, Mapping)] if isinstance(inner, list) else []


def _may_be_object(schema: Mapping[str, Json]) -> bool:
    kind = schema.get("type", _OBJECT)
    return kind == _OBJECT or (isinstance(kind, list) and _OBJECT in kind)


def _names(schema: Mapping[str, Json]) -> list[str]:
    required = schema.get("required")
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []


def _properties(schema: Mapping[str, Json]) -> dict[str, Json]:
    properties = schema.get("properties")
    return dict(properties) if isinstance(properties, Mapping) else {}


def _joined(schema: Mapping[str, Json], other: Mapping[str, Json], how: str, required: list[str]) -> dict[str, Json]:
    """`properties` and `required` of both; a property that both have must satisfy them as `how` says."""
    members: dict[str, Json] = {}
    properties = _properties(schema)
    for name, value in _properties(other).items():
        properties[name] = _together(properties[name], value, how) if name in properties else value
    if properties:
        members["properties"] = properties
    if required:
        members["required"] = list(dict.fromkeys(required))
    return members


def _together(one: Json, other: Json, how: str) -> Json:
    if one == other:
        return one
    options = one[how] if isinstance(one, Mapping) and set(one) == {how} else [one]
    return {how: options if other in options else [*options, other]}
