"""Keys, prompts, thoughts and answers are found nowhere but where they belong: in answers, and sealed in the store.

Everything has a canary in it, and goes through success, every kind of failure, a spill and a fault of our own.
"""

import asyncio
import io
import json
import logging
import os
import zlib
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from aws_lambda_powertools import Logger

from core.administration.setup import save_own_key
from core.decision import OwnKeyUse, Policy
from core.ports import Store
from functions.gateway.logs import Logs
from functions.gateway.metrics import Metrics
from tests.support.answers import chunk, usage_chunk
from tests.support.away import AwayStore
from tests.support.gateway import Running, running_gateway
from tests.support.ministack import REGION, Ministack, running_ministack
from tests.support.script import Head, Received, Reset, Send, Step, reply, stream
from tests.support.upstream import ScriptedUpstream
from tests.support.watching import ACCEPTED

CANARY = "c4nary"
PROMPT = "c4nary-prompt"
ANSWER = "c4nary-answer"
THOUGHT = "c4nary-thought"
NAME = "c4nary-name"
PROVIDER = "sk-c4nary-provider-0123456789"
OWN = "sk-c4nary-own-0123456789-wxyz"

CATALOG = """
[vendors.lab]
format = "openai"
base_url = "{upstream}/v1"
key_env = "LAB_KEY"
quirks = ["reasoning_back"]

[[models]]
id = "lab/small"
context_tokens = 8192
max_output_tokens = 2048

[models.abilities]
tools = true
thinking = "always"

[[models.hosts]]
vendor = "lab"
upstream_model = "small-upstream"
prices = {{ input = 3, output = 15 }}
"""

TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
CALL = {"index": 0, "id": "up-call", "type": "function", "function": {"name": "look", "arguments": '{"a":"c4nary"}'}}
BROKEN = ("error in a 200", "error in the stream", "garbage", "text", "page", "redirect", "reset", "cut")
STATUSES = (400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 503, 529)


def echo(received: Received) -> dict[str, Any]:
    """An error that repeats all that it was sent."""
    said = f"{received.headers.get('authorization')} sent {received.body.decode()}"
    return {"error": {"message": said, "type": said, "code": None, "param": said}}


def script(received: Received) -> Sequence[Step]:
    """Does what the end user's name asks for."""
    case = received.json.get("user", "answer")
    if case.isdigit():
        return reply(echo(received), int(case), {"x-echo": received.body.decode()[:50], "retry-after": "60"})
    said = json.dumps(echo(received))
    match case:
        case "error in a 200":
            return reply(echo(received))
        case "error in the stream":
            return stream(chunk({"content": ANSWER}), echo(received))
        case "garbage":
            return [Head(200, {"content-type": "text/event-stream"}), Send(f"data: {said[:-9]}\n\n".encode())]
        case "text":
            return [Head(200, {"content-type": "text/plain"}), Send(said.encode())]
        case "page":
            return [Head(502, {"content-type": "text/html"}), Send(f"<h1>{said}</h1>".encode())]
        case "redirect":
            return [Head(302, {"location": f"http://127.0.0.1/{OWN}/{PROMPT}"}), Send(b"")]
        case "reset":
            return [Head(200, {"content-type": "text/event-stream"}), Reset()]
        case "cut":
            return stream(chunk({"content": ANSWER}), done=False)
        case "tools":
            thought, call = chunk({"reasoning_content": THOUGHT}), chunk({"tool_calls": [CALL]})
            return stream(thought, call, chunk({}, "tool_calls"), usage_chunk())
        case _:
            return stream(chunk({"reasoning_content": THOUGHT, "content": ANSWER}), chunk({}, "stop"), usage_chunk())


@dataclass(slots=True)
class Seen:
    """What came back, by whether it may hold an answer."""

    answers: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    metrics: list[str] = field(default_factory=list)
    spans: list[bytes] = field(default_factory=list)
    log: io.StringIO = field(default_factory=io.StringIO)

    def add(self, response: httpx.Response) -> httpx.Response:
        text = f"{response.headers}\n{response.text}"
        (self.answers if response.status_code == 200 else self.failures).append(text)
        return response


async def ask(running: Running, seen: Seen, case: str = "answer", **members: Any) -> httpx.Response:
    headers = members.pop("headers", {})
    messages = members.pop("messages", [{"role": "user", "content": PROMPT}])
    body = {"model": "lab/small", "messages": messages, "user": case, **members}
    async with running.client(**headers) as client:
        return seen.add(await client.post("/api/v1/inference/chat/completions", json=body))


def check_what_is_watched(seen: Seen, log: str, token: str) -> None:
    """Operators see that there were requests, and nothing of what was in them."""
    assert min(log.count('"message":"Request"'), len(seen.metrics)) > 60
    assert b"chat small-upstream" in b"".join(seen.spans)
    for secret in (CANARY, token, PROVIDER, OWN):
        assert secret not in log
        assert not [line for line in seen.metrics if secret in line]
        assert not [body for body in seen.spans if secret.encode() in body]


async def succeed(running: Running, seen: Seen) -> None:
    for is_stream in (False, True):
        named = {"idempotency-key": f"{NAME}-{is_stream}"}
        first = await ask(running, seen, headers=named, stream=is_stream)
        assert ANSWER in first.text
        assert (await ask(running, seen, headers=named, stream=is_stream)).content == first.content
        await ask(running, seen, "mismatch", headers=named, stream=is_stream)
    question = [{"role": "user", "content": PROMPT}]
    turn = (await ask(running, seen, "tools", tools=[TOOL])).json()["choices"][0]["message"]
    result = {"role": "tool", "tool_call_id": turn["tool_calls"][0]["id"], "content": PROMPT}
    # The client does not send the thinking back, so that it can only come from the memory.
    history = [*question, {"role": "assistant", "tool_calls": turn["tool_calls"]}, result]
    loop = await ask(running, seen, tools=[TOOL], messages=history)
    assert loop.status_code == 200
    assert "tool_memory" not in loop.json()["routing"]


async def fail(running: Running, seen: Seen) -> None:
    cases = [*map(str, STATUSES), *BROKEN]
    # At once, since each waits a little before it tries again.
    asked = [(case, ask(running, seen, case, stream=is_stream)) for case in cases for is_stream in (False, True)]
    for (case, _), response in zip(asked, await asyncio.gather(*(each for _, each in asked)), strict=True):
        assert response.status_code != 200 or '"object":"error"' in response.text, case
        if response.status_code == 200:  # what came before the failure was the caller's already
            seen.failures.append(response.text.partition('"object":"error"')[2])
    for members in ({"messages": PROMPT}, {"messages": [{"role": PROMPT, "content": PROMPT}]}, {"tools": PROMPT}):
        assert (await ask(running, seen, **members)).status_code == 400
    async with running.client() as client:
        url = "/api/v1/inference/chat/completions"
        seen.add(await client.post(url, content=f'{{"messages": "{PROMPT}'.encode()))
        seen.add(await client.post(url, content=b'{"c4nary": "\xff"}'))
    typed = {"traceparent": CANARY, "tracestate": f"{CANARY}=1", "user-agent": CANARY, "x-request-id": CANARY}
    async with running.client(**typed) as client:  # these answers name what their callers typed
        for path in (f"/v1/{CANARY}", f"/v1/models/{CANARY}", f"/v1/models?{CANARY}=1", f"/{CANARY}/{PROMPT}?a={OWN}"):
            await client.get(path)
        await client.request("PROPFIND", f"/{CANARY}")
        await client.post("/v1/chat/completions", json={"model": CANARY, "messages": [], CANARY: PROMPT})
    for token in (OWN, running.token[:-1], f"hr_{CANARY}"):
        async with running.client(authorization=f"Bearer {token}") as client:
            seen.add(await client.get("/v1/routing-decisions"))


async def spill_and_fault(running: Running, seen: Seen, away: AwayStore) -> None:
    away.away |= {"settle", "open", "finish", "remember"}
    await ask(running, seen, headers={"idempotency-key": f"{NAME}-spilled"})
    await ask(running, seen, "tools", tools=[TOOL])
    away.away.clear()
    turn = {"role": "assistant", "tool_calls": [{**CALL, "id": "call_unknown"}]}
    result = {"role": "tool", "tool_call_id": "call_unknown", "content": PROMPT}
    away.broken.add("recall")
    response = await ask(running, seen, tools=[TOOL], messages=[{"role": "user", "content": PROMPT}, turn, result])
    assert response.status_code == 500
    away.broken.clear()


class BreakableStore(AwayStore):
    """A store with a fault of its own, which says all that it was asked."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.broken: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        if name in self.broken:
            return self._break
        return super().__getattr__(name)

    async def _break(self, *args: Any) -> None:
        raise RuntimeError("a fault of the store's")


@contextmanager
def logged(text: io.StringIO) -> Iterator[io.StringIO]:
    """All that is logged, by anybody, as it is written."""
    Logger(service="headrace", level="DEBUG")  # so that it is there
    journal = logging.getLogger("headrace")
    handlers = {logging.getLogger(): logging.StreamHandler(text), journal: logging.StreamHandler(text)}
    handlers[journal].setFormatter(journal.handlers[0].formatter)
    levels = {logger: logger.level for logger in handlers}
    for logger, handler in handlers.items():
        handler.addFilter(lambda record: record.name != "httpx")  # the test's own client names what it asks for
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    yield text
    for logger, handler in handlers.items():
        logger.removeHandler(handler)
        logger.setLevel(levels[logger])


@asynccontextmanager
async def used_gateway(folder: Path, use: OwnKeyUse, variables: dict[str, str], seen: Seen) -> AsyncIterator[Running]:
    """A gateway that was put through everything."""
    stores: list[BreakableStore] = []

    def breakable(store: Store) -> Any:
        stores.append(BreakableStore(store))
        return stores[0]

    async with (
        ScriptedUpstream(script) as upstream,
        ScriptedUpstream(ACCEPTED, checks=False) as collector,
        running_gateway(
            folder,
            upstream.url,
            catalog=CATALOG,
            variables={
                "LAB_KEY": PROVIDER,
                "HEADRACE_TRACES": "otlp",
                "HEADRACE_TRACES_ENDPOINT": f"{collector.url}/v1/traces",
                **variables,
            },
            replace_store=breakable,
            journal=Logs("DEBUG"),
            observers=(Logs("DEBUG", stream=seen.log), Metrics("headrace", seen.metrics.append)),
        ) as running,
    ):
        await running.store.save_policy("default", Policy(own_keys=use, max_attempts=2))
        await save_own_key(running.gateway.office, "default", "lab", OWN)
        await succeed(running, seen)
        await fail(running, seen)
        await spill_and_fault(running, seen, stores[0])
        await running.gateway.after_response()
        sent = [received.headers["authorization"] for received in upstream.received]
        assert {f"Bearer {OWN}"} <= {*sent}
        assert any(THOUGHT in received.body.decode() for received in upstream.received), "the memory gave it back"
        yield running
        await running.gateway.after_response()
        seen.spans += [received.body for received in collector.received]


async def check_what_is_told(running: Running, seen: Seen) -> None:
    records = await running.store.records("default", 500)
    assert len(records) > 40
    assert CANARY not in repr(records)
    async with running.client() as client:
        told = [await client.get("/v1/routing-decisions?limit=100")]
        told += [await client.get(f"/v1/routing-decisions/{record.request_id}") for record in records[:20]]
        told += [await client.get(path) for path in ("/v1/models", "/v1/usage", "/v1/credits")]
    assert all(response.status_code == 200 for response in told)
    seen.failures += [response.text for response in told]
    for text in seen.failures:
        assert CANARY not in text
    for text in seen.answers:
        assert not any(secret in text for secret in (OWN, PROVIDER, running.token))


async def test_on_one_machine_nothing_is_found(tmp_path: Path) -> None:
    seen = Seen()
    with logged(seen.log) as log:
        async with used_gateway(tmp_path, OwnKeyUse.ONLY, {}, seen) as running:
            await check_what_is_told(running, seen)
            token = running.token
    assert "ledger_spill" in log.getvalue()
    assert "a fault of the store's" in log.getvalue()
    check_what_is_watched(seen, log.getvalue(), token)
    files = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    assert {"headrace.db", "seal.key"} <= files.keys()
    for secret in (CANARY, token):
        assert [name for name, data in files.items() if secret.encode() in data] == []


@pytest.fixture(scope="module")
def ministack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ministack]:
    with running_ministack(tmp_path_factory.mktemp("ministack")) as server:
        yield server


async def test_on_aws_nothing_is_found(tmp_path: Path, ministack: Ministack, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_ENDPOINT_URL": ministack.endpoint,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }.items():
        monkeypatch.setenv(name, value)
    client, kms = ministack.client(), boto3.Session().client("kms")
    config, ledger = ministack.tables(client)
    variables = {
        "HEADRACE_STORE": "dynamodb",
        "HEADRACE_CONFIG_TABLE": config,
        "HEADRACE_LEDGER_TABLE": ledger,
        "HEADRACE_KMS_KEY": kms.create_key()["KeyMetadata"]["KeyId"],
    }
    seen = Seen()
    with logged(seen.log) as log:
        async with used_gateway(tmp_path, OwnKeyUse.FIRST, variables, seen) as running:
            await check_what_is_told(running, seen)
            token = running.token
    items = [item for table in (config, ledger) for item in await asyncio.to_thread(everything_in, client, table)]
    kinds = {item["pk"]["S"].partition("#")[0] for item in items}
    assert {"ANSWER", "TOOL", "REQ", "ORG", "KEY"} <= kinds
    check_what_is_watched(seen, log.getvalue(), token)
    for secret in (CANARY, token):
        assert [item["pk"] for item in items if secret in readable(item)] == []
    kms.close()
    client.close()


def everything_in(client: Any, table: str) -> list[dict[str, Any]]:
    return [item for page in client.get_paginator("scan").paginate(TableName=table) for item in page["Items"]]


def readable(value: Any) -> str:
    """An item in full, with what is compressed in it."""
    if isinstance(value, dict):
        return " ".join(f"{name} {readable(each)}" for name, each in value.items())
    if isinstance(value, list):
        return " ".join(map(readable, value))
    if isinstance(value, bytes):
        return zlib.decompress(value).decode()
    return str(value)
