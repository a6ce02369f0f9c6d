"""Every answer names its request, by both headers and in the body of an error: whoever asks, for whatever, and how."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.accounts.keys import digest
from functions.gateway.compose import Gateway
from functions.gateway.openapi.document import openapi_document
from functions.local.keys import create_key
from functions.settings import read_settings
from tests.support.answers import HELLO, chunk
from tests.support.away import AwayStore
from tests.support.examples import times
from tests.support.frames import frames_of
from tests.support.gateway import CATALOG, Noted, running_gateway
from tests.support.script import Received, Step, stream
from tests.support.upstream import ScriptedUpstream

PREFIX = "X-Shop-"
ID = re.compile(r"req-[0-9a-f]{32}")
OPERATOR = "hr_op_" + "a" * 40
URL = "/v1/chat/completions"
ASKED = {"model": "lab/small", "messages": [{"role": "user", "content": "Hello?"}]}

Ask: TypeAlias = Callable[..., httpx.Response]


def operations() -> list[tuple[str, str]]:
    """Method and path of everything that the document describes, and of what stands beside it."""
    described = openapi_document(PREFIX)["paths"]
    found = [
        (method.upper(), re.sub(r"\{[^}]*\}", "word", path))
        for path, operation in described.items()
        for method in operation
        if method != "parameters"
    ]
    assert len(found) > 40
    return [*found, ("GET", "/docs"), ("GET", "/openapi.json"), ("GET", "/v1/none"), ("GET", "/"), ("PATCH", URL)]


def named(response: httpx.Response, prefix: str = PREFIX) -> str:
    """The request's id, after a look at all the places where it stands."""
    (request_id,) = response.headers.get_list("x-request-id")
    assert response.headers.get_list(f"{prefix}request-id") == [request_id]
    assert ID.fullmatch(request_id)
    if response.status_code >= 400 and response.request.method != "HEAD":
        assert response.json()["request_id"] == request_id
    return request_id


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Sends a request to the whole application; a store that is away is one of its arguments."""
    variables = {
        "HEADRACE_SQLITE_PATH": str(tmp_path_factory.mktemp("gateway") / "headrace.db"),
        "HEADRACE_HEADER_PREFIX": PREFIX,
        "HEADRACE_OPERATOR_KEY_SHA256": digest(OPERATOR),
    }
    stores: list[AwayStore] = []

    def wrapped(store: Any) -> Any:
        stores.append(AwayStore(store))
        return stores[0]

    gateway = Gateway(
        read_settings(variables),
        variables,
        transport=lambda: httpx.MockTransport(lambda request: httpx.Response(401)),
        own_catalog=(("test.toml", CATALOG.format(upstream="http://127.0.0.1:9")),),
        wrap_store=wrapped,
        journal=Noted(),
    )
    with asyncio.Runner() as runner:
        runner.run(gateway.connect())
        token, _ = runner.run(create_key(gateway.service.parts.store, "default", "tests"))
        client = httpx.AsyncClient(
            transport=httpx.ASGITransport(gateway.app, raise_app_exceptions=False), base_url="http://gateway"
        )

        def send(method: str, path: str, who: str, body: bytes, is_away: bool) -> httpx.Response:
            keys = {"nobody": "", "somebody": "hr_unknown", "a caller": token, "the operator": OPERATOR}
            headers = {"authorization": f"Bearer {keys[who]}"} if keys[who] else {}
            stores[0].away = {"*"} if is_away else set()
            return runner.run(client.request(method, path, headers=headers, content=body))

        yield send
        stores[0].away.clear()
        runner.run(client.aclose())
        runner.run(gateway.close())


WHO = ("nobody", "somebody", "a caller", "the operator")
BODIES = st.sampled_from([b"", b"{}", b'{"', b"[]", json.dumps(ASKED).encode(), b"\xff"])


@pytest.mark.parametrize(("method", "path"), operations())
def test_at_every_endpoint(ask: Ask, method: str, path: str) -> None:
    seen = [named(ask(method, path, who, body, False)) for who in WHO for body in (b"", b"{}")]
    assert len({*seen}) == len(seen)


@settings(max_examples=times(1))
@given(
    operation=st.sampled_from(operations()),
    method=st.none() | st.sampled_from(["GET", "HEAD", "PUT", "OPTIONS", "TRACE", "POST"]),
    who=st.sampled_from(WHO),
    body=BODIES,
    is_away=st.booleans(),
)
def test_however_it_is_asked(
    ask: Ask, operation: tuple[str, str], method: str | None, who: str, body: bytes, is_away: bool
) -> None:
    described, path = operation
    named(ask(method or described, path, who, body, is_away))


async def test_in_a_stream_and_where_it_fails(tmp_path: Path) -> None:
    def script(received: Received) -> Sequence[Step]:
        return stream(chunk({"content": "Hello"}), done=False) if received.json["user"] == "cut" else HELLO

    async with ScriptedUpstream(script) as upstream, running_gateway(tmp_path, upstream.url) as running:
        async with running.client() as client:
            for surface, form in (("/v1", "chatcmpl-"), ("/api/v1/inference", "req-")):
                for case in ("whole", "cut"):
                    url = f"{surface}/chat/completions"
                    response = await client.post(url, json={**ASKED, "stream": True, "user": case})
                    request_id = named(response, "x-inferbase-")
                    frames = [frame for frame in frames_of(response.content) if isinstance(frame, dict)]
                    assert (frames[-1]["object"] == "error") is (case == "cut")
                    assert {frame["id"] for frame in frames} == {form + request_id.removeprefix("req-")}
                    assert await running.store.record("default", request_id) is not None
