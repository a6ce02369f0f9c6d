"""Who is the operator, who is not, and what each may call."""

from itertools import product
from pathlib import Path

import httpx

from core.accounts.keys import ENTROPY_BYTES
from core.accounts.operator import make_operator_key
from tests.integration.admin.conftest import OPERATOR_KEY, Site
from tests.support.gateway import running_gateway
from tests.support.upstream import refusing

PLACES = ["/organisations", "/plans", "/organisations/acme/keys", "/organisations/acme/policies", "/organisations/acme"]


async def answered(site: Site, path: str, token: str | None) -> httpx.Response:
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=site.running.url, headers=headers) as client:
        return await client.get(path)


async def test_only_the_operator_may_come_in(site: Site) -> None:
    other = make_operator_key(bytes(range(1, ENTROPY_BYTES + 1)))
    for path in PLACES:
        for token in (None, site.running.token, other, OPERATOR_KEY[:-1], OPERATOR_KEY.replace("hro_", "hr_"), "word"):
            answer = await answered(site, f"/admin/v1{path}", token)
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key"), token
            assert token is None or token not in answer.text
        assert (await answered(site, f"/admin/v1{path}", OPERATOR_KEY)).status_code == 200


async def test_the_operators_key_is_no_callers_key(site: Site) -> None:
    for path in ("/v1/models", "/v1/routing-decisions", "/api/v1/inference/models/lab/cheap"):
        answer = await answered(site, path, OPERATOR_KEY)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")
    assert (await site.asks(OPERATOR_KEY)).status_code == 401


async def test_the_key_may_come_in_the_other_header(site: Site) -> None:
    async with httpx.AsyncClient(base_url=site.running.url, headers={"x-api-key": OPERATOR_KEY}) as client:
        assert (await client.get("/admin/v1/plans")).status_code == 200


async def test_without_an_operator_there_is_nothing(tmp_path: Path) -> None:
    with refusing() as nowhere:
        async with running_gateway(tmp_path, nowhere) as running:
            for path, token in product(PLACES, (running.token, OPERATOR_KEY, "word")):
                async with running.client(authorization=f"Bearer {token}") as client:
                    answer = await client.get(f"/admin/v1{path}")
                assert (answer.status_code, answer.json()["error"]["code"]) == (404, "endpoint_not_found")


async def test_every_answer_has_its_request_id(site: Site) -> None:
    for path in ("/admin/v1/plans", "/admin/v1/plans/none"):
        answer = await site.operator.get(path)
        assert answer.headers["x-request-id"].startswith("req-")
        assert answer.headers["X-Inferbase-Request-Id"] == answer.headers["x-request-id"]
        assert answer.json().get("request_id", answer.headers["x-request-id"]) == answer.headers["x-request-id"]
