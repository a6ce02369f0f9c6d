"""From the start of the function's process to its first answer, on the emulator."""

import json
import os
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL

from functions.gateway.compose import open_store
from functions.local.emulator.environment import Environment, Function
from functions.local.emulator.rest import HttpRequest, rest_event
from functions.local.keys import create_key
from functions.settings import read_settings
from tests.support.answers import HELLO
from tests.support.gateway import CATALOG
from tests.support.upstream import ScriptedUpstream

STOCK_CLIENT = "/var/runtime/bootstrap.py"


@dataclass(frozen=True, slots=True)
class FirstAnswer:
    """What passed until it, in milliseconds, and what of that the process was at work."""

    ms: float
    cpu_ms: float


async def first_answers(
    package: Path, interpreter: Path, folder: Path, store: Mapping[str, str], runs: int
) -> tuple[list[FirstAnswer], list[FirstAnswer]]:
    """From the start of a process to its first answer, once for each run.

    Args:
        package: What runs.
        interpreter: In what.
        folder: Where the catalog goes.
        store: The settings of the store, and what a process needs to reach it.
        runs: How often.

    Returns:
        To a health check; and to a chat completion, with an upstream that answers at once.
    """
    async with AsyncExitStack() as stack:
        upstream = await stack.enter_async_context(ScriptedUpstream(HELLO))
        catalog = folder / "own.toml"
        catalog.write_text(CATALOG.format(upstream=upstream.url), "utf-8")
        variables = {
            "PATH": "/usr/bin:/bin",
            "LAMBDA_TASK_ROOT": str(package),
            "HEADRACE_CATALOG": str(catalog),
            **store,
        }
        opened = open_store(read_settings(variables))
        token, _ = await create_key(opened, "default", "bench")
        await opened.close()
        question = {"model": "lab/small", "messages": [{"role": "user", "content": "Hello?"}], "stream": True}
        chat = HttpRequest(
            "POST",
            "/v1/chat/completions",
            "",
            [("host", "bench"), ("authorization", f"Bearer {token}"), ("content-type", "application/json")],
            json.dumps(question).encode(),
            "127.0.0.1",
        )
        health = HttpRequest("GET", "/healthz", "", [("host", "bench")], b"", "127.0.0.1")
        command = [str(package / "functions/gateway/bootstrap"), str(interpreter), STOCK_CLIENT]
        healthy, answered = [], []
        for _ in range(runs):
            healthy.append(await _first_answer(command, variables, health))
            answered.append(await _first_answer(command, variables, chat))
        return healthy, answered


async def _first_answer(command: list[str], variables: Mapping[str, str], request: HttpRequest) -> FirstAnswer:
    environment = Environment(Function(command, variables, output=DEVNULL))
    event = json.dumps(rest_event(request, "live", "bench", time.time())).encode()
    began = time.perf_counter()
    await environment.start()
    try:
        call = await environment.invoke(event).done()
        took, worked = time.perf_counter() - began, _cpu_s(environment.pid)
        if call.outcome != "answered" or call.prelude is None or call.prelude["statusCode"] != 200:
            raise RuntimeError(f"the function did not answer: {call.outcome} {call.prelude} {call.error}")
        return FirstAnswer(took * 1000, worked * 1000)
    finally:
        environment.kill()
        await environment.stop()


def _cpu_s(pid: int) -> float:
    """Seconds that a process has been at work (proc(5): `utime` and `stime`)."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
