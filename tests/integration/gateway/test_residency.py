"""A gateway whose operator keeps data in some regions calls hosts there alone, whoever asks for what."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from core.decision import DataRules, Policy
from functions.settings import SettingsError, read_settings
from tests.support.answers import chunk, usage_chunk
from tests.support.gateway import Running, running_gateway
from tests.support.script import Received, Step, stream
from tests.support.upstream import ScriptedUpstream

CATALOG = """
[vendors.near]
format = "openai"
base_url = "{upstream}/near"
auth = "none"

[vendors.far]
format = "openai"
base_url = "{upstream}/far"
auth = "none"

[[models]]
id = "lab/both"
context_tokens = 8192
max_output_tokens = 2048
[[models.hosts]]
vendor = "far"
upstream_model = "both"
prices = {{ input = 1, output = 1 }}
promises = {{ region = "us" }}
[[models.hosts]]
vendor = "near"
upstream_model = "both"
prices = {{ input = 3, output = 15 }}
promises = {{ region = "eu" }}

[[models]]
id = "lab/far"
context_tokens = 8192
max_output_tokens = 2048
[[models.hosts]]
vendor = "far"
upstream_model = "far"
prices = {{ input = 1, output = 1 }}
promises = {{ region = "us" }}

[[models]]
id = "lab/silent"
context_tokens = 8192
max_output_tokens = 2048
[[models.hosts]]
vendor = "near"
upstream_model = "silent"
prices = {{ input = 1, output = 1 }}
"""


def script(received: Received) -> Sequence[Step]:
    return stream(chunk({"content": "here"}), chunk({}, "stop"), usage_chunk())


@pytest.fixture
async def upstream() -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream(script) as running:
        yield running


@pytest.fixture
async def running(tmp_path: Path, upstream: ScriptedUpstream) -> AsyncIterator[Running]:
    variables = {"HEADRACE_HOST_REGIONS": "eu,eu-central-1"}
    async with running_gateway(tmp_path, upstream.url, catalog=CATALOG, variables=variables) as gateway:
        yield gateway


async def ask(running: Running, model: str, **members: Any) -> httpx.Response:
    body = {"model": model, "messages": [{"role": "user", "content": "Where?"}], **members}
    async with running.client() as client:
        return await client.post("/api/v1/inference/chat/completions", json=body)


@pytest.mark.parametrize("model", ["lab/both", "auto"])
async def test_what_is_called_is_in_the_region_however_cheap_the_others_are(
    running: Running, upstream: ScriptedUpstream, model: str
) -> None:
    response = await ask(running, model, routing={"optimize": "cost"})
    assert response.json()["model"] == "lab/both"
    assert {received.path.partition("/chat")[0] for received in upstream.received} == {"/near"}


async def test_auto_says_for_which_models_there_was_no_host_in_the_region(running: Running) -> None:
    decision = (await ask(running, "auto")).json()["routing"]
    async with running.client() as client:
        told = (await client.get(f"/v1/routing-decisions/{decision['request_id']}")).json()
    assert {"lab/far", "lab/silent"} <= {*told["excluded"]["region"]}


@pytest.mark.parametrize("model", ["lab/far", "lab/silent"])
async def test_a_model_without_a_host_in_the_region_is_refused(
    running: Running, upstream: ScriptedUpstream, model: str
) -> None:
    response = await ask(running, model)
    assert response.status_code == 422
    assert "region" in response.json()["error"]["message"]
    assert upstream.received == []


async def test_neither_a_policy_nor_a_request_can_widen_it(running: Running, upstream: ScriptedUpstream) -> None:
    await running.store.save_policy("default", Policy(data=DataRules(regions=("us",))))
    assert (await ask(running, "lab/both")).status_code == 422
    await running.store.save_policy("default", Policy())
    assert (await ask(running, "lab/both", routing={"data": {"regions": ["us"]}})).status_code == 422
    assert upstream.received == []


async def test_models_are_listed_as_the_region_has_them(running: Running) -> None:
    for headers in ({}, {"authorization": ""}):
        async with running.client(**headers) as client:
            listed = {model["id"]: model for model in (await client.get("/v1/models")).json()["data"]}
            assert (await client.get("/v1/models/lab/far")).status_code == 404
            assert (await client.get("/v1/models/lab/both")).json() == listed["lab/both"]
        assert "lab/far" not in listed
        assert "lab/silent" not in listed
        assert listed["lab/both"]["prices"]["input"] == 3


@pytest.mark.parametrize("wrong", ["eu, us", "eu,,us", ",", " "])
def test_a_list_that_is_written_wrongly_is_refused(wrong: str) -> None:
    with pytest.raises(SettingsError, match="HEADRACE_HOST_REGIONS"):
        read_settings({"HEADRACE_HOST_REGIONS": wrong})
