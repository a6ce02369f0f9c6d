"""The `headrace dev` command as a process of its own."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import dropwhile, takewhile
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Dev:
    """A gateway that serves, its key, and the `curl` line and the program that it printed."""

    process: subprocess.Popen[str]
    url: str
    token: str
    curl: str
    program: str


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def printed(process: subprocess.Popen[str]) -> tuple[str, str]:
    """The `curl` line and the program, once they are printed: then it serves."""
    assert process.stdout is not None
    lines = dropwhile(lambda line: not line.startswith("curl"), iter(process.stdout.readline, ""))
    curl, program = ("".join(takewhile(str.strip, lines)) for _ in range(2))
    assert curl, "it does not serve"
    return curl, program


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Dev]:
    """Run the command until the context ends; its data goes to the folder."""
    port = free_port()
    command = [sys.executable, "-m", "functions.local", "dev", "--port", str(port), "--data", str(folder)]
    process = subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        curl, program = printed(process)
        token = (folder / "dev-key").read_text().strip()
        yield Dev(process, f"http://127.0.0.1:{port}", token, curl, program)
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
