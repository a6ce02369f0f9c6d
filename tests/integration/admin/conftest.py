"""A gateway with an operator, and clients for both sides."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from core.accounts.keys import ENTROPY_BYTES, digest
from core.accounts.operator import make_operator_key
from tests.support.answers import HELLO, text_answer
from tests.support.auto_catalog import THREE
from tests.support.gateway import Running, running_gateway
from tests.support.script import Received, Step
from tests.support.upstream import ScriptedUpstream

OPERATOR_KEY = make_operator_key(bytes(range(ENTROPY_BYTES)))
QUESTION: list[Any] = [{"role": "user", "content": "Write a Python function that reverses a string."}]


def by_wish(request: Received) -> Sequence[Step]:
    """JSON in a fence for those who want JSON."""
    wants_json = "response_format" in orjson.loads(request.body)
    return text_answer("```json\n{}\n```") if wants_json else HELLO


@dataclass(frozen=True, slots=True)
class Site:
    """A running gateway whose catalog has three models on one scripted upstream."""

    running: Running
    operator: httpx.AsyncClient
    upstream: ScriptedUpstream

    async def does(self, method: str, path: str, body: Any = None, *, status: int = 200) -> Any:
        """What the operator's call is answered with."""
        response = await self.operator.request(method, f"/admin/v1{path}", json=body)
        assert response.status_code == status, response.text
        return response.json()

    async def refused(self, method: str, path: str, body: Any = None, *, status: int = 400) -> Any:
        """The error that the operator's call is answered with."""
        answer = await self.does(method, path, body, status=status)
        assert set(answer) == {"error", "request_id"}
        return answer["error"]

    async def key(self, org: str = "acme", **members: Any) -> str:
        """A new key of an organisation that there is."""
        made = await self.does("POST", f"/organisations/{org}/keys", {"name": "tests", **members})
        token: str = made["key"]
        return token

    async def asks(
        self, token: str, path: str = "/api/v1/inference/chat/completions", **members: Any
    ) -> httpx.Response:
        """The answer to a caller's request."""
        body = {"model": "auto", "messages": QUESTION, **members}
        async with self.running.client(authorization=f"Bearer {token}") as client:
            return await client.post(path, json=body)


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    variables = {"HEADRACE_OPERATOR_KEY_SHA256": digest(OPERATOR_KEY)}
    async with (
        ScriptedUpstream(by_wish) as upstream,
        running_gateway(tmp_path, upstream.url, variables=variables, catalog=THREE) as running,
        running.client(authorization=f"Bearer {OPERATOR_KEY}") as operator,
    ):
        site = Site(running, operator, upstream)
        await site.does("POST", "/organisations", {"id": "acme"})
        yield site
