"""A fault of our own in the middle of an attempt: told to operators with its stack, to callers in the envelope."""

from pathlib import Path

import httpx

from functions.gateway.compose import Gateway
from functions.local.keys import create_key
from functions.settings import read_settings
from tests.support.gateway import CATALOG, Noted

ASKED = {"model": "lab/small", "messages": [{"role": "user", "content": "Hello"}]}


async def test_it_is_logged_with_its_stack_and_told_without(tmp_path: Path) -> None:
    variables = {"HEADRACE_SQLITE_PATH": str(tmp_path / "headrace.db")}
    noted = Noted()

    def broken(request: httpx.Request) -> httpx.Response:
        raise ZeroDivisionError("inner words")

    gateway = Gateway(
        read_settings(variables),
        variables,
        transport=lambda: httpx.MockTransport(broken),
        own_catalog=(("test.toml", CATALOG.format(upstream="http://127.0.0.1:9")),),
        journal=noted,
    )
    await gateway.connect()
    token, _ = await create_key(gateway.service.parts.store, "default", "tests")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(gateway.app), base_url="http://gateway") as client:
        answer = await client.post("/v1/chat/completions", json=ASKED, headers={"authorization": f"Bearer {token}"})
    (record,) = await gateway.service.parts.store.records("default", 2)
    await gateway.close()
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal_error")
    assert "inner words" not in answer.text
    (request_id, fault), *_ = noted.faults
    assert request_id == answer.headers["x-request-id"] == record.request_id
    assert isinstance(fault.__cause__, ZeroDivisionError)
    assert record.charge is not None
    assert record.charge.total == 0
