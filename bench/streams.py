"""What upstreams send, in every wire format: a stream of as many text chunks as are asked for, a read for each."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson

from tests.support.bedrock_frames import events

SSE: Final = "text/event-stream"
EVENT_STREAM: Final = "application/vnd.amazon.eventstream"

WHOLE: Final = orjson.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "384,400 km."}, "finish_reason": "stop"},
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14},
    }
)
"""A whole answer in the OpenAI format."""


def _openai(chunks: int) -> list[bytes]:
    def chunk(delta: Mapping[str, Any], reason: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        body = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
        return _sse(body | more)

    usage = {"prompt_tokens": 9, "completion_tokens": chunks, "total_tokens": 9 + chunks}
    end = chunk({}, "stop") + chunk({}, None, choices=[], usage=usage) + b"data: [DONE]\n\n"
    return [chunk({"role": "assistant", "content": ""}), *(chunk({"content": word(n)}) for n in range(chunks)), end]


def _anthropic(chunks: int) -> list[bytes]:
    def event(kind: str, **members: Any) -> bytes:
        return f"event: {kind}\n".encode() + _sse({"type": kind, **members})

    message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "m"}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 9, "output_tokens": 1}}
    block = event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    deltas = ({"type": "text_delta", "text": word(n)} for n in range(chunks))
    ending = {"stop_reason": "end_turn", "stop_sequence": None}
    return [
        event("message_start", message=message) + block,
        *(event("content_block_delta", index=0, delta=delta) for delta in deltas),
        event("content_block_stop", index=0)
        + event("message_delta", delta=ending, usage={"output_tokens": chunks})
        + event("message_stop"),
    ]


def _gemini(chunks: int) -> list[bytes]:
    def chunk(text: str, tokens: int, **ending: str) -> bytes:
        candidate = {"content": {"parts": [{"text": text}], "role": "model"}, "index": 0, **ending}
        usage = {"promptTokenCount": 9, "candidatesTokenCount": tokens, "totalTokenCount": 9 + tokens}
        return _sse({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": "r1"})

    return [*(chunk(word(n), n + 1) for n in range(chunks)), chunk("", chunks, finishReason="STOP")]


def _bedrock(chunks: int) -> list[bytes]:
    usage = {"inputTokens": 9, "outputTokens": chunks, "totalTokens": 9 + chunks}
    deltas = ({"contentBlockIndex": 0, "delta": {"text": word(n)}, "p": "abc"} for n in range(chunks))
    return [
        events(("messageStart", {"role": "assistant", "p": "abcdefgh"})),
        *(events(("contentBlockDelta", delta)) for delta in deltas),
        events(
            ("contentBlockStop", {"contentBlockIndex": 0, "p": "abcde"}),
            ("messageStop", {"stopReason": "end_turn", "p": "ab"}),
            ("metadata", {"usage": usage, "metrics": {"latencyMs": 900}, "p": "abcdef"}),
        ),
    ]


STREAMS: Final[Mapping[str, tuple[str, Callable[[int], list[bytes]]]]] = {
    "openai": (SSE, _openai),
    "anthropic": (SSE, _anthropic),
    "gemini": (SSE, _gemini),
    "bedrock": (EVENT_STREAM, _bedrock),
}
"""By wire format: the content type, and what makes the reads of a stream of so many chunks."""


def word(number: int) -> str:
    """A chunk's text."""
    return f" word{number % 10}"


def _sse(body: Any) -> bytes:
    return b"data: " + orjson.dumps(body) + b"\n\n"
