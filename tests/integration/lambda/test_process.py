"""The runtime as the process that Lambda starts: exit codes, signals, and a log of JSON lines."""

import json
import signal
import sys
import time

from functions.local.emulator.runtime_api import RuntimeApiEmulator
from tests.support.lambda_child import child, output_until
from tests.support.lambda_events import rest_event

PROGRAM = [sys.executable, "-m", "tests.support.streaming_app"]


async def test_it_serves_until_it_is_terminated(api: RuntimeApiEmulator) -> None:
    async with child(PROGRAM, {"AWS_LAMBDA_RUNTIME_API": api.address}) as process:
        event, deadline = rest_event(b"3", path="/count"), time.time() + 60
        call = await api.invoke(event, deadline=deadline, trace_id="Root=1-a-b").done()
        again = await api.invoke(event, deadline=deadline).done()
        await api.waits_for_polls(1)
        process.send_signal(signal.SIGTERM)
        printed = await output_until(process, "closed")
        assert await process.wait() == 0
    assert call.body == b"data: 0\n\ndata: 1\n\ndata: 2\n\ndata: Root=1-a-b\n\n"
    assert again.body.endswith(b"data: None\n\n")
    assert printed.split() == ["counted", "counted", "closed"]
    assert api.violations == []


async def test_what_it_logs_is_json_with_the_request_id_and_without_the_request(api: RuntimeApiEmulator) -> None:
    async with child(PROGRAM, {"AWS_LAMBDA_RUNTIME_API": api.address}) as process:
        call = await api.invoke(rest_event(path="/break"), deadline=time.time() + 60, request_id="f00").done()
        line = json.loads((await output_until(process, "the app failed")).splitlines()[-1])
    assert call.outcome == "broken off"
    assert (line["level"], line["requestId"], line["errorType"]) == ("ERROR", "f00", "ValueError")
    assert any("streaming_app.py" in frame for frame in line["stackTrace"])
    assert "in the middle" not in json.dumps(line)


async def test_without_lambda_it_says_who_starts_it() -> None:
    async with child(PROGRAM, {}) as process:
        printed = await output_until(process, "AWS_LAMBDA_RUNTIME_API is not set")
        assert json.loads(printed)["level"] == "CRITICAL"
        assert await process.wait() == 1


async def test_concurrency_is_read_from_lambdas_variables() -> None:
    async with RuntimeApiEmulator(max_concurrency=4) as api:
        variables = {"AWS_LAMBDA_RUNTIME_API": api.address, "AWS_LAMBDA_MAX_CONCURRENCY": "4"}
        async with child(PROGRAM, variables):
            await api.waits_for_polls(4)
        assert api.violations == []
