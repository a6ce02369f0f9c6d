"""The OpenAPI document is a valid one, describes the endpoints that there are, and its examples are true."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import orjson
import pytest
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR
from starlette.routing import Route

from core.catalog.loader import load_catalog
from core.surfaces.openai_chat import parse_chat
from core.surfaces.surface import SURFACES, Surface
from functions.gateway.compose import Gateway
from functions.gateway.incoming import LARGEST_BODY
from functions.gateway.openapi.document import openapi_document
from functions.settings import read_settings
from tests.support.schemas import PREFIX, component, document, faults

# They describe the API and are no part of it.
DESCRIBING = {"/", "/openapi.json", "/docs"}


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


OPERATIONS = [pytest.param(operation, id=operation["operationId"]) for _, _, operation in operations()]


def test_it_is_a_valid_document() -> None:
    assert [str(error) for error in OPENAPI_31_VALIDATOR.iter_errors(document())] == []


@pytest.mark.parametrize("name", document()["components"]["schemas"])
def test_each_schema_is_a_valid_one(name: str) -> None:
    jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **component(name)})


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        yield from value.get("discriminator", {}).get("mapping", {}).values()
        for each in value.values():
            yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


def test_every_reference_leads_somewhere_and_nothing_is_left_over() -> None:
    components = document()["components"]
    there = {f"#/components/{kind}/{name}" for kind in ("schemas", "responses") for name in components[kind]}
    used = set(references(document()))
    assert used <= there
    # No operation answers 405: it is what every path says to other methods.
    assert there - used == {"#/components/responses/405"}


def test_it_describes_the_routes_that_there_are() -> None:
    app = Gateway(read_settings({}), {}).app.app
    routes = [route for route in app.routes if isinstance(route, Route) and route.path not in DESCRIBING]
    served = {(route.path.replace(":path}", "}"), method.lower()) for route in routes for method in route.methods or ()}
    described = {(path, method) for path, method, _ in operations()}
    # HEAD goes with GET, and is not described apart.
    assert served == described | {(path, "head") for path, method in described if method == "get"}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_says_what_it_is(operation: dict[str, Any]) -> None:
    assert operation["summary"]
    assert operation["description"].endswith(".")
    assert {tag["name"] for tag in document()["tags"]} >= set(operation["tags"])
    assert len(operation["tags"]) == 1
    assert "security" in operation


def test_operation_ids_are_unique() -> None:
    ids = [operation["operationId"] for _, _, operation in operations()]
    assert len(set(ids)) == len(ids)


def chat(surface: Surface) -> dict[str, Any]:
    operation: dict[str, Any] = document()["paths"][f"{surface.prefix}/chat/completions"]["post"]
    return operation


REQUESTS = [
    pytest.param(surface, example["value"], id=f"{surface.name}-{name}")
    for surface in SURFACES
    for name, example in chat(surface)["requestBody"]["content"]["application/json"]["examples"].items()
]


@pytest.mark.parametrize(("surface", "body"), REQUESTS)
def test_every_example_of_a_request_is_accepted(surface: Surface, body: dict[str, Any]) -> None:
    assert faults(f"{surface.name}.ChatRequest", body) == []
    assert parse_chat(orjson.dumps(body), surface).request.unknown == ()
    assert load_catalog().find(body["model"]) is not None


def examples() -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Every example of an answer, with its schema."""
    contents = [
        (f"{operation['operationId']} {status}", media, content)
        for _, _, operation in operations()
        for status, response in operation["responses"].items()
        for media, content in response.get("content", {}).items()
    ]
    for status, response in document()["components"]["responses"].items():
        contents += [(status, media, content) for media, content in response["content"].items()]
    for where, media, content in contents:
        shown = [each["value"] for each in content.get("examples", {}).values()]
        shown += [content["example"]] if "example" in content else []
        assert shown or media == "text/event-stream", where
        for number, value in enumerate(shown):
            yield f"{where} {number}", content["schema"], value
    for name, shape in document()["components"]["schemas"].items():
        for number, value in enumerate(shape.get("examples", ())):
            yield f"{name} {number}", {"$ref": f"{PREFIX}{name}"}, value


EXAMPLES = [pytest.param(shape, value, id=where) for where, shape, value in examples()]


@pytest.mark.parametrize(("shape", "value"), EXAMPLES)
def test_every_example_is_as_its_schema_says(shape: dict[str, Any], value: Any) -> None:
    whole = jsonschema_rs.Draft202012Validator({**shape, "components": document()["components"]})
    assert [str(error) for error in whole.iter_errors(value)] == []


def test_streams_have_examples_of_every_frame() -> None:
    for surface in SURFACES:
        event = component(f"{surface.name}.Event")
        shown = [each["data"] for each in event["examples"]]
        assert shown[-1] == "[DONE]"
        _, payload = event["properties"]["data"]["anyOf"]
        for kind, reference in payload["contentSchema"]["discriminator"]["mapping"].items():
            frames = component(reference.removeprefix(PREFIX))["examples"]
            assert {frame["object"] for frame in frames} == {kind}


def test_the_limit_of_a_body_is_the_one_in_force() -> None:
    assert f"{LARGEST_BODY // 2**20} MB" in chat(SURFACES[0])["requestBody"]["description"]
    assert f"{LARGEST_BODY // 2**20} MB" in document()["components"]["responses"]["413"]["description"]


def test_headers_have_the_names_that_are_set() -> None:
    text = orjson.dumps(openapi_document("X-Mine-")).decode()
    assert "X-Mine-Cost-Micros" in text
    assert "Inferbase" not in text


def test_a_cold_start_does_not_pay_for_it() -> None:
    code = (
        "import sys, functions.gateway.compose; "
        "print([name for name in sys.modules if name.startswith('functions.gateway.openapi')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
