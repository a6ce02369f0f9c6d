"""One execution environment: a function's process, and the Runtime API that it speaks with."""

import asyncio
import logging
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass

from functions.local.emulator.call import Call
from functions.local.emulator.runtime_api import RuntimeApiEmulator

log = logging.getLogger(__name__)

STOP_S = 5.0
"""Seconds that a process has to end by itself."""


@dataclass(frozen=True, slots=True)
class Function:
    """What is started, and how much it may do.

    Args:
        command: The program of its processes, as Lambda would start it.
        variables: Their environment; the Runtime API's address is added.
        timeout_s: The longest that one invocation may run.
        concurrency: Invocations that one environment gets at a time.
        output: Where the processes write; a file descriptor, or `subprocess`'s `DEVNULL`. This process's unless given.
    """

    command: Sequence[str]
    variables: Mapping[str, str]
    timeout_s: float = 900.0
    concurrency: int = 1
    output: int | None = None


class Environment:
    """One environment. It begins with `start()` and ends with its process, or with `stop()`.

    Args:
        function: What runs in it.
    """

    def __init__(self, function: Function) -> None:
        self._function = function
        self._api = RuntimeApiEmulator(max_concurrency=function.concurrency)
        self._stack = AsyncExitStack()
        self._process: asyncio.subprocess.Process | None = None
        self._watch: asyncio.Task[None] | None = None
        self._guards: set[asyncio.Task[None]] = set()
        self._is_over = False

    @property
    def pid(self) -> int:
        """The process id."""
        assert self._process is not None
        return self._process.pid

    @property
    def room(self) -> int:
        """How many invocations it can take; what only finishes its work after a response is worth waiting for."""
        return 0 if self._is_over else self._function.concurrency - self._api.invocations.unfinished

    @property
    def is_over(self) -> bool:
        """Whether its process has ended, or is being ended."""
        return self._is_over

    @property
    def is_gone(self) -> bool:
        """Whether nothing of it is left."""
        return self._watch is not None and self._watch.done()

    async def start(self) -> None:
        """Start the process. That it can be used is not waited for.

        Raises:
            OSError: The program cannot be run.
        """
        await self._stack.enter_async_context(self._api)
        variables = {
            **self._function.variables,
            "AWS_LAMBDA_RUNTIME_API": self._api.address,
            "AWS_LAMBDA_FUNCTION_NAME": "gateway",
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        }
        if self._function.concurrency > 1:
            variables["AWS_LAMBDA_MAX_CONCURRENCY"] = str(self._function.concurrency)
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._function.command,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=self._function.output,
                stderr=self._function.output,
                # Ctrl-C is for the front, which then ends its environments in order.
                start_new_session=True,
            )
        except OSError:
            await self._stack.aclose()
            raise
        self._watch = asyncio.create_task(self._until_over(self._process))

    def invoke(self, event: bytes) -> Call:
        """Give it an invocation. Once that has run out of time, the process is ended."""
        call = self._api.invoke(event, deadline=time.time() + self._function.timeout_s)
        guard = asyncio.create_task(self._guard(call))
        self._guards.add(guard)
        guard.add_done_callback(self._guards.discard)
        return call

    async def _guard(self, call: Call) -> None:
        try:
            async with asyncio.timeout(self._function.timeout_s):
                await call.done()
        except TimeoutError:
            log.error("the function ran into its timeout of %g s", self._function.timeout_s)
            call.time_out()
            self.kill()
        self._api.invocations.forget(call)

    async def stop(self) -> None:
        """End the process, politely at first, and all that belongs to it."""
        self._is_over = True
        if self._process is not None and self._watch is not None:
            with suppress(ProcessLookupError):
                self._process.terminate()
            _, late = await asyncio.wait([self._watch], timeout=STOP_S)
            if late:
                self.kill()
            await self._watch

    def kill(self) -> None:
        """End the process at once, as Lambda does where a timeout has passed."""
        self._is_over = True
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()

    async def _until_over(self, process: asyncio.subprocess.Process) -> None:
        code = await process.wait()
        was_ended, self._is_over = self._is_over, True
        if self._api.init_error is not None:
            kind, document = self._api.init_error
            log.error("the function could not start: %s: %s", kind, document["errorMessage"])
        elif not was_ended:
            log.error("the function's process ended with %s, by itself", code)
        for violation in self._api.violations:
            log.error("the function broke Lambda's contract: %s", violation)
        self._api.invocations.lose_all()
        await asyncio.gather(*self._guards)
        await self._stack.aclose()
