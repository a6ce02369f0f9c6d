"""Schemas cut down to what Gemini documents, with what they mean intact."""

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.providers.gemini.schema import cleaned_schema, parameters_schema
from tests.support.examples import times
from tests.support.vendors.gemini_checks import KEYWORDS


def test_undocumented_keywords_go_at_every_depth() -> None:
    assert cleaned_schema(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "propertyNames": {"pattern": "^a"},
            "properties": {
                "a": {
                    "type": "array",
                    "items": {"type": "string", "default": "x", "minLength": 1},
                    "uniqueItems": True,
                },
                "b": {"anyOf": [{"type": "integer", "exclusiveMinimum": 0, "minimum": 1}, {"type": "null"}]},
            },
            "additionalProperties": {"type": "string", "examples": ["x"]},
            "x-ui": {"order": 1},
        }
    ) == {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {"type": "string", "minLength": 1}},
            "b": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
        },
        "additionalProperties": {"type": "string"},
    }


def test_names_of_properties_are_not_keywords() -> None:
    names = ["default", "$schema", "$ref", "allOf", "const", "additionalProperties", "properties", "required", "type"]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": names}
    assert cleaned_schema(schema) == schema


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "object", "properties": {}},
        {"properties": {}, "additionalProperties": False, "description": "Nothing.", "required": ["a"]},
        {"$schema": "s"},
    ],
)
def test_a_tool_without_parameters_has_no_schema(schema: dict[str, Any]) -> None:
    assert parameters_schema(schema) is None


def test_parameters_are_an_object() -> None:
    assert parameters_schema({"properties": {"a": {}}}) == {"type": "object", "properties": {"a": {}}}
    free = {"type": "object", "additionalProperties": True}
    assert parameters_schema(free) == free
    assert parameters_schema({"additionalProperties": {}}) == {"type": "object", "additionalProperties": {}}
    assert parameters_schema({"anyOf": [{"type": "object"}]}) == {"type": "object", "anyOf": [{"type": "object"}]}


@pytest.mark.parametrize(
    ("schema", "cleaned"),
    [
        ({"const": "a"}, {"enum": ["a"]}),
        ({"const": 1, "type": "integer"}, {"type": "integer", "enum": [1]}),
        ({"const": True, "type": "boolean"}, {"type": "boolean"}),
        ({"const": None}, {}),
        ({"enum": ["a", None], "type": "string"}, {"type": ["string", "null"], "enum": ["a"]}),
        ({"enum": ["a", None], "type": ["string", "null"]}, {"type": ["string", "null"], "enum": ["a"]}),
        ({"enum": [None, False]}, {}),
        ({"enum": "a"}, {}),
        ({"type": 3}, {}),
    ],
)
def test_values(schema: dict[str, Any], cleaned: dict[str, Any]) -> None:
    assert cleaned_schema(schema) == cleaned


@pytest.mark.parametrize(
    ("schema", "cleaned"),
    [
        ({"items": [{"type": "string"}, True]}, {"prefixItems": [{"type": "string"}, {}]}),
        ({"prefixItems": [{"type": "string"}], "items": False}, {"prefixItems": [{"type": "string"}]}),
        ({"oneOf": [], "anyOf": "x", "properties": 3, "required": {}}, {}),
        ({"properties": {"a": True, "b": 3}, "required": "a"}, {"properties": {"a": {}, "b": {}}}),
        ({"properties": {"a": {}}, "required": ["b", 1, [], "a", "a"]}, {"properties": {"a": {}}, "required": ["a"]}),
        ({"not": {"type": "string"}, "if": {}, "then": {}, "else": {}}, {}),
    ],
)
def test_odd_forms(schema: dict[str, Any], cleaned: dict[str, Any]) -> None:
    assert cleaned_schema(schema) == cleaned


def test_references_go_on_pointing_at_the_same_thing() -> None:
    assert cleaned_schema(
        {
            "properties": {
                "a": {"$ref": "#/definitions/A%20b"},
                "b": {"$ref": "#/properties/a~1c/items/anyOf/1"},
                "a/c": {"items": {"anyOf": [{"type": "null"}, {"type": "string", "default": "x"}]}},
                "me": {"$ref": "#"},
                "again": {"$ref": "#/definitions/A b"},
                "described": {"$ref": "#/definitions/A b", "description": "Text.", "default": {}},
                "either": {"$ref": "#/definitions/A b", "anyOf": [{"type": "null"}]},
            },
            "definitions": {"A b": {"type": "integer", "$comment": "c"}, "unused": {}},
        }
    ) == {
        "properties": {
            "a": {"$ref": "#/$defs/A_b"},
            "b": {"$ref": "#/$defs/1"},
            "a/c": {"items": {"anyOf": [{"type": "null"}, {"type": "string"}]}},
            "me": {"$ref": "#/$defs/root"},
            "again": {"$ref": "#/$defs/A_b"},
            "described": {"description": "Text.", "anyOf": [{"$ref": "#/$defs/A_b"}]},
            "either": {"anyOf": [{"type": "null"}]},
        },
        "$defs": {
            "A_b": {"type": "integer"},
            "1": {"type": "string"},
            "root": {
                "properties": {
                    "a": {"$ref": "#/$defs/A_b"},
                    "b": {"$ref": "#/$defs/1"},
                    "a/c": {"items": {"anyOf": [{"type": "null"}, {"type": "string"}]}},
                    "me": {"$ref": "#/$defs/root"},
                    "again": {"$ref": "#/$defs/A_b"},
                    "described": {"description": "Text.", "anyOf": [{"$ref": "#/$defs/A_b"}]},
                    "either": {"anyOf": [{"type": "null"}]},
                }
            },
        },
    }


@pytest.mark.parametrize(
    "reference",
    ["https://a.example/s#/x", "#anchor", "#/$defs/none", "#/$defs/a/type", "#/list/9", "#/list/x", "other.json"],
)
def test_a_reference_to_nothing_allows_anything(reference: str) -> None:
    schema = {"$defs": {"a": {"type": "string"}}, "list": [{}], "properties": {"a": {"$ref": reference, "title": "t"}}}
    assert cleaned_schema(schema) == {"properties": {"a": {"title": "t"}}}
    assert cleaned_schema({"$ref": 3}) == {}


def test_names_of_definitions_stay_apart() -> None:
    schema = {
        "properties": {"x": {"$ref": "#/$defs/a b"}, "y": {"$ref": "#/$defs/a_b"}, "z": {"$ref": "#/more/a_b"}},
        "$defs": {"a b": {"type": "string"}, "a_b": {"type": "integer"}},
        "more": {"a_b": {"type": "number"}},
    }
    cleaned = cleaned_schema(schema)
    kinds = {
        name: cleaned["$defs"][member["$ref"].removeprefix("#/$defs/")]["type"]
        for name, member in cleaned["properties"].items()
    }
    assert kinds == {"x": "string", "y": "integer", "z": "number"}


def test_all_of_is_folded_into_the_schema_around_it() -> None:
    base = {"type": "object", "description": "Base.", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    assert cleaned_schema(
        {
            "allOf": [{"$ref": "#/$defs/Base"}, {"properties": {"n": {"const": 1}}, "required": ["n"]}, 3],
            "properties": {"id": {"type": "integer"}},
            "description": "Own.",
            "$defs": {"Base": base},
        }
    ) == {
        "type": "object",
        "description": "Own.",
        "properties": {"id": {"type": "integer"}, "n": {"enum": [1]}},
        "required": ["id", "n"],
    }


def test_all_of_one_reference_stays_a_reference() -> None:
    schema = {"properties": {"a": {"allOf": [{"$ref": "#/$defs/A"}], "title": "t"}}, "$defs": {"A": {"type": "string"}}}
    assert cleaned_schema(schema) == {
        "properties": {"a": {"title": "t", "anyOf": [{"$ref": "#/$defs/A"}]}},
        "$defs": {"A": {"type": "string"}},
    }


def test_all_of_within_all_of_and_round_in_circles() -> None:
    schema = {
        "allOf": [{"allOf": [{"title": "t", "allOf": "x"}]}, {"$ref": "#/$defs/A"}],
        "$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}, {"type": "object", "required": ["a"], "properties": 3}]}},
    }
    assert cleaned_schema(schema) == {"title": "t", "type": "object"}


def test_growth_is_bounded() -> None:
    doubling: dict[str, Any] = {"end": {"properties": {"a": {"type": "string"}}}}
    for level in range(40):
        below = {"$ref": f"#/$defs/{level - 1}" if level else "#/$defs/end"}
        doubling[str(level)] = {"properties": {name: {"allOf": [below, {}]} for name in "xy"}}
    cleaned = cleaned_schema({"allOf": [{"$ref": "#/$defs/39"}, {}], "$defs": doubling})
    assert len(orjson.dumps(cleaned)) < 100_000


def test_growth_by_wide_members_is_bounded() -> None:
    wide = {str(each): {"title": str(each), "properties": {str(n): {} for n in range(50)}} for each in range(40)}
    all_of = [{"$ref": f"#/$defs/{each}"} for each in range(40)]
    schema = {"properties": {str(place): {"allOf": all_of} for place in range(40)}, "$defs": wide}
    assert len(orjson.dumps(cleaned_schema(schema))) < 1_000_000


def test_depth_is_bounded() -> None:
    deep: dict[str, Any] = {}
    for _ in range(120):
        deep = {"items": deep}
    orjson.dumps({"a": [{"b": [{"c": cleaned_schema(deep)}]}]})


ODD: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.sampled_from(["", "a", "string", "#", "#/$defs/a", "#/x/0"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("$ref", "$defs", "properties", "items", "allOf", "anyOf", "oneOf", "prefixItems", "type", "enum"),
                    *("const", "required", "additionalProperties", "default", "title", "a", "$schema", "x"),
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["$ref", "$defs", "properties", "allOf", "anyOf", "items", "x"]), ODD))
@settings(max_examples=times(4))
def test_anything_becomes_a_documented_schema_and_stays_one(schema: dict[str, Any]) -> None:
    cleaned = cleaned_schema(schema)
    check(cleaned, cleaned.get("$defs", {}))
    orjson.dumps(cleaned)


def check(schema: dict[str, Any], definitions: dict[str, Any]) -> None:
    assert schema.keys() <= KEYWORDS
    if "$ref" in schema:
        assert schema.keys() - {"$defs"} == {"$ref"}
        assert schema["$ref"].removeprefix("#/$defs/") in definitions
    assert set(schema.get("required", [])) <= schema.get("properties", {}).keys()
    members = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
    for name in ("anyOf", "oneOf", "prefixItems"):
        members += schema.get(name, [])
    for name in ("items", "additionalProperties"):
        members += [schema[name]] if isinstance(schema.get(name), dict) else []
    for member in members:
        check(member, definitions)
