"""What a host could not take of a request is named in the usage of its answer: that of the host which served."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.answers import HELLO
from tests.support.gateway import running_gateway
from tests.support.script import Received, Step, reply
from tests.support.upstream import ScriptedUpstream

CATALOG = """
[vendors.first]
format = "openai"
base_url = "{upstream}/first"
auth = "none"
refuses = ["seed"]

[vendors.second]
format = "openai"
base_url = "{upstream}/second"
auth = "none"

[[models]]
id = "lab/one"
context_tokens = 8192
max_output_tokens = 2048

[[models.hosts]]
vendor = "first"
upstream_model = "up"

[[models.hosts]]
vendor = "second"
upstream_model = "up"
refuses = ["top_p", "user"]
"""
SAID: dict[str, Any] = {"seed": 7, "top_p": 0.5, "user": "u-1"}


def usage_of(response: httpx.Response, is_stream: bool) -> Any:
    assert response.status_code == 200
    if not is_stream:
        return response.json()["usage"]
    *_, usage, done = [line for line in response.text.splitlines() if line.startswith("data: ")]
    assert done == "data: [DONE]"
    return json.loads(usage.removeprefix("data: "))["usage"]


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])
async def test_dropped_params_are_those_of_the_host_that_served(tmp_path: Path, is_stream: bool) -> None:
    is_down = False

    def script(request: Received) -> Sequence[Step]:
        return reply({"error": {"message": "m"}}, 401) if is_down and request.path.startswith("/first/") else HELLO

    messages = [{"role": "user", "content": "Hello?"}]
    body = {"model": "lab/one", "messages": messages, "stream": is_stream, **SAID}
    async with (
        ScriptedUpstream(script) as upstream,
        running_gateway(tmp_path, upstream.url, catalog=CATALOG) as running,
        running.client() as client,
    ):
        served = await client.post("/api/v1/inference/chat/completions", json=body)
        is_down = True
        fallen_back = await client.post("/api/v1/inference/chat/completions", json=body)
    sent = [{name: request.json[name] for name in SAID if name in request.json} for request in upstream.received]
    assert usage_of(served, is_stream)["dropped_params"] == ["seed"]
    assert usage_of(fallen_back, is_stream)["dropped_params"] == ["top_p", "user"]
    assert sent == [{"top_p": 0.5, "user": "u-1"}, {"top_p": 0.5, "user": "u-1"}, {"seed": 7}]
