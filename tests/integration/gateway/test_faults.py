"""The fault matrix: what can go wrong at a host, before and after the commit, with and without another host to go to.

For each the caller's outcome, the attempts, the charge and the fate of the upstream connection are looked at.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.answers import HELLO, chunk
from tests.support.clock import ManualClock
from tests.support.gateway import Running, running_gateway
from tests.support.script import Head, Never, Raw, Reset, Send, Step, Trickle, reply
from tests.support.upstream import ScriptedUpstream

TWO_HOSTS = """
[vendors.first]
format = "openai"
base_url = "{upstream}"
auth = "none"

[vendors.second]
format = "openai"
base_url = "http://second.invalid"
auth = "none"

[[models]]
id = "lab/one"
context_tokens = 8192
max_output_tokens = 2048
[[models.hosts]]
vendor = "first"
upstream_model = "small-upstream"
prices = {{ input = 3, output = 15 }}

[[models]]
id = "lab/two"
context_tokens = 8192
max_output_tokens = 2048
[[models.hosts]]
vendor = "first"
upstream_model = "small-upstream"
prices = {{ input = 3, output = 15 }}
[[models.hosts]]
vendor = "second"
upstream_model = "small-upstream"
prices = {{ input = 3, output = 15 }}
"""

SSE = Head(200, {"content-type": "text/event-stream"})
TOKEN = Send(f"data: {json.dumps(chunk({'content': 'Hel'}))}\n\n".encode())


@dataclass(frozen=True)
class Fault:
    """A fault before any token: `tries` at its host, the attempts' outcome, and what a caller sees who has no other.

    `moves_on` says whether another host may be asked.
    """

    script: Sequence[Step]
    outcome: str
    tries: int
    status: int
    code: str
    moves_on: bool = True


def error(status: int, code: str | None = None, **headers: str) -> list[Step]:
    return reply({"error": {"message": "the host's own words", "code": code}}, status, headers)


def in_stream(payload: object) -> list[Step]:
    return [SSE, Send(f"data: {json.dumps(payload)}\n\n".encode())]


FAILED = "all_attempts_failed"
RETRIED = 2  # one short retry, then the next
FAULTS = {
    "cut before the head": Fault([Reset()], "upstream_error", RETRIED, 502, FAILED),
    "400": Fault(error(400), "upstream_error", 1, 400, "invalid_value", moves_on=False),
    "401": Fault(error(401), "upstream_error", 1, 502, "upstream_error"),
    "402": Fault(error(402), "upstream_error", 1, 502, "upstream_error"),
    "403": Fault(error(403), "upstream_error", 1, 502, "upstream_error"),
    "404": Fault(error(404), "upstream_error", 1, 502, "upstream_error"),
    "408": Fault(error(408), "upstream_error", RETRIED, 502, FAILED),
    "413": Fault(error(413), "upstream_error", 1, 400, "invalid_value", moves_on=False),
    "422": Fault(error(422), "upstream_error", 1, 400, "invalid_value", moves_on=False),
    "429 for an hour": Fault(error(429, **{"retry-after": "3600"}), "rate_limited", 1, 429, "upstream_rate_limited"),
    "429 for the bill": Fault(error(429, "insufficient_quota"), "upstream_error", 1, 502, "upstream_error"),
    "500": Fault(error(500), "upstream_error", RETRIED, 502, FAILED),
    "502": Fault(error(502), "upstream_error", RETRIED, 502, FAILED),
    "503": Fault(error(503), "upstream_error", RETRIED, 502, FAILED),
    "529": Fault(error(529), "upstream_error", RETRIED, 502, FAILED),
    "too long": Fault(
        error(400, "context_length_exceeded"), "context_too_long", 1, 400, "context_length_exceeded", moves_on=False
    ),
    "html under 200": Fault(
        [Head(200, {"content-type": "text/html"}), Send(b"<html>Bad gateway</html>")],
        "upstream_error",
        RETRIED,
        502,
        FAILED,
    ),
    "error under 200": Fault(error(200), "upstream_error", RETRIED, 502, FAILED),
    "error in the stream": Fault(
        in_stream({"error": {"message": "overloaded", "code": 503}}), "upstream_error", RETRIED, 502, FAILED
    ),
    "empty stream": Fault([SSE], "interrupted", RETRIED, 502, FAILED),
    "only done": Fault([SSE, Send(b"data: [DONE]\n\n")], "upstream_error", RETRIED, 502, FAILED),
    "no content": Fault(
        [SSE, Send(f"data: {json.dumps(chunk({}, 'stop'))}\n\ndata: [DONE]\n\n".encode())],
        "no_content",
        RETRIED,
        502,
        FAILED,
    ),
    "garbage": Fault([SSE, Send(b"data: {not json}\n\n")], "upstream_error", RETRIED, 502, FAILED),
    "binary": Fault([SSE, Send(b"data: \xff\xfe\n\n")], "upstream_error", RETRIED, 502, FAILED),
    "not HTTP": Fault([Raw(b"SSH-2.0-OpenSSH\r\n\r\n")], "interrupted", RETRIED, 502, FAILED),
    "redirect": Fault(
        [Head(302, {"location": "http://127.0.0.1:1/"}, "length"), Send(b"")], "upstream_error", RETRIED, 502, FAILED
    ),
}


def body(model: str, is_stream: bool) -> dict[str, Any]:
    return {"model": model, "stream": is_stream, "messages": [{"role": "user", "content": "Hello?"}]}


async def ask(
    running: Running, model: str, is_stream: bool, clock: ManualClock, longest_wait_s: float = 1.0
) -> tuple[int, str]:
    """Ask, and let time pass where the gateway waits at most `longest_wait_s`: between tries, not for answers."""
    async with running.client() as client:
        asking = asyncio.ensure_future(client.post("/v1/chat/completions", json=body(model, is_stream)))
        while not asking.done():
            await asyncio.wait({asking}, timeout=0.01)
            due = clock.due_in()
            if due is not None and due <= longest_wait_s:
                await clock.advance(due)
        response = asking.result()
    return response.status_code, response.text


async def check_closed(upstream: ScriptedUpstream) -> None:
    for request in upstream.received:
        if not request.answered.is_set():
            await request.disconnected.wait()


@pytest.mark.parametrize("is_stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("name", FAULTS)
async def test_alone(tmp_path: Path, name: str, is_stream: bool) -> None:
    fault, clock = FAULTS[name], ManualClock()
    async with (
        ScriptedUpstream(fault.script) as upstream,
        running_gateway(tmp_path, upstream.url, clock=clock, catalog=TWO_HOSTS) as running,
    ):
        status, text = await ask(running, "lab/one", is_stream, clock)
        (record,) = await running.store.records("default", 10)
        await check_closed(upstream)
    assert (status, json.loads(text)["error"]["code"]) == (fault.status, fault.code)
    assert [row.outcome for row in record.attempts] == [fault.outcome] * fault.tries
    assert (record.outcome, record.error_code) == ("failed", fault.code)
    assert record.charge is not None
    assert record.charge.total == 0
    assert "first" not in text
    assert "own words" not in text or status == 400


@pytest.mark.parametrize("is_stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("name", FAULTS)
async def test_with_another_host(tmp_path: Path, name: str, is_stream: bool) -> None:
    fault, clock = FAULTS[name], ManualClock()
    async with (
        ScriptedUpstream(fault.script) as first,
        ScriptedUpstream(HELLO) as second,
        running_gateway(
            tmp_path, first.url, clock=clock, catalog=TWO_HOSTS.replace("http://second.invalid", second.url)
        ) as running,
    ):
        status, text = await ask(running, "lab/two", is_stream, clock)
        (record,) = await running.store.records("default", 10)
        await check_closed(first)
    if not fault.moves_on:
        assert status == fault.status
        assert second.received == []
        return
    assert status == 200
    assert "Hello" in text
    assert [row.outcome for row in record.attempts] == [*[fault.outcome] * fault.tries, "served"]
    assert [row.charged for row in record.attempts] == [*[False] * fault.tries, True]
    assert record.charge is not None
    assert record.charge.total == 1_053


AFTER: dict[str, tuple[Sequence[Step], str, str]] = {
    "reset": ([SSE, TOKEN, Reset()], "interrupted", "stream_error"),
    "end": ([SSE, TOKEN], "interrupted", "stream_error"),
    "error event": (
        [SSE, TOKEN, Send(b'data: {"error": {"message": "overloaded", "code": 503}}\n\n')],
        "upstream_error",
        "upstream_error",
    ),
    "garbage": ([SSE, TOKEN, Send(b"data: {oops\n\n")], "upstream_error", "upstream_error"),
}


@pytest.mark.parametrize("name", AFTER)
async def test_after_the_commit_of_a_stream(tmp_path: Path, name: str) -> None:
    script, code, kind = AFTER[name]
    clock = ManualClock()
    async with (
        ScriptedUpstream(script) as first,
        ScriptedUpstream(HELLO) as second,
        running_gateway(
            tmp_path, first.url, clock=clock, catalog=TWO_HOSTS.replace("http://second.invalid", second.url)
        ) as running,
    ):
        status, text = await ask(running, "lab/two", True, clock)
        (record,) = await running.store.records("default", 10)
        await check_closed(first)
    frames = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
    assert status == 200
    assert frames[0]["choices"][0]["delta"]["content"] == "Hel"
    assert (frames[-1]["error"]["code"], frames[-1]["error"]["type"]) == (code, kind)
    assert text.endswith("data: [DONE]\n\n")
    assert second.received == []
    assert (record.outcome, record.error_code) == ("interrupted", code)
    assert record.charge is not None
    assert record.charge.total == 0


@pytest.mark.parametrize("name", AFTER)
async def test_in_the_middle_of_a_whole_answer(tmp_path: Path, name: str) -> None:
    script, _, _ = AFTER[name]
    clock = ManualClock()
    async with (
        ScriptedUpstream(script) as first,
        ScriptedUpstream(HELLO) as second,
        running_gateway(
            tmp_path, first.url, clock=clock, catalog=TWO_HOSTS.replace("http://second.invalid", second.url)
        ) as running,
    ):
        status, text = await ask(running, "lab/two", False, clock)
        await check_closed(first)
    assert status == 200
    assert json.loads(text)["choices"][0]["message"]["content"] == "Hello there!"


async def test_a_host_that_is_silent_forever_is_left(tmp_path: Path) -> None:
    clock = ManualClock()
    async with (
        ScriptedUpstream([Never()]) as first,
        ScriptedUpstream(HELLO) as second,
        running_gateway(
            tmp_path, first.url, clock=clock, catalog=TWO_HOSTS.replace("http://second.invalid", second.url)
        ) as running,
    ):
        asking = asyncio.ensure_future(ask(running, "lab/two", True, clock))
        await first.arrival().wait()
        await clock.advance(12)
        status, _ = await asking
        (record,) = await running.store.records("default", 10)
        await check_closed(first)
    assert status == 200
    assert [row.outcome for row in record.attempts] == ["first_token_timeout", "served"]


async def test_a_host_that_falls_silent_after_the_commit(tmp_path: Path) -> None:
    clock = ManualClock()
    async with (
        ScriptedUpstream([SSE, TOKEN, Never()]) as upstream,
        running_gateway(tmp_path, upstream.url, clock=clock, catalog=TWO_HOSTS) as running,
        running.client() as client,
        client.stream("POST", "/v1/chat/completions", json=body("lab/one", True)) as response,
    ):
        received = response.aiter_bytes()
        text = await anext(received)
        await clock.advance(60)
        text += b"".join([part async for part in received])
        await check_closed(upstream)
    assert text.count(b": processing\n") >= 3
    assert b'"code":"silent_upstream"' in text
    assert text.endswith(b"data: [DONE]\n\n")


async def test_a_host_that_sends_byte_by_byte_is_waited_for(tmp_path: Path) -> None:
    payload = f"data: {json.dumps(chunk({'content': 'Hel'}, 'stop'))}\n\ndata: [DONE]\n\n".encode()
    async with (
        ScriptedUpstream([SSE, Trickle(payload)]) as upstream,
        running_gateway(tmp_path, upstream.url, catalog=TWO_HOSTS) as running,
        running.client() as client,
    ):
        response = await client.post("/v1/chat/completions", json=body("lab/one", False))
    assert response.json()["choices"][0]["message"]["content"] == "Hel"


@pytest.mark.parametrize("address", ["http://nowhere.invalid", "https://127.0.0.1:1"])
async def test_a_name_that_is_not_known_and_a_port_that_is_not_open(tmp_path: Path, address: str) -> None:
    async with (
        running_gateway(tmp_path, address, catalog=TWO_HOSTS) as running,
        running.client() as client,
    ):
        response = await client.post("/v1/chat/completions", json=body("lab/one", False))
    assert (response.status_code, response.json()["error"]["code"]) == (502, FAILED)


async def test_a_host_that_speaks_no_tls(tmp_path: Path) -> None:
    async with (
        ScriptedUpstream([Never()]) as upstream,
        running_gateway(tmp_path, upstream.url.replace("http:", "https:"), catalog=TWO_HOSTS) as running,
        running.client() as client,
    ):
        response = await client.post("/v1/chat/completions", json=body("lab/one", False))
    assert (response.status_code, response.json()["error"]["code"]) == (502, FAILED)
