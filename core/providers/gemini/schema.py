"""Cuts JSON Schemas down to the keywords that Gemini documents, at every depth.

Names of properties are never taken for keywords, and what a schema says in kept keywords is not changed: references go
on pointing at the same things, `const` is an `enum` of one, and `allOf` is folded into the schema around it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import unquote

from core.chat import Json

# "GenerationConfig.responseJsonSchema", Gemini API reference, and `Schema` of google-genai 3.6.1, read 2026-11-30.
_VALUES: Final = frozenset(
    {
        *("format", "title", "description", "nullable", "propertyOrdering", "minimum", "maximum", "pattern"),
        *("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"),
    }
)
_LISTS: Final = ("anyOf", "oneOf", "prefixItems")
_DEFINITIONS: Final = "#/$defs/"
_INDEX: Final = re.compile(r"[0-9]{1,9}")
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.-]")

# Following references and folding `allOf` must make a schema neither deeper than a body can be, nor much larger.
_DEEPEST: Final = 70
_GROWTH: Final = 8
_LEAST_ROOM: Final = 100


def parameters_schema(schema: Mapping[str, Json]) -> dict[str, Json] | None:
    """The schema of a tool's parameters; None for a tool that takes none."""
    cleaned = cleaned_schema({"type": "object", **schema})
    takes_any = cleaned.get("additionalProperties", False) is not False
    takes_none = cleaned.keys() <= {"type", "title", "description", "additionalProperties"} and not takes_any
    return None if takes_none else cleaned


def cleaned_schema(schema: Mapping[str, Json]) -> dict[str, Json]:
    """A schema with all that it refers to inside it, under `$defs`."""
    cleaner = _Cleaner(schema)
    cleaned = cleaner.schema(schema, 0)
    definitions = cleaner.definitions()
    return {**cleaned, "$defs": definitions} if definitions else cleaned


class _Cleaner:
    def __init__(self, root: Mapping[str, Json]) -> None:
        self._root = root
        self._room = _GROWTH * sum(1 for _ in _objects(root)) + _LEAST_ROOM
        self._names: dict[int, str] = {}  # by the identity of what is referred to
        self._used: Counter[str] = Counter()
        self._waiting: list[tuple[str, Mapping[str, Json]]] = []

    def schema(self, schema: Json, depth: int) -> dict[str, Json]:
        """One schema; `true`, and what there is no room for, is one that allows anything."""
        self._room -= 1
        if not isinstance(schema, Mapping) or depth > _DEEPEST or self._room < 0:
            return {}
        if isinstance(schema.get("allOf"), list):
            schema = self._folded(schema)
        cleaned = {name: value for name, value in schema.items() if name in _VALUES}
        cleaned |= _typed(schema)
        self._properties(schema, cleaned, depth + 1)
        self._items(schema, cleaned, depth + 1)
        reference = schema.get("$ref")
        return self._referring(reference, cleaned) if isinstance(reference, str) else cleaned

    def definitions(self) -> dict[str, Json]:
        """What was referred to, each once."""
        found: dict[str, Json] = {}
        while self._waiting:
            name, schema = self._waiting.pop()
            found[name] = self.schema(schema, 1)
        return found

    def _properties(self, schema: Mapping[str, Json], cleaned: dict[str, Json], depth: int) -> None:
        properties = schema.get("properties")
        if isinstance(properties, Mapping) and properties:
            cleaned["properties"] = {name: self.schema(member, depth) for name, member in properties.items()}
            required = schema.get("required")
            listed = required if isinstance(required, list) else []
            known = dict.fromkeys(name for name in listed if isinstance(name, str) and name in properties)
            if known:
                cleaned["required"] = list(known)
        others = schema.get("additionalProperties")
        if others is not None:
            cleaned["additionalProperties"] = others if isinstance(others, bool) else self.schema(others, depth)

    def _items(self, schema: Mapping[str, Json], cleaned: dict[str, Json], depth: int) -> None:
        items = schema.get("items")
        if isinstance(items, Mapping):
            cleaned["items"] = self.schema(items, depth)
        for name in _LISTS:
            # Before the draft of 2020, a list of `items` was what `prefixItems` is.
            members = items if name == "prefixItems" and isinstance(items, list) else schema.get(name)
            if isinstance(members, list) and members:
                cleaned[name] = [self.schema(member, depth) for member in members]

    def _referring(self, reference: str, cleaned: dict[str, Json]) -> dict[str, Json]:
        """A schema with a reference. Nothing may stand beside that, so that it stands inside the rest."""
        target = self._target(reference)
        if target is None:
            return cleaned  # another document, or nothing
        there: dict[str, Json] = {"$ref": _DEFINITIONS + self._name(reference, target)}
        if not cleaned:
            return there
        return cleaned if "anyOf" in cleaned else {**cleaned, "anyOf": [there]}

    def _name(self, reference: str, target: Mapping[str, Json]) -> str:
        """The name in `$defs` of what a reference means; it is cleaned when all else is."""
        known = self._names.get(id(target))
        if known is not None:
            return known
        plain = _NOT_IN_NAMES.sub("_", unquote(reference.rpartition("/")[2].lstrip("#"))) or "root"
        name = plain
        while self._used[name]:
            self._used[plain] += 1
            name = f"{plain}_{self._used[plain]}"
        self._used[name] = 1
        self._names[id(target)] = name
        self._waiting.append((name, target))
        return name

    def _target(self, reference: str) -> Mapping[str, Json] | None:
        """What a reference within the document means (RFC 6901)."""
        base, _, pointer = reference.partition("#")
        if base or (pointer and not pointer.startswith("/")):
            return None
        place: Json = self._root
        for step in pointer.split("/")[1:]:
            step = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(place, list) and _INDEX.fullmatch(step) and int(step) < len(place):
                place = place[int(step)]
            else:
                place = place.get(step) if isinstance(place, Mapping) else None
        return place if isinstance(place, Mapping) else None

    def _folded(self, schema: Mapping[str, Json]) -> Mapping[str, Json]:
        """A schema with the members of its `allOf` in it; what it says itself wins."""
        folded = {name: value for name, value in schema.items() if name != "allOf"}
        waiting = _members(schema)
        if len(waiting) == 1 and "$ref" not in folded and waiting[0].keys() == {"$ref"}:
            return {**folded, **waiting[0]}
        seen: set[int] = set()
        while waiting:
            member = waiting.pop()
            properties = member.get("properties")
            self._room -= 1 + (len(properties) if isinstance(properties, Mapping) else 0)
            if self._room < 0:
                break
            reference = member.get("$ref")
            target = self._target(reference) if isinstance(reference, str) else None
            if target is not None and id(target) not in seen:
                seen.add(id(target))
                waiting.append(target)
            waiting += _members(member)
            _fold(member, folded)
        return folded


def _objects(schema: Json) -> Iterator[Json]:
    waiting = [schema]
    while waiting:
        place = waiting.pop()
        if isinstance(place, Mapping):
            yield place
            waiting += place.values()
        elif isinstance(place, list):
            waiting += place


def _members(schema: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    """The members of `allOf`, the first one last."""
    members = schema.get("allOf")
    return [each for each in reversed(members) if isinstance(each, Mapping)] if isinstance(members, list) else []


def _fold(member: Mapping[str, Json], into: dict[str, Json]) -> None:
    for name, value in member.items():
        known = into.get(name)
        if name in ("allOf", "$ref"):
            continue
        if isinstance(known, Mapping) and isinstance(value, Mapping) and name == "properties":
            into[name] = {**value, **known}
        elif isinstance(known, list) and isinstance(value, list) and name == "required":
            into[name] = [*known, *value]
        elif known is None:
            into[name] = value


def _typed(schema: Mapping[str, Json]) -> dict[str, Json]:
    """`type` and `enum`, which holds text and numbers only: null is a type instead."""
    cleaned: dict[str, Json] = {}
    kind = schema.get("type")
    if isinstance(kind, str | list):
        cleaned["type"] = kind
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(values, list):
        return cleaned
    allowed = [value for value in values if isinstance(value, str | int | float) and not isinstance(value, bool)]
    if allowed:
        cleaned["enum"] = allowed
        if None in values and isinstance(kind, str):
            cleaned["type"] = [kind, "null"]
    return cleaned
