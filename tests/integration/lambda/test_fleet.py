"""Function processes come and go as requests need them, and a dead one is replaced."""

import asyncio
import os
import signal
from contextlib import AsyncExitStack
from subprocess import DEVNULL

import httpx
import pytest

from functions.local.emulator.environment import Function
from tests.support.lambda_front import VARIABLES, fleet_of, small_function


def client_of(url: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=url, timeout=30)


async def test_each_request_has_a_process_to_itself_and_idle_ones_are_used_again() -> None:
    async with (
        fleet_of(small_function(), most=2) as (url, fleet),
        client_of(url) as client,
    ):
        async with AsyncExitStack() as streams:
            answers = [await streams.enter_async_context(client.stream("POST", "/hold")) for _ in range(2)]
            pids = [int(await anext(answer.aiter_text())) for answer in answers]
            throttled = await client.get("/pid")
        assert pids == [each.pid for each in fleet.environments]
        assert (throttled.status_code, throttled.headers["retry-after"]) == (429, "1")
        fleet.environments[0].kill()
        again = [(await client.get("/pid")).json() for _ in range(2)]
    assert again[0] == again[1]
    assert again[0] not in pids


async def test_a_caller_learns_that_the_process_died_and_the_next_request_works(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with fleet_of(small_function()) as (url, _), client_of(url) as client:
        async with client.stream("POST", "/hold") as answer:
            parts = answer.aiter_text()
            pid = int(await anext(parts))
            os.kill(pid, signal.SIGKILL)
            with pytest.raises(httpx.RemoteProtocolError):
                await anext(parts)
        assert (await client.get("/pid")).json() != pid
    assert "ended with -9, by itself" in caplog.text


@pytest.mark.parametrize(
    ("program", "reason"), [("false", "ended with 1"), ("no-such-program", "No such file or directory")]
)
async def test_a_process_that_cannot_start_is_a_failure_of_ours(
    caplog: pytest.LogCaptureFixture, program: str, reason: str
) -> None:
    function = Function([program], VARIABLES, output=DEVNULL)
    async with fleet_of(function) as (url, _), client_of(url) as client:
        answer = await client.get("/pid")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal_error")
    assert reason in caplog.text


async def test_the_functions_timeout_ends_it(caplog: pytest.LogCaptureFixture) -> None:
    function = Function(["sleep", "60"], VARIABLES, timeout_s=0.05, output=DEVNULL)
    async with fleet_of(function) as (url, _), client_of(url) as client:
        answers = await asyncio.gather(client.get("/pid"), client.get("/pid"))
    assert [each.status_code for each in answers] == [504, 504]
    assert "timeout of 0.05 s" in caplog.text


async def test_where_a_process_serves_several_at_a_time_they_share_it() -> None:
    function = small_function(concurrency=4)
    async with fleet_of(function, most=1) as (url, _), client_of(url) as client:
        pids = await asyncio.gather(*(client.get("/pid") for _ in range(4)))
    assert len({each.json() for each in pids}) == 1
