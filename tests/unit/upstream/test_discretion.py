"""What a host repeats of the call is not told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.chat import Json
from core.errors import UpstreamRateLimited, UpstreamRejected
from core.providers.base import Credential
from core.providers.failure_words import general_words
from core.upstream.discretion import RUN, SHORTEST, STEP, quotes, silence
from tests.support.requests import ask

WORDS = general_words(UpstreamRejected)
KEY = Credential(key="a-key")


def told(message: str, messages: list[Json] | str = "Hi.", credential: Credential = KEY) -> str:
    error = UpstreamRejected(message)
    silence(error, ask(messages), credential)
    return error.message


def test_a_verdict_of_its_own_is_told() -> None:
    message = f"{WORDS} It says: temperature must be at most 2."
    assert told(message, "What is the temperature in a volcano?") == message
    assert told(WORDS) == WORDS


@pytest.mark.parametrize(
    "credential",
    [KEY, Credential(secret_key="a-key"), Credential(session_token="a-key"), Credential(key="a-key", access_key="x")],
)
def test_a_key_is_never_told(credential: Credential) -> None:
    assert told("It says: what is a-key?", credential=credential) == WORDS


def test_general_words_are_those_of_the_kind() -> None:
    error = UpstreamRateLimited("Slow down, a-key.")
    silence(error, ask(), KEY)
    assert error.message == general_words(UpstreamRateLimited)


TURN: dict[str, Json] = {
    "role": "assistant",
    "content": [{"type": "refusal", "refusal": "I would rather not."}],
    "reasoning_content": "They want a secret.",
    "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": "secret"}'}}],
}


@pytest.mark.parametrize(
    "quoted", ["I would rather not.", "They want a secret.", '{"a": "secret"}', "a question\tof mine"]
)
def test_every_text_of_the_caller_is_left_out(quoted: str) -> None:
    messages = [
        {"role": "user", "content": "a question\tof mine"},
        TURN,
        {"role": "tool", "tool_call_id": "1", "content": "x"},
    ]
    assert told(f"Cannot take: {' '.join(quoted.split())}!", messages) == WORDS


def test_media_and_short_texts_are_not_looked_for() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    messages = [{"role": "user", "content": [image, {"type": "text", "text": "x" * (SHORTEST - 1)}]}]
    message = f"Cannot take {'x' * (SHORTEST - 1)} or https://example.com/a.png"
    assert told(message, messages) == message


@given(
    prompt=st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=100, max_size=400),
    start=st.integers(0, 60),
)
def test_any_long_run_is_a_quotation(prompt: str, start: int) -> None:
    run = prompt[start : start + RUN + STEP - 1]
    assert quotes(f"It says: no {run}", ask(prompt))
