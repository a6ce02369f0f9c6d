"""Processes that are measured from outside: the core that they have, their processor time and their memory."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Server:
    """A process that serves on `port` of this machine; 0 where it asks for its work itself."""

    process: "subprocess.Popen[bytes]"
    port: int

    def cpu_s(self) -> float:
        """The processor time that it has taken until now, with all its threads, in seconds."""
        # How clock_getcpuclockid(3) makes the name of another process's clock.
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def resident_mb(self) -> float:
        """Its resident memory, in megabytes."""
        with open(f"/proc/{self.process.pid}/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextmanager
def started(module: str, core: int, variables: Mapping[str, str] | None = None, **options: Any) -> Iterator[Server]:
    """Start a module that serves, and end it with the context.

    Args:
        module: What `python -m` runs.
        core: The only core that it may use.
        variables: More of its environment.
        options: What it finds in `child.options()`.
    """
    with closing(socket.create_server(("127.0.0.1", 0), backlog=256)) as listening:
        given = json.dumps({"fd": listening.fileno(), **options})
        with _process([module, given], core, variables or {}, (listening.fileno(),)) as process:
            yield Server(process, listening.getsockname()[1])


@contextmanager
def runtime(core: int, variables: Mapping[str, str]) -> Iterator[Server]:
    """Start the gateway as Lambda does: it asks the Runtime API that the variables name for its work."""
    with _process(["functions.gateway.streaming"], core, variables, ()) as process:
        yield Server(process, 0)


@contextmanager
def _process(
    arguments: list[str], core: int, variables: Mapping[str, str], handed: tuple[int, ...]
) -> Iterator["subprocess.Popen[bytes]"]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **variables}
    command = [sys.executable, "-m", *arguments]
    # A gateway writes a line for each request, as it does where it serves.
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=quiet, stdout=quiet, env=environment, cwd=ROOT, pass_fds=handed)
    os.sched_setaffinity(process.pid, {core})
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
