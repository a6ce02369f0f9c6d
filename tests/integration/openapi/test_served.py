"""What the running gateway says of itself, and to methods that a path does not take."""

from pathlib import Path

import pytest

from core.surfaces.surface import SURFACES
from tests.support.gateway import running_gateway
from tests.support.schemas import document
from tests.support.upstream import refusing

CHAT = [f"{surface.prefix}/chat/completions" for surface in SURFACES]
MODELS = [f"{surface.prefix}/models" for surface in SURFACES]


async def test_the_document_and_the_page_are_served_to_everybody(tmp_path: Path) -> None:
    with refusing() as nowhere:
        async with running_gateway(tmp_path, nowhere) as running, running.client(authorization="") as client:
            described = await client.get("/openapi.json")
            page = await client.get("/docs")
    assert described.headers["content-type"] == "application/json"
    assert described.json() == document()
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"].startswith("default-src 'none'; style-src 'sha256-")
    assert page.text.startswith("<!doctype html>")


async def test_the_document_names_the_headers_that_the_operator_chose(tmp_path: Path) -> None:
    variables = {"HEADRACE_HEADER_PREFIX": "X-Mine-"}
    with refusing() as nowhere:
        async with running_gateway(tmp_path, nowhere, variables=variables) as running, running.client() as client:
            described = await client.get("/openapi.json")
    assert "X-Mine-Request-Id" in described.text
    assert "Inferbase" not in described.text


@pytest.mark.parametrize("path", ["/redoc", "/docs/oauth2-redirect"])
async def test_nothing_else_describes_it(tmp_path: Path, path: str) -> None:
    with refusing() as nowhere:
        async with running_gateway(tmp_path, nowhere) as running, running.client() as client:
            response = await client.get(path)
    assert (response.status_code, response.json()["error"]["code"]) == (404, "endpoint_not_found")


async def test_the_root_leads_to_the_page_whatever_stands_before_it(tmp_path: Path) -> None:
    with refusing() as nowhere:
        async with running_gateway(tmp_path, nowhere) as running, running.client(authorization="") as client:
            root = await client.get("/")
    assert (root.status_code, root.headers["location"], root.content) == (307, "docs", b"")


GETS = [*MODELS, "/v1/models/lab/small", "/healthz", "/readyz", "/openapi.json", "/docs"]
ALLOWED = [*((path, "POST") for path in CHAT), *((path, "GET, HEAD") for path in GETS)]


async def test_head_answers_as_get_does_without_the_body(tmp_path: Path) -> None:
    with refusing() as nowhere:
        async with running_gateway(tmp_path, nowhere) as running, running.client() as client:
            for path in [*GETS, "/v1/routing-decisions", "/v1/routing-decisions/x", "/v1/models/lab/none", "/nowhere"]:
                got, headed = await client.get(path), await client.head(path)
                assert (headed.status_code, headed.content) == (got.status_code, b""), path
                assert headed.headers["content-length"] == str(len(got.content))
                assert headed.headers["content-type"] == got.headers["content-type"]
                assert headed.headers.keys() == got.headers.keys()
            refused = await client.head(CHAT[0])
    assert (refused.status_code, refused.headers["allow"], refused.content) == (405, "POST", b"")


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "PATCH", "DELETE", "TRACE"])
async def test_other_methods_are_told_which_there_are(tmp_path: Path, method: str) -> None:
    headers = {"origin": "https://elsewhere.example", "access-control-request-method": "POST"}
    with refusing() as nowhere:
        async with running_gateway(tmp_path, nowhere) as running, running.client(**headers) as client:
            answers = [(await client.request(method, path), allowed) for path, allowed in ALLOWED]
    for response, allowed in answers:
        assert response.status_code == 405
        assert response.headers["allow"] == allowed
        assert response.headers["x-should-retry"] == "false"
        assert response.headers["x-request-id"].startswith("req-")
        assert not [name for name in response.headers if name.startswith("access-control-")]
        assert response.json()["error"]["code"] == "method_not_allowed"
        assert allowed in response.json()["error"]["message"]


async def test_the_health_check_says_nothing_else(tmp_path: Path) -> None:
    with refusing() as nowhere:
        async with running_gateway(tmp_path, nowhere) as running, running.client(authorization="") as client:
            response = await client.get("/healthz")
    assert response.json() == {"status": "ok"}
    named = {"x-inferbase-request-id", "x-request-id"}
    assert set(response.headers) - {"date", "server"} == {"content-length", "content-type", *named}


@pytest.mark.parametrize("path", [*MODELS, *(f"{path}/lab/small" for path in MODELS)])
async def test_models_come_with_a_request_id_and_the_fields_that_they_take(tmp_path: Path, path: str) -> None:
    with refusing() as nowhere:
        async with running_gateway(tmp_path, nowhere) as running, running.client() as client:
            response = await client.get(path)
            again = await client.get(path)
    told = response.json()
    model = next(each for each in told["data"] if each["id"] == "lab/small") if "data" in told else told
    assert {"model", "messages", "tools", "temperature"} <= set(model["supported_parameters"])
    assert again.json() == told
    assert response.headers["x-request-id"] == response.headers["x-inferbase-request-id"]
    assert response.headers["x-request-id"] != again.headers["x-request-id"]
