"""Input schemas: what every model on Bedrock takes, and nothing less than what the caller allows."""

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.providers.bedrock import schemas
from core.providers.bedrock.schemas import tool_schema
from tests.support.examples import times

NOTHING = {"type": "object", "properties": {}}
TEXT = {"type": "string"}


@pytest.mark.parametrize(
    "parameters", [None, {}, NOTHING, {"type": ["object", "null"]}, {"title": "T", "$schema": "s", "description": "d"}]
)
def test_no_parameters(parameters: Any) -> None:
    assert tool_schema(parameters) == NOTHING


def test_a_plain_schema_stays_as_it_is() -> None:
    plain = {
        "type": "object",
        "properties": {"a": {"type": "string", "title": "A", "default": "x", "description": "d"}, "b": {"enum": [1]}},
        "required": ["a"],
    }
    assert tool_schema(plain) == plain


def test_properties_may_have_the_names_of_keywords() -> None:
    properties = {
        name: {"type": "object", "properties": {name: TEXT}}
        for name in ("$ref", "$schema", "$defs", "anyOf", "title", "properties", "required", "additionalProperties")
    }
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    assert tool_schema(schema) == schema


def test_data_is_not_a_schema() -> None:
    data = {"$ref": "#/$defs/A", "$schema": "s"}
    schema = {"properties": {"a": {"enum": [data], "const": data, "default": data, "examples": [data]}}}
    assert tool_schema(schema)["properties"] == schema["properties"]


def test_what_only_describes_the_document_is_left_out_at_any_depth() -> None:
    inner = {"$schema": "s", "$id": "i", "$comment": "c", "$defs": {}, "definitions": {}, "type": "string"}
    schema = {**inner, "type": "object", "properties": {"a": inner, "b": {"items": inner, "prefixItems": [inner]}}}
    assert tool_schema(schema) == {
        "type": "object",
        "properties": {"a": TEXT, "b": {"items": TEXT, "prefixItems": [TEXT]}},
    }


def test_closing_the_root_counts_only_where_it_is_enforced() -> None:
    closed = {**NOTHING, "additionalProperties": False}
    assert tool_schema(closed) == NOTHING
    assert tool_schema(closed, strict=True) == closed
    assert tool_schema({"additionalProperties": TEXT}) == {**NOTHING, "additionalProperties": TEXT}


def test_references_are_resolved() -> None:
    schema = {
        "properties": {
            "a": {"$ref": "#/$defs/A", "description": "here"},
            "b": {"anyOf": [{"$ref": "#/definitions/B~1~0"}, {"type": "null"}]},
        },
        "$defs": {"A": {"type": "array", "items": {"$ref": "#/definitions/B~1~0"}, "description": "there"}},
        "definitions": {"B/~": TEXT},
    }
    assert tool_schema(schema) == {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": TEXT, "description": "here"},
            "b": {"anyOf": [TEXT, {"type": "null"}]},
        },
    }


def test_a_root_that_is_a_reference() -> None:
    schema = {"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"a": TEXT}}}}
    assert tool_schema(schema) == {"type": "object", "properties": {"a": TEXT}}


def test_what_stands_beside_a_reference_holds_too() -> None:
    schema = {"properties": {"a": {"$ref": "#/$defs/A", "minLength": 2}}, "$defs": {"A": {**TEXT, "minLength": 1}}}
    assert tool_schema(schema)["properties"] == {"a": {"allOf": [{**TEXT, "minLength": 1}, {"minLength": 2}]}}


def test_what_refers_to_itself_keeps_its_definitions() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    schema = {"type": "object", "properties": {"first": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}
    made = tool_schema(schema)
    assert made["$defs"] == {"Node": node}
    assert made["properties"]["first"] == node


@pytest.mark.parametrize("reference", ["#", "https://a/b", "#/$defs/Missing", "#/properties/a/type", "#/anyOf/0"])
def test_references_that_lead_nowhere_stay(reference: str) -> None:
    schema = {"properties": {"a": TEXT, "b": {"$ref": reference}}}
    assert tool_schema(schema)["properties"] == schema["properties"]


def test_references_that_lead_too_far_stay() -> None:
    wide = {
        "$defs": {f"L{n}": {"properties": {side: {"$ref": f"#/$defs/L{n + 1}"} for side in "ab"}} for n in range(40)}
    }
    schema = {"properties": {"a": {"$ref": "#/$defs/L0"}}, **wide}
    assert tool_schema(schema) == {"type": "object", **schema}
    deep: dict[str, Any] = TEXT
    for _ in range(schemas.DEEPEST + 1):
        deep = {"items": deep}
    assert tool_schema({"properties": {"a": deep}})["properties"] == {"a": deep}


def test_choices_at_the_root_become_properties() -> None:
    circle = {"type": "object", "properties": {"kind": {"const": "circle"}, "r": TEXT}, "required": ["kind", "r"]}
    square = {"properties": {"kind": {"const": "square"}, "a": TEXT}, "required": ["kind", "a"]}
    dot = {"properties": {"kind": {"const": "dot"}}, "required": ["kind"]}
    schema = {"oneOf": [circle, square, dot, {"type": "null"}, True], "required": ["id"], "properties": {"id": TEXT}}
    assert tool_schema(schema) == {
        "type": "object",
        "properties": {
            "id": TEXT,
            "kind": {"anyOf": [{"const": "circle"}, {"const": "square"}, {"const": "dot"}]},
            "r": TEXT,
            "a": TEXT,
        },
        "required": ["id", "kind"],
    }


def test_choices_among_required_properties_require_none_of_them() -> None:
    schema = {"type": "object", "properties": {"a": TEXT}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert tool_schema(schema) == {"type": "object", "properties": {"a": TEXT}}


def test_what_must_all_hold_at_the_root_is_put_together() -> None:
    parts = [
        {"properties": {"a": TEXT}, "required": ["a"], "minProperties": 1},
        {"properties": {"a": {"minLength": 1}, "b": TEXT}, "required": ["b", "a"]},
        {"oneOf": [{"properties": {"c": TEXT}}]},
    ]
    assert tool_schema({"allOf": parts, "properties": {"a": {"maxLength": 9}}}) == {
        "type": "object",
        "properties": {"a": {"allOf": [{"maxLength": 9}, TEXT, {"minLength": 1}]}, "b": TEXT, "c": TEXT},
        "required": ["a", "b"],
        "minProperties": 1,
    }


def test_the_same_property_in_two_choices_is_one() -> None:
    schema = {"anyOf": [{"properties": {"a": TEXT}}, {"properties": {"a": TEXT}}]}
    assert tool_schema(schema)["properties"] == {"a": TEXT}
    twice = {"anyOf": [{"properties": {"a": {"const": n}}} for n in (1, 2, 2)]}
    assert tool_schema(twice)["properties"] == {"a": {"anyOf": [{"const": 1}, {"const": 2}]}}


@pytest.mark.parametrize("kind", ["array", "string", ["string"]])
def test_a_root_that_is_no_object_is_the_hosts_to_refuse(kind: Any) -> None:
    assert tool_schema({"type": kind})["type"] == kind


ODD: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["object", "#/$defs/A", "a"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "required", "anyOf", "allOf", "$ref", "$defs", "items", "A", "a"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["type", "properties", "required", "oneOf", "allOf", "$ref", "$defs"]), ODD))
def test_whatever_a_schema_holds_it_is_converted(schema: dict[str, Any]) -> None:
    made = tool_schema(schema)
    assert not {"anyOf", "oneOf", "allOf"} & set(made)
    assert {"type", "properties"} <= set(made)


KEYS = st.sampled_from(["a", "b", "c"])
LEAVES: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(TEXT, {"type": "integer"}, {"const": 1}, True, False),
        *({"$ref": "#/$defs/A"}, {"$ref": "#/$defs/Loop"}, {"$ref": "#/$defs/A", "type": "string"}),
    ]
)


def objects(inner: st.SearchStrategy[Any], **more: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    members: dict[str, st.SearchStrategy[Any]] = {
        "type": st.just("object"),
        "properties": st.dictionaries(KEYS, inner, max_size=3),
        "required": st.lists(KEYS, unique=True, max_size=2),
        **more,
    }
    return st.fixed_dictionaries({}, optional=members)


def choices(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    return {name: st.lists(inner, min_size=1, max_size=3) for name in ("anyOf", "oneOf")}


INNER = st.recursive(
    LEAVES, lambda inner: objects(inner, **choices(inner), allOf=st.lists(inner, min_size=1, max_size=2)), max_leaves=5
)
# A choice that is open allows what the others restrict: models are told of the others all the same.
CLOSED = objects(INNER).map(lambda schema: {**schema, "additionalProperties": False})
EXTRA = st.booleans() | INNER
PARTS = objects(INNER, **choices(CLOSED), additionalProperties=EXTRA)
SCHEMAS = objects(INNER, **choices(CLOSED), additionalProperties=EXTRA, allOf=st.lists(PARTS, min_size=1, max_size=2))
DEFINITIONS = {
    "A": {"type": ["string", "null"]},
    "Loop": {"type": "object", "properties": {"a": {"$ref": "#/$defs/Loop"}}},
}
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([1, "x", None, []]), lambda inner: st.dictionaries(KEYS, inner, max_size=2), max_leaves=4
)
INSTANCES = st.lists(st.dictionaries(KEYS, VALUES, max_size=3), min_size=1, max_size=6)


@given(SCHEMAS, INSTANCES, st.booleans())
@settings(max_examples=times(4))
def test_what_the_caller_allows_the_model_may_say(schema: dict[str, Any], said: list[Any], strict: bool) -> None:
    theirs = {**schema, "$defs": DEFINITIONS}
    ours = tool_schema(theirs, strict=strict)
    for instance in said:
        if jsonschema_rs.is_valid(theirs, instance):
            assert jsonschema_rs.is_valid(ours, instance), (instance, ours)


@given(objects(INNER, additionalProperties=EXTRA), INSTANCES)
@settings(max_examples=times(4))
def test_without_choices_at_the_root_it_allows_the_same(schema: dict[str, Any], said: list[Any]) -> None:
    theirs = {**schema, "$defs": DEFINITIONS}
    ours = tool_schema(theirs, strict=True)
    for instance in said:
        assert jsonschema_rs.is_valid(ours, instance) == jsonschema_rs.is_valid(theirs, instance), (instance, ours)
