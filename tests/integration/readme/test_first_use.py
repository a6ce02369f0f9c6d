"""The README's first command in a fresh clone, as a newcomer types it."""

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.support.command import free_port, printed

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.timeout(3_600)  # it installs everything
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="there is nothing to clone")
def test_a_fresh_clone_serves_and_what_it_prints_runs(tmp_path: Path) -> None:
    clone, port = tmp_path / "headrace", free_port()
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "dev", f"ARGS=--port {port}"]
    # A session of its own, so that all of it can be ended as Ctrl-C ends it.
    process = subprocess.Popen(
        command, cwd=clone, env=variables, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        curl, _ = printed(process)
        done = subprocess.run(["/bin/sh", "-c", curl], capture_output=True, text=True, timeout=600)
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("data: [DONE]")
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
