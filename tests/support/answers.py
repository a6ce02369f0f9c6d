"""Answers of a scripted upstream that tests share: OpenAI chunks, in order."""

from collections.abc import Sequence
from typing import Any

from tests.support.script import Step, stream


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    """One chunk of choice 0."""
    return {
        "id": "up-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "small-upstream",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def usage_chunk(prompt: int = 31, completion: int = 64) -> dict[str, Any]:
    """The chunk with the usage."""
    return {
        "id": "up-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "small-upstream",
        "choices": [],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        },
    }


def text_answer(*words: str, wait: str | None = None, prompt: int = 31, completion: int = 64) -> list[Step]:
    """A complete streamed answer; `wait` halts before its usage."""
    return stream(
        chunk({"role": "assistant", "content": ""}),
        *[chunk({"content": word}) for word in words],
        chunk({}, "stop"),
        usage_chunk(prompt, completion),
        wait=wait,
    )


HELLO: Sequence[Step] = text_answer("Hello", " there", "!")
