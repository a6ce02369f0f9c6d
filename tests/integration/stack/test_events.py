"""The sample events are what AWS sends, and the local settings fit the template."""

import json
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

from tests.support.stack import ROOT, Stack

EVENTS = ROOT / "infra/events"


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


def test_the_local_settings_change_only_what_the_template_sets(stack: Stack) -> None:
    variables = stack.gateway()["Properties"]["Environment"]["Variables"]
    for function, settings in event("local").items():
        assert function in stack.of_type("AWS::Lambda::Function")
        assert settings.keys() <= variables.keys()


def test_locally_the_buffered_handler_runs() -> None:
    assert event("local")["GatewayFunction"]["AWS_LAMBDA_EXEC_WRAPPER"] == ""
