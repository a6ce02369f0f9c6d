"""What a caller is told in the app's place is readable wherever in the stream it comes."""

import json

import pytest

from core.errors import GatewayError
from functions.gateway.streaming import last_words
from functions.gateway.streaming.last_words import DONE, deadline, envelope, frames, internal

BEFORE = [b"", b"data: {}\n\n", b"data: {}\n", b"data: {", b"data: {}\r\n\r\n", b"data: {}\r\n", b": processing\n\n"]


def events(stream: bytes) -> list[str]:
    """Reads an event stream line by line, as the HTML standard says."""
    found, data = [], list[str]()
    for line in stream.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if not line and data:
            found.append("\n".join(data))
            data = []
        elif line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))
    return found


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("error", [internal(), deadline()])
def test_an_error_is_a_frame_of_its_own_after_anything(before: bytes, error: GatewayError) -> None:
    *earlier, told, done = events(before + frames(error, "req-1", before))
    assert len(earlier) == (1 if before.startswith(b"data") else 0)
    assert done == "[DONE]"
    assert json.loads(told) == {
        "object": "error",
        "id": "req-1",
        "choices": [],
        "error": {"message": error.message, "type": error.type, "param": None, "code": error.code},
    }


@pytest.mark.parametrize("end", [b"data: [DONE]\n\n", b"data: [DONE]\r\n\r\n", b"x\n\ndata: [DONE]\n"])
def test_nothing_comes_after_the_end_marker(end: bytes) -> None:
    assert frames(internal(), "req-1", end) == b""


def test_the_tail_that_is_kept_is_enough_to_see_an_end_marker() -> None:
    from functions.gateway.streaming.cycle import _TAIL

    assert len(DONE.replace(b"\n", b"\r\n")) <= _TAIL


def test_the_envelope_is_that_of_the_contract() -> None:
    told = json.loads(envelope(last_words.deadline(), "req-2"))
    assert told["request_id"] == "req-2"
    assert set(told["error"]) == {"message", "type", "param", "code"}
    assert (told["error"]["type"], told["error"]["code"]) == ("timeout_error", "deadline_exceeded")
