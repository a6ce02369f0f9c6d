"""The events of a stream as schemas: what stands in each `data:` line, one component per kind of frame."""

from typing import Final

import orjson

from core.surfaces.surface import Surface
from functions.gateway.openapi.answers import (
    CREATED,
    FINISH_ABOUT,
    FINISH_REASONS,
    RESPONSE_MODEL,
    notes,
    response_id,
)
from functions.gateway.openapi.example_answers import example_break, example_stream
from functions.gateway.openapi.shapes import (
    Schema,
    array,
    by_member,
    either,
    free,
    nullable,
    record,
    ref,
    text,
    whole,
    words,
)

_NO_USAGE: Final[Schema] = {"type": "null", "description": "Only with `include_usage`; the usage comes last."}


def frame_schemas(surface: Surface) -> dict[str, Schema]:
    """The components that describe a surface's stream."""
    frames = {"chat.completion.chunk": _chunk(surface), "error": _error(surface)}
    names = {"chat.completion.chunk": "Chunk", "error": "ErrorFrame"}
    if surface.own_frames:
        frames |= {"routing": _routing(surface), "usage": _usage(surface)}
        names |= {"routing": "RoutingFrame", "usage": "UsageFrame"}
    for shown in (*example_stream(surface), example_break(surface)):
        frames[shown["object"]].setdefault("examples", []).append(shown)
    full = {kind: f"{surface.name}.{name}" for kind, name in names.items()}
    payload = {
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": by_member("object", full),
    }
    return {
        **{full[kind]: shape for kind, shape in frames.items()},
        f"{surface.name}.Event": record(
            {"data": either({"const": "[DONE]"}, payload, about="A frame as JSON, or `[DONE]` at the end.")},
            ("data",),
            "One event of the stream. There are no `event:` and no `id:` lines; while there is nothing to send for "
            "15 seconds, the comment line `: processing` comes.",
            examples=[{"data": orjson.dumps(frame).decode()} for frame in example_stream(surface)]
            + [{"data": "[DONE]"}],
        ),
    }


def shared_frame_schemas() -> dict[str, Schema]:
    """The components of a stream that both surfaces have."""
    call = {
        "index": whole("Which call this belongs to.", low=0),
        "id": text("In the call's first delta.", pattern="^[A-Za-z0-9_-]{1,40}$"),
        "type": words("function", "custom", about="In the call's first delta."),
        "function": record({"name": text("In the call's first delta."), "arguments": text("A piece of the JSON.")}),
        "custom": record({"name": text("In the call's first delta."), "input": text("A piece of the text.")}),
    }
    return {
        "Delta": record(
            {
                "role": words("assistant", about="In the choice's first delta."),
                "content": nullable(text("A piece of the answer.")),
                "refusal": nullable(text("A piece of the refusal.")),
                "reasoning_content": text("A piece of the thinking."),
                "tool_calls": array(record(call, ("index",)), "A piece of one call.", least=1, most=1),
                "function_call": record({"name": text(), "arguments": text()}, about="For callers of `functions`."),
                "annotations": array(free(), "All of them, once."),
                "audio": free("A piece of the spoken answer, as the host sent it."),
            },
            about="What a chunk adds to its choice. Pieces of text are joined.",
        ),
        "ChunkChoice": record(
            {
                "index": whole("Which answer this belongs to.", low=0),
                "delta": ref("Delta"),
                "logprobs": nullable(ref("Logprobs")),
                "finish_reason": nullable(words(*FINISH_REASONS, about=f"{FINISH_ABOUT} Once per choice, else null.")),
            },
            ("index", "delta", "finish_reason"),
        ),
        "EmptyChoice": record(
            {
                "index": {"const": 0},
                "delta": {"type": "object", "maxProperties": 0},
                "finish_reason": {"type": "null"},
            },
            ("index", "delta", "finish_reason"),
            "Says nothing. It is there for loops that read `choices[0].delta` of every frame.",
        ),
    }


def _frame(surface: Surface, kind: str, members: dict[str, Schema], about: str) -> Schema:
    every = {"object": words(kind), "id": response_id(surface), "created": CREATED, "model": text(RESPONSE_MODEL)}
    optional = {"usage", *notes()} if kind != "usage" else set(notes())
    known = {**every, **members}
    return record(known, [name for name in known if name not in optional], about)


def _chunk(surface: Surface) -> Schema:
    members = {
        "choices": array(ref("ChunkChoice"), "Empty in the usage chunk.", most=1),
        "usage": nullable(ref("Usage", "With `include_usage`: null, and in the last chunk the usage.")),
        **notes(),
    }
    return _frame(surface, "chat.completion.chunk", members, "A piece of the answer.")


def _routing(surface: Surface) -> Schema:
    members = {
        "choices": array(ref("EmptyChoice"), least=1, most=1),
        "routing": ref("Routing"),
        "usage": _NO_USAGE,
        **notes(),
    }
    return _frame(surface, "routing", members, "The decision; before any content, once a model serves.")


def _usage(surface: Surface) -> Schema:
    members = {"choices": array(ref("EmptyChoice"), least=1, most=1), "usage": ref("Usage"), **notes()}
    return _frame(
        surface, "usage", members, "What the request is billed for; last. With `include_usage` a chunk has it instead."
    )


def _error(surface: Surface) -> Schema:
    members = {
        "choices": array(free(), "Empty.", most=0),
        "error": ref("StreamFailure"),
        "usage": ref("Usage", "What is charged all the same: only where a host had reported usage."),
    }
    return _frame(surface, "error", members, "The stream failed; what was sent before is not the whole answer.")
