"""The sample events are what AWS sends, and the handlers that they are for handle them; the local settings fit."""

import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mangum import Mangum
from mangum.types import (
    LambdaCognitoIdentity,
    LambdaContext,
    LambdaMobileClientContext,
    Receive,
    Scope,
    Send,
)

from core.ports import Store
from core.store.dynamodb_items import Attributes, record_of
from functions.gateway.buffered import BufferedHandler
from functions.gateway.clock import SystemClock
from functions.gateway.compose import Gateway, open_store
from functions.local.emulator.runtime_api import RuntimeApiEmulator
from functions.local.keys import create_key
from functions.rollup.handler import RollupHandler
from functions.settings import read_settings
from functions.sweeper.handler import SweeperHandler
from tests.contracts.values import open_record
from tests.support.answers import HELLO
from tests.support.gateway import CATALOG
from tests.support.runtime_process import serving
from tests.support.stack import ROOT, Stack
from tests.support.upstream import ScriptedUpstream

EVENTS = ROOT / "infra/events"
MODEL = "lab/event"


def event(name: str) -> Any:
    return json.loads((EVENTS / f"{name}.json").read_text("utf-8"))


async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
    """An app that is never called."""


class Context:
    """What Lambda tells a handler of the invocation."""

    function_name = "gateway"
    function_version = "1"
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:gateway:live"
    memory_limit_in_mb = 1024
    aws_request_id = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
    log_group_name = "gateway"
    log_stream_name = "1"
    identity: LambdaCognitoIdentity | None = None
    client_context: LambdaMobileClientContext | None = None

    def get_remaining_time_in_millis(self) -> int:
        return 60_000


@pytest.mark.parametrize(
    ("name", "kind", "method", "path"),
    [
        ("chat_rest", "APIGateway", "POST", "/v1/chat/completions"),
        ("chat_rest_stream", "APIGateway", "POST", "/v1/chat/completions"),
        ("chat_function_url", "HTTPGateway", "POST", "/v1/chat/completions"),
        ("health_rest", "APIGateway", "GET", "/healthz"),
    ],
)
async def test_an_event_is_read_as_the_request_that_it_stands_for(name: str, kind: str, method: str, path: str) -> None:
    context: LambdaContext = Context()
    # Outside a running loop Mangum would make one of its own, and nobody would close it.
    handler = Mangum(nothing, lifespan="off").infer(event(name), context)
    assert type(handler).__name__ == kind
    assert (handler.scope["method"], handler.scope["path"]) == (method, path)
    if method == "POST":
        assert json.loads(handler.body)["messages"]


class Answering:
    """The gateway behind both handlers, with a store of its own and an upstream that answers."""

    def __init__(self, folder: Path, upstream: str) -> None:
        variables = {"HEADRACE_SQLITE_PATH": str(folder / "headrace.db")}
        catalog = CATALOG.replace("lab/small", MODEL).format(upstream=upstream)
        self.gateway = Gateway(read_settings(variables), variables, own_catalog=(("test.toml", catalog),))
        self._folder = folder

    def event(self, name: str) -> Any:
        """An event with a key and a model that are there."""
        text = (EVENTS / f"{name}.json").read_text("utf-8")
        return json.loads(text.replace("hr_put_a_key_of_yours_here", self._key()).replace("auto", MODEL))

    def _key(self) -> str:
        async def make() -> str:
            store = open_store(read_settings({"HEADRACE_SQLITE_PATH": str(self._folder / "headrace.db")}))
            token, _ = await create_key(store, "default", "tests")
            await store.close()
            return token

        return asyncio.run(make())


@pytest.mark.parametrize("name", ["chat_rest", "chat_rest_stream", "chat_function_url", "health_rest"])
def test_the_buffered_handler_answers_a_request(tmp_path: Path, name: str) -> None:
    with ScriptedUpstream(HELLO) as upstream:
        answering = Answering(tmp_path, upstream.url)
        asked = answering.event(name)
        handler = BufferedHandler(lambda: answering.gateway)
        try:
            answer = handler(asked, Context())
        finally:
            handler.close()
            asyncio.set_event_loop(None)
    assert answer["statusCode"] == 200
    assert said_hello(name, answer["body"])


@pytest.mark.parametrize("name", ["chat_rest", "chat_rest_stream", "chat_function_url", "health_rest"])
async def test_the_streaming_function_answers_a_request(tmp_path: Path, name: str) -> None:
    with ScriptedUpstream(HELLO) as upstream:
        answering = Answering(tmp_path, upstream.url)
        asked = await asyncio.to_thread(answering.event, name)
        async with RuntimeApiEmulator() as api, serving(api, answering.gateway, SystemClock()):
            call = await api.invoke(asked, deadline=time.time() + 60).done()
    assert call.prelude is not None
    assert call.prelude["statusCode"] == 200
    assert said_hello(name, call.body.decode())


def said_hello(name: str, body: str) -> bool:
    """Whether a body is the answer to an event, in the form that this asks for."""
    match name:
        case "health_rest":
            return bool(json.loads(body) == {"status": "ok"})
        case "chat_rest_stream":
            return body.count("data: {") > 3 and body.endswith("data: [DONE]\n\n")
        case _:
            return bool(json.loads(body)["choices"][0]["message"]["content"] == "Hello there!")


def test_the_rollup_counts_what_was_settled_among_changes_of_the_ledger() -> None:
    counted: list[Attributes] = []

    class Totals:
        async def count(self, records: Sequence[Attributes]) -> None:
            counted.extend(records)

    handler = RollupHandler(Totals)
    assert handler(event("ledger_changes"), Context()) == {"batchItemFailures": []}
    records = [record_of(each) for each in counted]
    assert [record.is_settled for record in records] == [True, True]
    assert len(event("ledger_changes")["Records"]) == 3


def test_the_sweeper_settles_what_is_open_when_the_schedule_calls_it(tmp_path: Path) -> None:
    settings = read_settings({"HEADRACE_SQLITE_PATH": str(tmp_path / "headrace.db")})

    async def left_open(store: Store) -> None:
        await store.open(open_record(1))
        await store.close()

    asyncio.run(left_open(open_store(settings)))
    handler = SweeperHandler(lambda: open_store(settings))
    assert handler(event("schedule"), Context())["settled"] == 1


def test_the_local_settings_change_only_what_the_template_sets(stack: Stack) -> None:
    variables = stack.gateway()["Properties"]["Environment"]["Variables"]
    for function, settings in event("local").items():
        assert function in stack.of_type("AWS::Lambda::Function")
        assert settings.keys() <= variables.keys()


def test_locally_the_buffered_handler_runs() -> None:
    assert event("local")["GatewayFunction"]["AWS_LAMBDA_EXEC_WRAPPER"] == ""
