"""The start of an environment, with and without a snapshot, when it works and when it does not."""

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest
from fastapi import FastAPI
from mangum.types import Receive, Scope, Send

from functions.gateway.streaming.contract import Gateway
from functions.local.emulator.runtime_api import RuntimeApiEmulator
from tests.support.clock import ManualClock
from tests.support.lambda_events import rest_event
from tests.support.runtime_process import serving, start
from tests.support.small_gateway import SmallGateway, begin, end, for_requests


@for_requests
async def app(scope: Scope, receive: Receive, send: Send) -> None:
    await begin(send)
    await end(send, b"well")


async def fails() -> None:
    raise OSError("the secret store cannot be reached")


def cannot_be_made() -> Gateway:
    raise ImportError("No module named 'pydantic_core._pydantic_core'")


def gives_up() -> Gateway:
    raise SystemExit(3)


def failing_lifespan() -> SmallGateway:
    def lifespan(app: FastAPI) -> AbstractAsyncContextManager[None]:
        raise ValueError("no catalog")

    return SmallGateway(FastAPI(lifespan=lifespan))


@pytest.mark.parametrize(
    ("prepare", "kind", "words"),
    [
        (cannot_be_made, "Function.ImportError", "pydantic_core"),
        (gives_up, "Function.SystemExit", "3"),
        (lambda: SmallGateway(app, connecting=fails), "Function.OSError", "the secret store cannot be reached"),
        (failing_lifespan, "Function.LifespanFailed", "ValueError: no catalog"),
    ],
)
async def test_a_failed_start_is_reported_with_its_reason(
    api: RuntimeApiEmulator, clock: ManualClock, prepare: Callable[[], Gateway], kind: str, words: str
) -> None:
    running = start(api, prepare, clock)
    assert await running.exit_code == 1
    assert api.init_error is not None
    assert api.init_error[0] == kind
    assert words in api.init_error[1]["errorMessage"]
    assert (api.violations, api.polls_seen) == ([], 0)


async def test_a_runtime_api_that_nobody_serves_ends_the_process(clock: ManualClock) -> None:
    async with RuntimeApiEmulator() as api:
        pass
    assert await start(api, cannot_be_made, clock).exit_code == 1


async def test_clients_are_opened_after_the_restore(clock: ManualClock, deadline: float) -> None:
    gateway = SmallGateway(app)
    prepared = False

    def prepare() -> Gateway:
        nonlocal prepared
        prepared = True
        return gateway

    async with RuntimeApiEmulator(snap_start=True) as api:
        running = start(api, prepare, clock, snap_start=True)
        await api.at_restore.wait()
        assert prepared
        assert gateway.journal == []
        api.restore.set()
        call = await api.invoke(rest_event(), deadline=deadline).done()
        assert call.body == b"well"
        running.stop.set()
        assert await running.exit_code == 0
        assert api.violations == []
    assert gateway.journal == ["connect", "after_response", "close"]


async def test_without_a_snapshot_no_restore_is_asked_for(api: RuntimeApiEmulator, deadline: float) -> None:
    async with serving(api, SmallGateway(app)):
        await api.invoke(rest_event(), deadline=deadline).done()
    assert not api.at_restore.is_set()


@pytest.mark.parametrize("gateway", [SmallGateway(app, connecting=fails), failing_lifespan()])
async def test_a_failure_after_the_restore_has_its_own_report_and_exit_code(
    clock: ManualClock, gateway: SmallGateway
) -> None:
    async with RuntimeApiEmulator(snap_start=True) as api:
        api.restore.set()
        assert await start(api, lambda: gateway, clock, snap_start=True).exit_code == 65
        assert api.restore_error is not None
        assert api.restore_error["errorType"] == "Runtime.AfterRestoreError"
        assert (api.init_error, api.violations) == (None, [])


async def test_a_failure_before_the_snapshot_has_its_own_report_and_exit_code(clock: ManualClock) -> None:
    async with RuntimeApiEmulator(snap_start=True) as api:
        api.restore_fault = 500
        assert await start(api, lambda: SmallGateway(app), clock, snap_start=True).exit_code == 64
        assert api.init_error is not None
        assert api.init_error[0] == "Runtime.BeforeSnapshotError"
        assert api.violations == []


async def test_an_app_without_a_lifespan_is_served(api: RuntimeApiEmulator, deadline: float) -> None:
    async with serving(api, SmallGateway(app)):
        assert (await api.invoke(rest_event(), deadline=deadline).done()).body == b"well"


@pytest.mark.parametrize("phase", ["startup", "shutdown"])
async def test_what_fails_at_the_end_is_logged_and_the_rest_is_closed(
    api: RuntimeApiEmulator, clock: ManualClock, phase: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def lived(scope: Scope, receive: Receive, send: Send) -> None:
        assert (await receive())["type"] == "lifespan.startup"
        if phase == "startup":
            return await send({"type": "lifespan.nonsense"})
        await send({"type": "lifespan.startup.complete"})
        assert (await receive())["type"] == "lifespan.shutdown"
        return await send({"type": "lifespan.shutdown.failed", "message": ""})

    gateway = SmallGateway(lived, closing=fails)
    running = start(api, lambda: gateway, clock)
    await api.waits_for_polls(1)
    running.stop.set()
    assert await running.exit_code == 0
    assert gateway.journal == ["connect", "close"]
    assert caplog.text.count("did not close cleanly") == (2 if phase == "shutdown" else 1)


async def test_the_loop_outlives_a_fault_of_its_own(
    api: RuntimeApiEmulator, clock: ManualClock, deadline: float, caplog: pytest.LogCaptureFixture
) -> None:
    """A header that cannot be remembered stands for any fault outside the app."""
    gateway = SmallGateway(app)

    def refuse(header: str | None) -> None:
        if header is not None:
            raise ValueError("embedded null byte")

    running = start(api, lambda: gateway, clock, remember_trace=refuse)
    failed = await api.invoke(rest_event(), deadline=deadline, trace_id="odd").done()
    served = await api.invoke(rest_event(), deadline=deadline).done()
    running.stop.set()
    assert await running.exit_code == 0
    assert (failed.outcome, failed.error_type) == ("failed", "Function.ValueError")
    assert json.dumps(failed.error).count("null byte") == 0
    assert served.body == b"well"
    assert "the runtime loop failed" in caplog.text
