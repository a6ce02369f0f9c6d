"""A server that is killed in the middle of a stream: its record is there afterwards, and nothing is charged twice."""

import json
import os
import signal
from pathlib import Path

import httpx
import pytest

from core.record import Record
from core.store.sqlite import SqliteStore
from tests.support.answers import HELLO, chunk
from tests.support.command import serving
from tests.support.gateway import CATALOG
from tests.support.script import Head, Never, Send, Step
from tests.support.upstream import ScriptedUpstream

BODY = {"model": "lab/small", "stream": True, "messages": [{"role": "user", "content": "Hello?"}]}
HALF: list[Step] = [
    Head(200, {"content-type": "text/event-stream"}),
    Send(f"data: {json.dumps(chunk({'content': 'Hello'}))}\n\n".encode()),
    Never(),
]


async def records_in(folder: Path) -> list[Record]:
    store = SqliteStore(folder / "headrace.db")
    try:
        return [*await store.records("default", 10)]
    finally:
        await store.close()


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX's")
async def test_the_record_of_a_killed_stream_is_open_and_charged_nothing(tmp_path: Path) -> None:
    data, catalog = tmp_path / "data", tmp_path / "lab.toml"
    with ScriptedUpstream(HALF, HELLO) as upstream:
        catalog.write_text(CATALOG.format(upstream=upstream.url))
        with serving(data, "--no-demo", "--catalog", str(catalog)) as dev:
            headers = {"authorization": f"Bearer {dev.token}"}
            with httpx.stream("POST", f"{dev.url}/v1/chat/completions", json=BODY, headers=headers) as response:
                received = response.iter_raw()
                assert b"Hello" in next(received)
                dev.process.send_signal(signal.SIGKILL)
                with pytest.raises(httpx.RemoteProtocolError):
                    list(received)
            dev.process.wait()
        (record,) = await records_in(data)
        assert (record.is_settled, record.outcome, record.charge) == (False, "open", None)

        with serving(data, "--no-demo", "--catalog", str(catalog)) as again:
            assert again.token == dev.token
            async with httpx.AsyncClient(headers=headers) as client:
                answer = await client.post(f"{again.url}/v1/chat/completions", json={**BODY, "stream": False})
            assert answer.json()["usage"]["cost_micros"] == 1_053
        newest, oldest = await records_in(data)
        assert oldest == record
        assert newest.charge is not None
        assert newest.charge.total == 1_053
