"""Runs the runtime loop inside a test, against the emulator."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from core.ports import Clock
from functions.gateway.streaming.contract import Gateway
from functions.gateway.streaming.environment import RuntimeEnvironment
from functions.gateway.streaming.process import Process
from functions.local.emulator.runtime_api import RuntimeApiEmulator
from tests.support.clock import ManualClock


@dataclass(slots=True)
class Running:
    """A runtime that runs.

    Args:
        stop: Set to end it.
        exit_code: Resolves when it has ended.
        traces: The X-Ray headers that it remembered.
    """

    stop: asyncio.Event
    exit_code: "asyncio.Task[int]"
    traces: list[str | None] = field(default_factory=list)


def start(
    api: RuntimeApiEmulator,
    prepare: Callable[[], Gateway],
    clock: Clock,
    *,
    max_concurrency: int = 1,
    snap_start: bool = False,
    remember_trace: Callable[[str | None], None] | None = None,
) -> Running:
    environment = RuntimeEnvironment(
        api.address,
        snap_start=snap_start,
        max_concurrency=max_concurrency,
        function_name="gateway",
        function_version="7",
        memory_mb=512,
    )
    stop, traces = asyncio.Event(), list[str | None]()
    process = Process(environment, clock, stop, remember_trace or traces.append)
    return Running(stop, asyncio.ensure_future(process.run(prepare)), traces)


@asynccontextmanager
async def serving(
    api: RuntimeApiEmulator, gateway: Gateway, clock: Clock | None = None, *, max_concurrency: int = 1
) -> AsyncIterator[Running]:
    """A runtime for the length of the block. In the end it has stopped cleanly, and broken no rule."""
    running = start(api, lambda: gateway, clock or ManualClock(), max_concurrency=max_concurrency)
    test = asyncio.current_task()
    assert test is not None
    running.exit_code.add_done_callback(lambda _: running.stop.is_set() or test.cancel())
    try:
        yield running
        running.stop.set()
        assert await running.exit_code == 0
        await api.closed()
        assert api.violations == []
    except asyncio.CancelledError:
        if not running.exit_code.done():
            raise
        test.uncancel()
        raise AssertionError(f"the runtime ended with {running.exit_code.result()}: {api.init_error}") from None
    finally:
        running.stop.set()
        running.exit_code.cancel()
        await asyncio.gather(running.exit_code, return_exceptions=True)
