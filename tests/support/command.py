"""The `headrace dev` command as a process of its own."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving(folder: Path, catalog: Path) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """The `headrace dev` command as a process of its own; gives it, its address and the key that it prints."""
    port = free_port()
    command = [sys.executable, "-m", "functions.local", "dev", "--no-demo", "--port", str(port)]
    process = subprocess.Popen(
        [*command, "--data", str(folder), "--catalog", str(catalog)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first.startswith("curl"), first
        token = (folder / "dev-key").read_text().strip()
        yield process, f"http://127.0.0.1:{port}", token
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
