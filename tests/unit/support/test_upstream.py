"""The scripted upstream does to a client exactly what its script says."""

import asyncio
import json
import socket
from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from tests.support.openai_checks import refusal
from tests.support.script import (
    Close,
    Head,
    Never,
    Raw,
    Received,
    Reset,
    Script,
    Send,
    Signal,
    Step,
    Trickle,
    Wait,
    reply,
    stream,
)
from tests.support.upstream import ScriptedUpstream, refusing

ASK = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def client(upstream: ScriptedUpstream) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=upstream.url, timeout=10)


@pytest.mark.parametrize("framing", ["chunked", "length", "close"])
@pytest.mark.parametrize("part", [Send(b"hello"), Trickle(b"hello")])
async def test_every_framing_carries_the_body(framing: Any, part: Step) -> None:
    script: list[Step] = [Head(201, {"x-a": "b"}, framing), part, Send(b" world")]
    async with ScriptedUpstream(script) as upstream, client(upstream) as http:
        for _ in range(2):
            answer = await http.get("/x?y=1")
            assert (answer.status_code, answer.headers["x-a"]) == (201, "b")
            assert answer.content == b"hello world"
        assert [(r.method, r.path) for r in upstream.received] == [("GET", "/x?y=1")] * 2
        assert upstream.connections == (2 if framing == "close" else 1)
        await upstream.received[0].answered.wait()


async def test_a_script_halts_at_its_barriers_and_events() -> None:
    event = asyncio.Event()
    script: list[Step] = [Head(), Send(b"a"), Wait("half"), Send(b"b"), Wait(event), Send(b"c")]
    async with (
        ScriptedUpstream(script) as upstream,
        client(upstream) as http,
        http.stream("GET", "/") as answer,
    ):
        body = answer.aiter_raw()
        assert await anext(body) == b"a"
        await upstream.barrier("half").reached.wait()
        assert not upstream.received[0].answered.is_set()
        upstream.barrier("half").released.set()
        assert await anext(body) == b"b"
        event.set()
        assert await anext(body) == b"c"
        assert [part async for part in body] == []


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ([Head(), Send(b"a"), Close()], httpx.RemoteProtocolError),
        ([Head(framing="length", length=9), Send(b"a"), Close()], httpx.RemoteProtocolError),
        ([Head(), Raw(b"nonsense\r\n"), Close()], httpx.RemoteProtocolError),
        ([Close()], httpx.RemoteProtocolError),
        ([Reset()], httpx.ReadError),
        ([Head(), Reset()], httpx.ReadError),
    ],
)
async def test_a_broken_answer_is_broken(script: Script, error: type[Exception]) -> None:
    async with ScriptedUpstream(script) as upstream, client(upstream) as http:
        with pytest.raises(error):
            await http.get("/")


async def test_what_was_sent_before_a_close_arrives() -> None:
    got = bytearray()

    async def read(http: httpx.AsyncClient) -> None:
        async with http.stream("GET", "/") as answer:
            async for part in answer.aiter_raw():
                got.extend(part)

    script: list[Step] = [Head(), Send(b"a" * 100_000), Close()]
    async with ScriptedUpstream(script) as upstream, client(upstream) as http:
        with pytest.raises(httpx.RemoteProtocolError):
            await read(http)
    assert got == b"a" * 100_000


async def test_it_notices_a_caller_who_leaves() -> None:
    async with ScriptedUpstream([Head(), Send(b"a"), Never()]) as upstream:
        async with client(upstream) as http:
            async with http.stream("GET", "/") as answer:
                assert await anext(answer.aiter_raw()) == b"a"
                assert not upstream.received[0].disconnected.is_set()
            await upstream.received[0].disconnected.wait()
        assert not upstream.received[0].answered.is_set()


async def test_it_notices_a_caller_who_leaves_while_bytes_flow() -> None:
    async def endless(upstream: ScriptedUpstream) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", upstream.port)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        await reader.readexactly(1000)
        writer.transport.abort()

    script: list[Step] = [Head(framing="close"), *[Send(b"x" * 100_000)] * 200]
    async with ScriptedUpstream(script) as upstream:
        await endless(upstream)
        await upstream.received[0].disconnected.wait()


async def test_a_peer_who_does_not_read_does_not_hold_the_server() -> None:
    script: list[Step] = [Head(framing="close"), *[Send(b"x" * 100_000)] * 200]
    async with ScriptedUpstream(script) as upstream:
        reader, writer = await asyncio.open_connection("127.0.0.1", upstream.port, limit=1)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        await reader.readexactly(1)
    writer.transport.abort()


async def test_a_script_that_never_answers_leaves_with_the_server() -> None:
    async with ScriptedUpstream([Never()]) as upstream, client(upstream) as http:
        asking = asyncio.create_task(http.get("/"))
        await upstream.arrival().wait()
        assert not asking.done()
        await upstream.__aexit__(None, None, None)
        with pytest.raises(httpx.RemoteProtocolError):
            await asking


async def test_scripts_follow_each_other_and_may_depend_on_the_request() -> None:
    def echo(request: Received) -> Sequence[Step]:
        return reply({"got": request.json})

    async with ScriptedUpstream(reply({}, 503), echo) as upstream, client(upstream) as http:
        assert (await http.get("/")).status_code == 503
        for number in range(2):
            answer = await http.post("/", json={"n": number})
            assert answer.json() == {"got": {"n": number}}
    with pytest.raises(ValueError, match="script"):
        ScriptedUpstream()


async def test_a_request_in_chunks_is_read() -> None:
    async def body() -> Any:
        yield b"[1,"
        yield b"2]"

    async with ScriptedUpstream(reply({})) as upstream, client(upstream) as http:
        await http.post("/", content=body())
        assert upstream.received[0].json == [1, 2]


async def test_a_fault_in_a_script_fails_the_test() -> None:
    def faulty(request: Received) -> Sequence[Step]:
        raise LookupError("wrong path")

    upstream = ScriptedUpstream(faulty)
    await upstream.__aenter__()
    async with client(upstream) as http:
        with pytest.raises(httpx.RemoteProtocolError):
            await http.get("/")
    with pytest.raises(LookupError, match="wrong path"):
        await upstream.__aexit__(None, None, None)


async def test_a_stream_of_events() -> None:
    script = stream({"n": 1}, {"n": 2}, wait="last")
    async with (
        ScriptedUpstream(script) as upstream,
        client(upstream) as http,
        http.stream("POST", "/v1/chat/completions", json=ASK | {"stream": True}) as answer,
    ):
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.aiter_lines()
        assert await anext(lines) == 'data: {"n": 1}'
        upstream.barrier("last").released.set()
        rest = [line async for line in lines if line]
        assert rest == ['data: {"n": 2}', "data: [DONE]"]
    assert stream({}, done=False) == stream({})[:-1]


def test_in_a_thread_for_blocking_clients() -> None:
    with ScriptedUpstream([Head(), Wait("go"), Send(b"a")]) as upstream:
        upstream.barrier("go").released.set()
        assert httpx.get(upstream.url).content == b"a"
        upstream.received[0].disconnected.wait_in_thread()


def test_a_signal_happens_once() -> None:
    signal = Signal()
    assert not signal.is_set()
    signal.set()
    signal.set()
    assert signal.is_set()


def test_an_address_that_refuses() -> None:
    with refusing() as url, pytest.raises(httpx.ConnectError):
        httpx.get(url)


def test_a_caller_who_leaves_before_asking_is_no_fault() -> None:
    with ScriptedUpstream(reply({})) as upstream:
        with socket.create_connection(("127.0.0.1", upstream.port)) as left:
            left.sendall(b"GET / HT")
        assert httpx.get(upstream.url).json() == {}


def request(body: object, path: str = "/v1/chat/completions", method: str = "POST", **headers: str) -> Received:
    sent = {"content-type": "application/json; charset=utf-8", "authorization": "Bearer k"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Received(method, path, sent | named, raw, Signal())


@pytest.mark.parametrize(
    "fine",
    [
        request(ASK),
        request(ASK, accept="application/json"),
        request(ASK | {"stream": True, "stream_options": {"include_usage": True}}),
        request(ASK | {"stream": True}, accept="text/event-stream"),
        request(ASK | {"stream": True}, accept="application/json"),
        request(ASK | {"max_tokens": 1, "max_completion_tokens": None}),
        request(b"", "/v1/models", "GET"),
    ],
)
def test_what_an_openai_server_takes(fine: Received) -> None:
    assert refusal(fine, "k") is None


@pytest.mark.parametrize(
    ("wrong", "status", "words"),
    [
        (request(ASK, authorization="Bearer x"), 401, "API key"),
        (request(b"", "/v1/models", "GET", authorization="k"), 401, "API key"),
        (request(b"", method="GET"), 405, "POST"),
        (request(ASK, content_type="text/plain"), 400, "Content-Type"),
        (request(b"{"), 400, "not JSON"),
        (request([ASK]), 400, "not an object"),
        (request(ASK, accept="text/event-stream"), 400, "Accept"),
        (request(ASK | {"stream": True}, accept="text/html"), 400, "Accept"),
        (request(ASK | {"stream_options": {}}), 400, "stream_options"),
        (request(ASK | {"model": None}), 400, "model"),
        (request(ASK | {"messages": []}), 400, "messages"),
        (request(ASK | {"messages": [{"role": "bot"}]}), 400, "role 'bot'"),
        (request(ASK | {"messages": ["hi"]}), 400, "role None"),
        (request(ASK | {"max_tokens": 1, "max_completion_tokens": 1}), 400, "exclude"),
    ],
)
def test_what_an_openai_server_refuses(wrong: Received, status: int, words: str) -> None:
    refused = refusal(wrong, "k")
    assert refused is not None
    assert refused[0] == status
    assert words in refused[1]


async def test_refused_requests_use_no_script() -> None:
    async with ScriptedUpstream(reply({"ok": 1})) as upstream, client(upstream) as http:
        answer = await http.post("/v1/chat/completions", json={})
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, None)
        assert (await http.post("/v1/chat/completions", json=ASK)).json() == {"ok": 1}
        assert upstream.refused == ["model is required"]
    async with ScriptedUpstream(reply({}), checks=False) as upstream, client(upstream) as http:
        assert (await http.post("/v1/chat/completions", json={})).status_code == 200
