"""The life of one environment: start, snapshot and restore, loop, end; it never decides what a request gets."""

import asyncio
import logging
import signal
from collections.abc import Callable, Mapping

from core.ports import Clock
from functions.gateway.clock import SystemClock
from functions.gateway.streaming import logs
from functions.gateway.streaming.contract import Gateway, Prepare
from functions.gateway.streaming.environment import EnvironmentInvalid, RuntimeEnvironment
from functions.gateway.streaming.failures import failure_at_start
from functions.gateway.streaming.lifespan import Lifespan
from functions.gateway.streaming.loop import RuntimeLoop
from functions.gateway.streaming.runtime_api import RuntimeApi
from functions.gateway.streaming.serve import Server

log = logging.getLogger(__name__)

OK = 0
FAILED = 1
# What Lambda's own Python runtime exits with (awslambdaric 4.2.2).
SNAPSHOT_FAILED = 64
RESTORE_FAILED = 65

Trace = Callable[[str | None], None]


def main(prepare: Prepare, environ: Mapping[str, str], remember_trace: Trace) -> int:
    """Run until Lambda ends the environment.

    Args:
        prepare: Makes the gateway. May raise anything, which is then reported to Lambda.
        environ: The process's environment.
        remember_trace: Keeps an invocation's X-Ray header where libraries look for it.

    Returns:
        The exit code.
    """
    try:
        environment = RuntimeEnvironment.from_environ(environ)
    except EnvironmentInvalid as error:
        logs.configure("INFO")
        log.critical(str(error))
        return FAILED
    logs.configure(environment.log_level)
    return asyncio.run(_until_terminated(prepare, environment, remember_trace))


async def _until_terminated(prepare: Prepare, environment: RuntimeEnvironment, remember_trace: Trace) -> int:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    return await Process(environment, SystemClock(), stop, remember_trace).run(prepare)


class Process:
    """One environment.

    Args:
        environment: What Lambda says about it.
        clock: All deadlines and waits are on it.
        stop: Set to end it once what runs has been answered.
        remember_trace: See `main`.
    """

    def __init__(
        self, environment: RuntimeEnvironment, clock: Clock, stop: asyncio.Event, remember_trace: Trace
    ) -> None:
        self._environment = environment
        self._clock = clock
        self._stop = stop
        self._remember_trace = remember_trace
        self._api = RuntimeApi(environment.api_address)

    async def run(self, prepare: Prepare) -> int:
        """Start the gateway, serve, and end; the exit code. Never raises."""
        try:
            gateway = prepare()
        except (Exception, SystemExit) as error:
            _log_start_failure("the gateway could not be prepared", error)
            await self._api.init_error(failure_at_start(error))
            return FAILED
        if self._environment.snap_start:
            try:
                await self._api.restore_next()
            except Exception as error:
                _log_start_failure("the snapshot was not taken or not restored", error)
                await self._api.init_error(failure_at_start(error, "Runtime.BeforeSnapshotError"))
                return SNAPSHOT_FAILED
        lifespan = Lifespan(gateway.app)
        try:
            await gateway.connect()
            await lifespan.startup()
        except (Exception, SystemExit) as error:
            _log_start_failure("the gateway could not connect", error)
            return await self._not_connected(error)
        code = await self._serve(gateway, lifespan)
        await self._close(gateway, lifespan)
        return code

    async def _not_connected(self, error: BaseException) -> int:
        if self._environment.snap_start:
            await self._api.restore_error(failure_at_start(error, "Runtime.AfterRestoreError"))
            return RESTORE_FAILED
        await self._api.init_error(failure_at_start(error))
        return FAILED

    async def _serve(self, gateway: Gateway, lifespan: Lifespan) -> int:
        environment, clock = self._environment, self._clock
        server = Server(gateway, lifespan.state, self._api, environment, clock, self._remember_trace)
        try:
            await RuntimeLoop(self._api, server.serve, environment.max_concurrency, clock, self._stop).run()
        except OSError as error:
            log.critical("the Runtime API is lost", extra={"fields": {"reason": str(error)}})
            return FAILED
        return OK

    async def _close(self, gateway: Gateway, lifespan: Lifespan) -> None:
        for step in (lifespan.shutdown, gateway.close):
            try:
                await step()
            except Exception:
                log.exception("the gateway did not close cleanly")


def _log_start_failure(message: str, error: BaseException) -> None:
    # With the exception's own words: no request is near whose text could stand in them.
    log.critical(message, exc_info=error, extra={"fields": {"reason": str(error)}})
