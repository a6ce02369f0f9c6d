"""Several choices (`n`): given in full, refused by name, or a reason not to choose a model; never fewer in silence."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.answers import chunk, usage_chunk
from tests.support.gateway import running_gateway
from tests.support.many_choices import answer
from tests.support.script import stream
from tests.support.upstream import ScriptedUpstream, refusing

VENDORS = """
[vendors.one]
format = "{format}"
base_url = "{{upstream}}"
auth = "none"
{region}

[[models]]
id = "lab/single"
context_tokens = 8192
max_output_tokens = 2048
[models.abilities]
choices = 8
[[models.hosts]]
vendor = "one"
upstream_model = "single"
prices = {{{{ input = 1, output = 1 }}}}
"""

MANY = """
[vendors.many]
format = "openai"
base_url = "{upstream}"
auth = "none"

[[models]]
id = "lab/many"
context_tokens = 8192
max_output_tokens = 2048
[models.abilities]
choices = 4
[[models.hosts]]
vendor = "many"
upstream_model = "many"
prices = {{ input = 3, output = 15 }}
"""

SINGLE = {
    format: VENDORS.format(format=format, region='region = "us-east-1"' if format == "bedrock" else "")
    for format in ("anthropic", "bedrock")
}


def body(model: str, **members: Any) -> dict[str, Any]:
    return {"model": model, "n": 3, "messages": [{"role": "user", "content": "Hello?"}], **members}


@pytest.mark.parametrize("format", SINGLE)
async def test_a_named_model_whose_format_has_no_choices_refuses_them(tmp_path: Path, format: str) -> None:
    with refusing() as nowhere:
        async with running_gateway(tmp_path, nowhere, catalog=SINGLE[format]) as running, running.client() as client:
            response = await client.post("/v1/chat/completions", json=body("lab/single"))
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["param"]) == (400, "unsupported_parameter", "n")


@pytest.mark.parametrize("format", SINGLE)
async def test_auto_leaves_such_models_out_and_says_so(tmp_path: Path, format: str) -> None:
    async with (
        ScriptedUpstream(answer) as upstream,
        running_gateway(tmp_path, upstream.url, catalog=SINGLE[format] + MANY) as running,
        running.client() as client,
    ):
        only = {"routing": {"models": ["lab/single", "lab/many"]}}
        whole = (await client.post("/api/v1/inference/chat/completions", json=body("auto", **only))).json()
        assert (whole["model"], [choice["index"] for choice in whole["choices"]]) == ("lab/many", [0, 1, 2])
        assert whole["routing"]["excluded"] == {"no_choices": 1}
        nobody = await client.post("/v1/chat/completions", json=body("auto", routing={"models": ["lab/single"]}))
    assert (nobody.status_code, nobody.json()["error"]["code"]) == (422, "no_eligible_model")
    assert "no_choices: lab/single" in nobody.json()["error"]["message"]


@pytest.mark.parametrize("is_stream", [True, False])
async def test_a_host_that_gives_fewer_has_failed(tmp_path: Path, is_stream: bool) -> None:
    one = stream(chunk({"content": "Hello"}), chunk({}, "stop"), usage_chunk())
    async with (
        ScriptedUpstream(one) as upstream,
        running_gateway(tmp_path, upstream.url, catalog=MANY) as running,
        running.client() as client,
    ):
        response = await client.post("/v1/chat/completions", json=body("lab/many", stream=is_stream))
        (record,) = await running.store.records("default", 10)
    assert ('"error"' in response.text, record.outcome) == (True, "interrupted" if is_stream else "failed")
    assert response.status_code == (200 if is_stream else 502)
