"""A host that gives as many answers as it is asked for."""

from typing import Any

from tests.support.answers import chunk, usage_chunk
from tests.support.script import Received, Step, stream


def chunks(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """The chunks of the answers to a request's body, the usage last."""
    said = [chunk({"role": "assistant", "content": "Hello!"}), chunk({}, "stop")]
    numbered = [
        {**each, "choices": [{**each["choices"][0], "index": index}]}
        for each in said
        for index in range(asked.get("n") or 1)
    ]
    return [*numbered, usage_chunk()]


def answer(received: Received) -> list[Step]:
    """The script of the answers."""
    return stream(*chunks(received.json))
