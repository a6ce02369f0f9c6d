"""Whatever is sent to the gateway, it never fails inside: it answers, or says what is wrong and where."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import httpx
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from core.surfaces.surface import SURFACES, Surface
from functions.gateway.compose import Gateway
from functions.local.keys import create_key
from functions.settings import read_settings
from tests.support.examples import times
from tests.support.frames import DONE, frames_of
from tests.support.gateway import CATALOG, Noted
from tests.support.many_choices import chunks
from tests.support.random_bodies import random_body
from tests.support.schemas import document, faults

Ask: TypeAlias = Callable[[Surface, bytes], httpx.Response]

# Of what is wrong with a body as a whole there is no field to name.
UNNAMED = {"invalid_json", "request_too_large", "no_eligible_model"}


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Sends a body to the whole application, whose only host answers every request well."""
    folder: Path = tmp_path_factory.mktemp("gateway")
    variables = {"HEADRACE_SQLITE_PATH": str(folder / "headrace.db")}
    noted = Noted()

    def answer(request: httpx.Request) -> httpx.Response:
        asked = json.loads(request.content)
        assert asked["model"] in ("small-upstream", "unpriced-upstream")
        told = [*map(json.dumps, chunks(asked)), "[DONE]"]
        return httpx.Response(
            200, headers={"content-type": "text/event-stream"}, text="".join(f"data: {each}\n\n" for each in told)
        )

    gateway = Gateway(
        read_settings(variables),
        variables,
        transport=lambda: httpx.MockTransport(answer),
        own_catalog=(("test.toml", CATALOG.format(upstream="http://127.0.0.1:9")),),
        journal=noted,
    )
    with asyncio.Runner() as runner:
        runner.run(gateway.connect())
        token, _ = runner.run(create_key(gateway.service.parts.store, "default", "tests"))
        client = httpx.AsyncClient(
            transport=httpx.ASGITransport(gateway.app),
            base_url="http://gateway",
            headers={"authorization": f"Bearer {token}", "content-type": "application/json"},
        )

        def send(surface: Surface, body: bytes) -> httpx.Response:
            return runner.run(client.post(f"{surface.prefix}/chat/completions", content=body))

        yield send
        runner.run(client.aclose())
        runner.run(gateway.close())
    assert noted.faults == []


BODIES = st.randoms(use_true_random=False).map(random_body)


@settings(max_examples=times(10))
@given(body=BODIES, surface=st.sampled_from(SURFACES))
def test_any_body_is_answered_or_refused_by_name(ask: Ask, body: bytes, surface: Surface) -> None:
    note(f"{surface.name}: {body!r}")
    check(ask(surface, body), surface)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(max_examples=10_000)
@given(seed=st.integers(0, 2**64), surface=st.sampled_from(SURFACES))
def test_ten_thousand_bodies_are_answered_or_refused_by_name(ask: Ask, seed: int, surface: Surface) -> None:
    body = random_body(Random(seed))
    note(f"{surface.name}: {body!r}")
    check(ask(surface, body), surface)


def check(response: httpx.Response, surface: Surface) -> None:
    if response.status_code != 200:
        check_refusal(response)
    elif response.headers["content-type"].startswith("text/event-stream"):
        for frame in frames_of(response.content):
            text = frame if frame == DONE else json.dumps(frame)
            assert faults(f"{surface.name}.Event", {"data": text}) == []
            assert frame == DONE or frame["object"] != "error"
    else:
        assert faults(f"{surface.name}.ChatCompletion", response.json(), closed=True) == []


def check_refusal(response: httpx.Response) -> None:
    assert 400 <= response.status_code < 500
    told: Any = response.json()
    error = told["error"]
    described = document()["components"]["responses"][str(response.status_code)]
    _, narrowed = described["content"]["application/json"]["schema"]["allOf"]
    assert faults("ErrorEnvelope", told, closed=True) == []
    assert error["code"] in narrowed["properties"]["error"]["properties"]["code"]["enum"]
    assert told["request_id"] == response.headers["x-request-id"]
    assert error["message"].endswith((".", "?"))
    assert len(error["message"]) < 1_000
    assert error["param"] is not None or error["code"] in UNNAMED
