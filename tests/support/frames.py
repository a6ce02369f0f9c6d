"""Reads our streams as clients do: frames, put together by an assembler of our own and by the openai package."""

from typing import Any

import orjson
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk, ParsedChatCompletion

from core.chat import Json

DONE = "[DONE]"


def frames_of(data: bytes) -> list[Json]:
    """The JSON of every frame, and `[DONE]`; each frame is one `data:` line and an empty one, and nothing else."""
    assert data.endswith(b"\n\n")
    read: list[Json] = []
    for frame in data[:-2].split(b"\n\n"):
        assert frame.startswith(b"data: ")
        assert b"\n" not in frame
        text = frame.removeprefix(b"data: ")
        read.append(DONE if text == b"[DONE]" else orjson.loads(text))
    return read


def assembled(frames: list[Json]) -> dict[int, dict[str, Json]]:
    """Each choice's message, finish reason and logprobs, added up from its deltas."""
    choices: dict[int, dict[str, Json]] = {}
    for frame in frames:
        if frame == DONE or frame["object"] != "chat.completion.chunk":
            continue
        for piece in frame["choices"]:
            choice = choices.setdefault(piece["index"], {"message": {}, "finish_reason": None, "logprobs": None})
            _add(choice["message"], piece["delta"])
            if piece["finish_reason"] is not None:
                assert choice["finish_reason"] is None, "finish_reason is there twice"
                choice["finish_reason"] = piece["finish_reason"]
            for name, tokens in (piece.get("logprobs") or {}).items():
                together = choice["logprobs"] = choice["logprobs"] or {"content": None, "refusal": None}
                if tokens is not None:
                    together[name] = (together[name] or []) + tokens
    return choices


def _add(message: dict[str, Json], delta: dict[str, Json]) -> None:
    for name, value in delta.items():
        match name:
            case "tool_calls":
                calls = message.setdefault("tool_calls", [])
                assert len(value) == 1, "one tool call per delta"
                _add_call(calls, value[0])
            case "role" | "annotations":
                assert name not in message, f"{name} is there twice"
                message[name] = value
            case "audio" | "function_call":
                _add_strings(message.setdefault(name, {}), value)
            case _:
                # A null opens a choice and says nothing.
                message[name] = value if message.get(name) is None else message[name] + value


def _add_call(calls: list[Json], piece: dict[str, Json]) -> None:
    index = piece["index"]
    assert type(index) is int
    if "id" in piece:
        assert index == len(calls), "calls open in order"
        calls.append({name: value for name, value in piece.items() if name != "index"})
        return
    kind = calls[index]["type"]
    assert set(piece) == {"index", kind}
    _add_strings(calls[index][kind], piece[kind])


def _add_strings(into: dict[str, Json], piece: dict[str, Json]) -> None:
    for name, value in piece.items():
        into[name] = into[name] + value if name in into else value


def read_by_openai(frames: list[Json]) -> ParsedChatCompletion[Any]:
    """The completion that the openai package makes of a stream, as its `stream()` does."""
    state: ChatCompletionStreamState[Any] = ChatCompletionStreamState()
    for frame in frames:
        if frame != DONE and frame["object"] == "chat.completion.chunk":
            list(state.handle_chunk(ChatCompletionChunk.construct(**frame)))
    return state.current_completion_snapshot
