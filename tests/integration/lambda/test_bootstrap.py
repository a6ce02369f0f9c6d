"""The exec wrapper: Lambda calls it with the command of its own runtime."""

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

from functions.local.emulator.runtime_api import RuntimeApiEmulator
from tests.support.lambda_child import ROOT, child
from tests.support.lambda_events import rest_event

BOOTSTRAP = ROOT / "functions" / "gateway" / "bootstrap"


def interpreter(folder: Path) -> Path:
    """Something in the place of an interpreter, which says how it was called."""
    program = folder / "python with spaces"
    program.write_text('#!/bin/sh\necho "$@"\necho "$PYTHONPATH"\n')
    program.chmod(0o755)
    return program


def started(folder: Path, **variables: str) -> list[str]:
    command = [str(BOOTSTRAP), str(interpreter(folder)), "/var/runtime/bootstrap.py"]
    environment = {"PATH": os.environ["PATH"], **variables}
    done = subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_it_can_be_executed_and_has_unix_line_ends() -> None:
    assert stat.S_IMODE(BOOTSTRAP.stat().st_mode) == 0o755
    text = BOOTSTRAP.read_bytes()
    assert text.startswith(b"#!/bin/sh\n")
    assert b"\r" not in text


def test_the_interpreter_is_kept_and_the_client_replaced(tmp_path: Path) -> None:
    arguments, _ = started(tmp_path)
    assert arguments == "-m functions.gateway.streaming"


def test_it_finds_the_code_beside_itself(tmp_path: Path) -> None:
    _, path = started(tmp_path)
    assert path.split(":")[0] == str(ROOT)


def test_it_finds_the_code_where_lambda_says_and_keeps_lambdas_own_path(tmp_path: Path) -> None:
    _, path = started(tmp_path, LAMBDA_TASK_ROOT="/var/task", PYTHONPATH="/var/runtime")
    assert path.split(":")[0] == "/var/task"
    assert path.split(":")[-1] == "/var/runtime"


def test_called_by_hand_it_says_what_is_missing() -> None:
    done = subprocess.run([str(BOOTSTRAP)], capture_output=True, text=True, check=False)
    assert done.returncode == 64
    assert "interpreter" in done.stderr


async def test_the_gateway_itself_starts_through_it_and_answers(api: RuntimeApiEmulator, tmp_path: Path) -> None:
    command = [str(BOOTSTRAP), sys.executable, "/var/runtime/bootstrap.py"]
    variables = {"AWS_LAMBDA_RUNTIME_API": api.address, "PYTHONPATH": ""}
    async with child(command, variables, tmp_path):
        event = rest_event(None, method="GET", path="/healthz")
        call = api.invoke(event, deadline=time.time() + 60)
        await api.started()
        assert api.init_error is None
        await call.done()
    assert call.prelude is not None
    assert call.prelude["statusCode"] == 200
    assert api.violations == []
