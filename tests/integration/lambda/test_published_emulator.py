"""A smoke test against the emulator binary that aws-sam-cli ships.

It buffers, ignores trailers, and does not survive two invocations at a time: one process, one request after the other.
"""

import os
import platform
import socket
import sys
from pathlib import Path

import httpx
import pytest

from functions.local.emulator.contract import parse_prelude
from tests.support.lambda_child import ROOT, child
from tests.support.lambda_events import rest_event

ARCHITECTURE = {"x86_64": "x86_64", "AMD64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}
BINARY = "samcli/local/rapid/aws-lambda-rie-{}"
INVOKE = "/2015-03-31/functions/function/invocations"


@pytest.fixture(scope="module")
def emulator() -> Path:
    if sys.platform != "linux":
        pytest.skip(f"NOT CHECKED: the emulator binary of aws-sam-cli is a Linux program, this is {sys.platform}")
    pattern = BINARY.format(ARCHITECTURE.get(platform.machine(), platform.machine()))
    found = sorted(ROOT.glob(f".venv-sam/lib/python*/site-packages/{pattern}"))
    if not found:
        pytest.skip(f"NOT CHECKED: no {pattern} below .venv-sam; `make` installs aws-sam-cli there")
    if not os.access(found[0], os.X_OK):
        pytest.skip(f"NOT CHECKED: {found[0].name} may not be executed here")
    return found[0]


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


async def invoked(client: httpx.AsyncClient, event: object) -> bytes:
    return (await client.post(INVOKE, json=event)).content


async def test_the_loop_speaks_with_the_published_emulator(emulator: Path) -> None:
    front, api = free_ports(2)
    command = [
        *(str(emulator), "--runtime-interface-emulator-address", f"127.0.0.1:{front}"),
        *("--runtime-api-address", f"127.0.0.1:{api}"),
        *(sys.executable, "-m", "tests.support.streaming_app"),
    ]
    async with child(command, {"AWS_LAMBDA_FUNCTION_TIMEOUT": "60"}):
        transport = httpx.AsyncHTTPTransport(retries=10)  # the binary takes a moment until it listens
        async with httpx.AsyncClient(transport=transport, base_url=f"http://127.0.0.1:{front}", timeout=60) as client:
            counted = parse_prelude(await invoked(client, rest_event(b"3", path="/count")))
            broken = parse_prelude(await invoked(client, rest_event(path="/break")))
            missing = parse_prelude(await invoked(client, rest_event(path="/nowhere")))
            refused = await invoked(client, {"source": "aws.events"})
    assert counted is not None
    assert counted[0]["statusCode"] == 200
    assert counted[1].startswith(b"data: 0\n\ndata: 1\n\ndata: 2\n\n")
    assert broken is not None
    assert broken[1].endswith(b"data: [DONE]\n\n")
    assert missing is not None
    assert missing[0]["statusCode"] == 404
    assert b"Runtime.UnsupportedEvent" in refused
