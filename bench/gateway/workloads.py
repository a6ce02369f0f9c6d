"""What is asked, and what the scripted upstream answers; both sides know it by the script's name in the prompt."""

from dataclasses import dataclass
from typing import Any, Final

import orjson

CHUNKS: Final = 100
PACED_CHUNKS: Final = 50
PACE_S: Final = 0.010
ARGUMENT_PIECES: Final = 10

MARK: Final = b"script="
MODEL: Final = "bench/m0"

_USAGE: Final = {"prompt_tokens": 250, "completion_tokens": 100, "total_tokens": 350}
_TOOLS: Final = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "Looks something up.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    }
    for name in ("weather", "traffic", "events")
]


@dataclass(frozen=True, slots=True)
class Workload:
    """One kind of request.

    `token` is what the first token of its answer holds on the wire, `tokens` how often a whole answer does;
    `chunks` counts those that a stream brings, 0 for a whole answer.
    """

    name: str
    script: str
    size: int
    stream: bool
    token: bytes
    tokens: int
    chunks: int = 0
    tools: bool = False

    @property
    def is_paced(self) -> bool:
        """Whether its chunks come one by one."""
        return self.script == "paced"

    def body(self, model: str = MODEL) -> bytes:
        """The request's body, of the size that was asked for."""
        body: dict[str, Any] = {"model": model, "messages": [], "max_tokens": 500}
        if self.stream:
            body["stream"] = True
        if self.tools:
            body["tools"] = _TOOLS
        prompt = MARK.decode() + self.script + "; "
        room = self.size - len(orjson.dumps({**body, "messages": [{"role": "user", "content": prompt}]}))
        words = "Tell me how rivers shape the land that they cross. "
        text = (words * (max(0, room) // len(words) + 1))[: max(0, room)]
        return orjson.dumps({**body, "messages": [{"role": "user", "content": prompt + text}]})


WHOLE: Final = Workload("1 KB, whole answer", "whole", 1024, False, b'"content":"', 1)
LARGE: Final = Workload("1 MB, whole answer", "whole", 1024 * 1024, False, b'"content":"', 1)
BURST: Final = Workload("100 chunks at once", "burst", 1024, True, b'"content":" word', CHUNKS, CHUNKS)
PACED: Final = Workload("50 chunks, 10 ms apart", "paced", 1024, True, b'"content":" word', PACED_CHUNKS, PACED_CHUNKS)
TOOLS: Final = Workload(
    "tool call in 10 chunks", "tools", 1024, True, b'"arguments":"piece', ARGUMENT_PIECES, ARGUMENT_PIECES, tools=True
)
WORKLOADS: Final = (WHOLE, BURST, PACED, TOOLS, LARGE)


def whole_answer() -> bytes:
    """A whole answer's body."""
    message = {"role": "assistant", "content": " word" * CHUNKS}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return orjson.dumps({**_identity("chat.completion"), "choices": [choice], "usage": _USAGE})


def streamed(script: str) -> list[bytes]:
    """The events of a script's stream, the last with all that ends it."""
    match script:
        case "tools":
            call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "weather", "arguments": ""}}
            deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None, "tool_calls": [call]}]
            piece = {"tool_calls": [{"index": 0, "function": {"arguments": "piece"}}]}
            deltas += [piece] * ARGUMENT_PIECES
        case "whole":
            deltas = [{"role": "assistant", "content": " word" * CHUNKS}]
        case _:
            count = PACED_CHUNKS if script == "paced" else CHUNKS
            deltas = [{"role": "assistant", "content": ""}, *({"content": f" word{n}"} for n in range(count))]
    events = [_event([{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}]) for delta in deltas]
    reason = "tool_calls" if script == "tools" else "stop"
    end = _event([{"index": 0, "delta": {}, "logprobs": None, "finish_reason": reason}])
    return [*events, end + _event([], usage=_USAGE) + b"data: [DONE]\n\n"]


def _event(choices: list[Any], **more: Any) -> bytes:
    return b"data: " + orjson.dumps({**_identity("chat.completion.chunk"), "choices": choices, **more}) + b"\n\n"


def _identity(kind: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-ByZ2mC5QxLrPq8v1TzKf0aYd",
        "object": kind,
        "created": 1_764_500_000,
        "model": "m0-2026-11-30",
        "system_fingerprint": "fp_44709d6fcb",
        "service_tier": "default",
    }
