"""A snapshot holds nothing that two environments restored from it must not share (SnapStart)."""

import json
import sys
import time
from pathlib import Path

import pytest

from core.ports import Store
from functions.gateway.clock import SystemClock
from functions.gateway.compose import Gateway
from functions.local.emulator.runtime_api import RuntimeApiEmulator
from functions.local.keys import create_key
from functions.settings import read_settings
from tests.support.answers import HELLO
from tests.support.gateway import CATALOG
from tests.support.lambda_child import child
from tests.support.lambda_events import rest_event
from tests.support.runtime_process import start
from tests.support.upstream import ScriptedUpstream

# Prepares once, then goes on twice from there, as two environments do.
FORKED = """
import asyncio, json, os, stat
from functions.gateway.starting import start

gateway = start()
paths = [os.path.join("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
print(sum(stat.S_ISSOCK(os.stat(path).st_mode) for path in paths if os.path.exists(path)), flush=True)

async def restored():
    await gateway.connect()
    parts = gateway.service.parts
    drawn = [parts.jitter(), parts.new_request_id()[-16:], gateway.office.random_bytes(16).hex()]
    await gateway.close()
    return drawn

for _ in range(2):
    if os.fork() == 0:
        print(json.dumps(asyncio.run(restored())), flush=True)
        os._exit(0)
    os.wait()
"""


async def test_what_is_open_known_or_secret_is_made_after_the_restore(tmp_path: Path) -> None:
    opened: list[Store] = []

    def noted(store: Store) -> Store:
        opened.append(store)
        return store

    async with ScriptedUpstream(HELLO, api_key="after") as upstream, RuntimeApiEmulator(snap_start=True) as api:
        catalog = CATALOG.replace('auth = "none"', 'key_env = "LAB_KEY"').format(upstream=upstream.url)
        variables = {"HEADRACE_SQLITE_PATH": str(tmp_path / "headrace.db"), "LAB_KEY": "before"}
        settings = read_settings(variables)
        gateway = Gateway(settings, variables, own_catalog=(("test.toml", catalog),), wrap_store=noted)
        running = start(api, lambda: gateway, SystemClock(), snap_start=True)
        await api.at_restore.wait()
        assert opened == []
        with pytest.raises(RuntimeError, match="not connected"):
            _ = gateway.service
        variables["LAB_KEY"] = "after"  # Lambda gives a restored environment credentials of its own
        api.restore.set()
        await api.waits_for_polls(1)
        assert len(opened) == 1
        token, _ = await create_key(opened[0], "default", "tests")
        body = json.dumps({"model": "lab/small", "messages": [{"role": "user", "content": "Hello?"}]}).encode()
        event = rest_event(body, headers={"Authorization": [f"Bearer {token}"]})
        call = await api.invoke(event, deadline=time.time() + 60).done()
        running.stop.set()
        assert await running.exit_code == 0
    assert json.loads(call.body)["choices"][0]["message"]["content"] == "Hello there!"
    assert (upstream.refused, api.violations) == ([], [])


@pytest.mark.skipif(sys.platform != "linux", reason="NOT CHECKED: sockets are counted in /proc")
async def test_two_environments_from_one_snapshot_draw_differently(tmp_path: Path) -> None:
    variables = {"HEADRACE_SQLITE_PATH": str(tmp_path / "headrace.db")}
    async with child([sys.executable, "-c", FORKED], variables) as process:
        assert process.stdout is not None
        printed = (await process.stdout.read()).decode().splitlines()
        assert await process.wait() == 0, printed
    sockets, first, second = map(json.loads, printed)
    assert sockets == 0
    assert all(one != other for one, other in zip(first, second, strict=True))
