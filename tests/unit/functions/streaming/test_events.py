"""Lambda events as ASGI scopes."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.gateway.deadline import DEADLINE
from functions.gateway.streaming.environment import RuntimeEnvironment
from functions.gateway.streaming.events import HttpRequest, UnsupportedEvent, http_request
from functions.gateway.streaming.invocation import Invocation, context_of
from functions.gateway.streaming.prelude import Payload
from tests.support.clock import START, ManualClock
from tests.support.lambda_events import rest_event, url_event


def read(event: object, state: dict[str, Any] | None = None) -> HttpRequest:
    data = event if isinstance(event, bytes) else json.dumps(event).encode()
    invocation = Invocation("r-1", START + 30, data)
    return http_request(invocation, context_of(invocation, RuntimeEnvironment("unused:1"), ManualClock()), state or {})


def header(request: HttpRequest, name: bytes) -> bytes:
    headers: dict[bytes, bytes] = {key: value for key, value in request.scope["headers"]}
    return headers[name]


@given(st.binary(max_size=200))
def test_the_body_arrives_as_it_was_sent(body: bytes) -> None:
    assert read(url_event(body)).body == body


@given(st.text(max_size=200))
def test_the_body_of_a_rest_api_arrives_as_text(text: str) -> None:
    assert read(rest_event(text.encode())).body == text.encode()


def test_a_rest_event() -> None:
    request = read(rest_event(headers={"Authorization": ["Bearer hr_x"], "Accept": ["a", "b"]}))
    assert request.payload is Payload.V1
    assert header(request, b"authorization") == b"Bearer hr_x"
    assert header(request, b"accept") == b"a, b"
    assert request.scope["query_string"] == b"tag=a&tag=b"
    assert "body" not in request.scope["aws.event"]


def test_a_function_url_event() -> None:
    request = read(url_event(cookies=("a=1", "b=2")))
    assert request.payload is Payload.V2
    assert header(request, b"cookie") == b"a=1; b=2"
    assert request.scope["server"] == ("abc.lambda-url.eu-central-1.on.aws", 80)


def test_an_http_api_may_send_the_old_format() -> None:
    request = read({**rest_event(), "version": "1.0"})
    assert (request.payload, request.scope["path"]) == (Payload.V1, "/v1/chat/completions")


def test_what_the_app_relies_on() -> None:
    state: dict[str, Any] = {"shared": object()}
    request = read(rest_event(), state)
    assert request.scope["asgi"] == {"version": "3.0", "spec_version": "2.4"}
    assert request.scope[DEADLINE] == START + 30
    assert request.scope["state"] == state
    assert request.scope["state"] is not state
    assert request.scope["aws.context"].get_remaining_time_in_millis() == 30_000


def test_a_caller_without_an_address() -> None:
    event = rest_event()
    del event["requestContext"]["identity"]
    assert read(event).scope["client"] is None


def test_a_request_without_a_body() -> None:
    assert read(rest_event(None)).body == b""
    assert read(url_event(None)).body == b""


@pytest.mark.parametrize(
    "event",
    [
        b"",
        b"[1]",
        b"null",
        b"{",
        {},
        {"Records": []},
        {"version": "2.0", "requestContext": None},
        {**url_event(), "headers": None},
    ],
)
def test_anything_else_is_refused_without_being_quoted(event: object) -> None:
    with pytest.raises(UnsupportedEvent) as refused:
        read(event)
    assert "Records" not in str(refused.value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    ["version", "resource", "requestContext", "http", "headers", "body", "path", "httpMethod"]
                ),
                inner,
            )
        ),
    )
)
def test_any_json_is_read_or_refused(event: object) -> None:
    with contextlib.suppress(UnsupportedEvent):
        read(event)


def test_no_time_is_left_after_the_deadline() -> None:
    context = context_of(Invocation("r-1", START - 5, b""), RuntimeEnvironment("unused:1"), ManualClock())
    assert context.get_remaining_time_in_millis() == 0
