"""A fault of our own in the middle of an attempt: told to operators with its stack, to callers in the envelope."""

from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from core.ports import Store
from functions.gateway.compose import Gateway
from functions.local.keys import create_key
from functions.settings import read_settings
from tests.support.answers import chunk, usage_chunk
from tests.support.gateway import CATALOG, Noted, running_gateway
from tests.support.script import stream
from tests.support.upstream import ScriptedUpstream

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


class Forgetful:
    """A store with a fault of ours in it: it cannot keep tool turns."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def remember(self, *_: object) -> None:
        raise ZeroDivisionError("inner words")


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "one"}], ids=["plain", "idempotent"])
@pytest.mark.parametrize("is_stream", [True, False])
async def test_after_an_answer_it_is_nobody_who_left(tmp_path: Path, is_stream: bool, headers: dict[str, str]) -> None:
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    answer = stream(chunk({"tool_calls": [call]}), chunk({}, "tool_calls"), usage_chunk())
    async with (
        ScriptedUpstream(answer) as upstream,
        running_gateway(tmp_path, upstream.url, replace_store=lambda store: cast(Store, Forgetful(store))) as running,
        running.client() as client,
    ):
        response = await client.post("/v1/chat/completions", json=ASKED | {"stream": is_stream}, headers=headers)
        await running.gateway.after_response()
        (record,) = await running.store.records("default", 2)
    assert b'"code":"internal_error"' in response.content
    assert b"inner words" not in response.content
    assert (record.outcome, record.error_code) == ("failed", "internal_error")
    assert [row.outcome for row in record.attempts] == ["served"]
    assert record.charge is not None
    assert record.charge.total == 1_053
    if is_stream:
        assert b'"cost_micros":1053' in response.content
    else:
        assert response.headers["x-inferbase-cost-micros"] == "1053"
