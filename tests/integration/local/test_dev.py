"""`headrace dev` as a process, with a real model behind it: what it prints runs, and what it charges adds up."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import which

import httpx
import pytest

from core.store.sqlite import SqliteStore
from functions.local.catalog.demo import DEMO_MODEL, demo_catalog
from functions.local.llama_server import LlamaServer
from tests.support.command import Dev, serving
from tests.support.llama import tiny_settings

STREAMS = 20


@dataclass(frozen=True)
class Served:
    """The gateway, and where its data lies."""

    dev: Dev
    data: Path

    def as_printed(self, text: str) -> str:
        """What it printed, with the model in its place."""
        assert text.count("MODEL") == 1
        return text.replace("MODEL", DEMO_MODEL)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("dev")
    catalog, data = folder / "catalog.toml", folder / "data"
    with LlamaServer.start(replace(tiny_settings(folder), answer_tokens=16), log_path=folder / "llama.log") as llama:
        catalog.write_text(demo_catalog(llama.base_url), "utf-8")
        with serving(data, "--no-demo", "--catalog", str(catalog)) as dev:
            yield Served(dev, data)


@pytest.mark.skipif(which("curl") is None, reason="curl is not installed")
def test_the_curl_line_runs(served: Served) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", served.as_printed(served.dev.curl)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    frames = [line for line in done.stdout.splitlines() if line]
    assert frames[-1] == "data: [DONE]"
    assert sum('"content":' in frame for frame in frames) > 5


def test_the_program_runs(served: Served) -> None:
    program = served.as_printed(served.dev.program)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.split()) > 5


async def told(client: httpx.AsyncClient, number: int) -> tuple[str, int]:
    """What a caller is told of one stream: its request, and its cost in micro-dollars."""
    body = {
        "model": DEMO_MODEL,
        "messages": [{"role": "user", "content": "word " * number}],
        "max_tokens": 8 + number,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    prefix = "/v1" if number % 2 else "/api/v1/inference"
    response = await client.post(f"{prefix}/chat/completions", json=body)
    *_, usage, done = [line for line in response.text.splitlines() if line.startswith("data: ")]
    assert done == "data: [DONE]"
    return response.headers["x-request-id"], json.loads(usage.removeprefix("data: "))["usage"]["cost_micros"]


async def test_what_the_callers_of_twenty_streams_are_told_is_what_the_store_has(served: Served) -> None:
    headers = {"authorization": f"Bearer {served.dev.token}"}
    async with httpx.AsyncClient(base_url=served.dev.url, headers=headers, timeout=60) as client:
        costs = dict(await asyncio.gather(*[told(client, number) for number in range(1, STREAMS + 1)]))
    store = SqliteStore(served.data / "headrace.db")
    records = [await store.record("default", request_id) for request_id in costs]
    await store.close()
    kept = {record.request_id: record.charge.total for record in records if record and record.charge}
    assert kept == costs
    assert len(costs) == STREAMS
    assert min(costs.values()) > 0
