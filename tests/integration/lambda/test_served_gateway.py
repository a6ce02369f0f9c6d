"""The gateway as `make lambda` serves it: the real function process, started by the wrapper, behind the REST front."""

import re
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from core.ports import Store
from core.record import LOST, Record
from core.sweep import sweep
from functions.gateway.compose import open_store
from functions.local.catalog.demo import DEMO_MODEL
from functions.local.emulator.fleet import Fleet
from functions.local.keys import create_key
from functions.local.llama_server import LlamaServer
from functions.settings import read_settings
from tests.support.answers import chunk, usage_chunk
from tests.support.command import free_port
from tests.support.gateway import CATALOG
from tests.support.lambda_child import ROOT, child, output_until
from tests.support.lambda_front import fleet_of, whole_function
from tests.support.llama import ALIAS, llama_server
from tests.support.script import Step, stream
from tests.support.upstream import ScriptedUpstream

__all__ = ["llama_server"]

TINY = """
[vendors.tiny]
format = "openai"
base_url = "{url}"
auth = "none"

[[models]]
id = "tiny/real"
context_tokens = 4096
max_output_tokens = 2048

[[models.hosts]]
vendor = "tiny"
upstream_model = "{alias}"
prices = {{ input = 1, output = 2 }}
"""

# The first word is out while the rest is not yet made.
IN_TWO_PARTS: Sequence[Step] = stream(
    chunk({"role": "assistant", "content": "Because"}), chunk({"content": " of"}, "stop"), usage_chunk(), wait="rest"
)


@dataclass(frozen=True, slots=True)
class Served:
    """What is served, with a key and a look into the store."""

    client: httpx.AsyncClient
    fleet: Fleet
    store: Store

    async def record(self) -> Record:
        (record,) = await self.store.records("default", 1)
        return record


@asynccontextmanager
async def served(folder: Path, catalog: str) -> AsyncIterator[Served]:
    (folder / "own.toml").write_text(catalog, "utf-8")
    variables = {"HEADRACE_SQLITE_PATH": str(folder / "headrace.db"), "HEADRACE_CATALOG": str(folder / "own.toml")}
    store = open_store(read_settings(variables))
    token, _ = await create_key(store, "default", "tests")
    try:
        async with fleet_of(whole_function(variables)) as (url, fleet):
            headers = {"authorization": f"Bearer {token}"}
            async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60) as client:
                yield Served(client, fleet, store)
    finally:
        await store.close()


def question(model: str, **members: object) -> dict[str, object]:
    return {"model": model, "messages": [{"role": "user", "content": "Why?"}], **members}


async def answer_end(lines: AsyncIterator[str]) -> None:
    async for line in lines:
        assert line != "data: [DONE]"


async def test_a_killed_process_breaks_its_stream_off_and_its_record_is_swept(
    tmp_path: Path, llama_server: LlamaServer
) -> None:
    """The next request is answered, by a real model, in a new process."""
    async with ScriptedUpstream(IN_TWO_PARTS) as upstream:
        catalog = CATALOG.format(upstream=upstream.url) + TINY.format(url=llama_server.base_url, alias=ALIAS)
        async with served(tmp_path, catalog) as running:
            asked = question("lab/small", stream=True)
            async with running.client.stream("POST", "/v1/chat/completions", json=asked) as answer:
                lines = answer.aiter_lines()
                while "Because" not in await anext(lines):
                    pass
                (environment,) = running.fleet.environments
                environment.kill()
                with pytest.raises(httpx.RemoteProtocolError):
                    await answer_end(lines)
            left = await running.record()
            again = await running.client.post(
                "/v1/chat/completions", json=question("tiny/real", max_tokens=8, stream=False)
            )
            assert [each.is_over for each in running.fleet.environments if each is not environment] == [False]
            swept = await sweep(running.store, left.lease_until_ms + 1, 10)
            lost = await running.store.record("default", left.request_id)
    assert (left.outcome, left.is_settled) == ("open", False)
    assert (again.status_code, again.json()["usage"]["completion_tokens"]) == (200, 8)
    assert [each.request_id for each in swept] == [left.request_id]
    assert lost is not None
    assert (lost.outcome, lost.is_settled) == (LOST, True)


async def test_the_readmes_example_streams_from_the_command(tmp_path: Path) -> None:
    """The command is a process, its function another, the example a third; the first word comes before the last is
    made."""
    (example,) = re.findall(
        r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    async with ScriptedUpstream(IN_TWO_PARTS) as upstream:
        catalog = tmp_path / "own.toml"
        catalog.write_text(CATALOG.format(upstream=upstream.url).replace("lab/small", DEMO_MODEL), "utf-8")
        port, data = free_port(), tmp_path / "data"
        serve = [sys.executable, "-m", "functions.local", "lambda", "--port", str(port)]
        async with child([*serve, "--catalog", str(catalog), "--data", str(data)], {}) as serving:
            printed = await output_until(serving, "for chunk in stream")
            base_url, token = f"http://127.0.0.1:{port}/live/v1", (data / "dev-key").read_text("utf-8").strip()
            assert f"curl -N {base_url}/chat/completions" in printed
            assert token in printed
            program = example.replace("http://127.0.0.1:8080/v1", base_url).replace("hr_...", token)
            async with child([sys.executable, "-c", program], {}) as caller:
                assert caller.stdout is not None
                assert await caller.stdout.readexactly(7) == b"Because"
                upstream.barrier("rest").released.set()
                assert await caller.stdout.read() == b" of"
                assert await caller.wait() == 0
            serving.send_signal(signal.SIGTERM)
            assert await serving.wait() == 0
