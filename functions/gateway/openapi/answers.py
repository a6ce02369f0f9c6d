"""A whole answer as schemas: choices, messages and calls in OpenAI's shape, and the usage object."""

from typing import Final

from core.chat import FinishReason
from core.surfaces.surface import Surface
from functions.gateway.openapi.shapes import (
    Schema,
    anything,
    array,
    free,
    nullable,
    number,
    record,
    ref,
    text,
    whole,
    words,
)

FINISH_REASONS: Final = (*(reason.value for reason in FinishReason), "function_call")
FINISH_ABOUT: Final = (
    "Why the answer ended. `length`: the limit was reached. `content_filter`: the model declined. "
    "`function_call`: for callers who used `functions`."
)
CREATED: Final = whole("When the request came in, in Unix seconds.")
RESPONSE_MODEL: Final = "The model that served, by its catalog id; on the plain surface the name that the request gave."

_COUNT: Final = whole(low=0)
_EXTRA: Final = "Other counts of the host's stand here too."


def notes() -> dict[str, Schema]:
    """What a host may add to an answer, and to the chunks of one."""
    return {
        "system_fingerprint": nullable(text("The host's mark of what answered.")),
        "service_tier": nullable(text("The host's class of service that was used.")),
        "moderation": anything("What the host judged, where the request asked for it."),
        "metadata": anything("The labels of the request, where the host sends them back."),
    }


def response_id(surface: Surface) -> Schema:
    """The id of a response in the surface's form."""
    return text("The id of the response.", pattern=f"^{surface.id_prefix}[0-9a-f]{{32}}$")


def answer_schemas(surface: Surface) -> dict[str, Schema]:
    """The component that describes a surface's whole answer."""
    members = {
        "id": response_id(surface),
        "object": words("chat.completion"),
        "created": CREATED,
        "model": text(RESPONSE_MODEL),
        "choices": array(ref("Choice"), "The answers, `n` of them."),
        "usage": ref("Usage"),
    }
    if surface.own_frames:
        members["routing"] = ref("Routing")
    return {
        f"{surface.name}.ChatCompletion": record({**members, **notes()}, list(members), "A whole answer."),
    }


def shared_answer_schemas() -> dict[str, Schema]:
    """The components of an answer that both surfaces have."""
    return {
        "Choice": record(
            {
                "index": _COUNT,
                "message": ref("AnswerMessage"),
                "logprobs": nullable(ref("Logprobs")),
                "finish_reason": words(*FINISH_REASONS, about=FINISH_ABOUT),
            },
            ("index", "message", "logprobs", "finish_reason"),
            "One answer.",
        ),
        "AnswerMessage": record(
            {
                "role": words("assistant"),
                "content": nullable(text("The answer itself.")),
                "refusal": nullable(text("Why the model declined, in its words.")),
                "reasoning_content": text("The model's thinking, where its host shows it."),
                "tool_calls": array(ref("ToolCall"), least=1),
                "function_call": record(
                    {"name": text(), "arguments": text("JSON, as the model wrote it.")},
                    ("name", "arguments"),
                    "For callers who used `functions`.",
                ),
                "annotations": array(free(), "Sources and the like, as the host sent them."),
                "audio": free("A spoken answer, as the host sent it: `id`, `data`, `expires_at`, `transcript`."),
            },
            ("role", "content", "refusal"),
            "What the model says. It can be sent back as it is.",
        ),
        "ToolCall": record(
            {
                "id": text("Unique, and made by the gateway.", pattern="^[A-Za-z0-9_-]{1,40}$"),
                "type": words("function", "custom"),
                "function": record(
                    {"name": text(), "arguments": text("JSON, as the model wrote it.")}, ("name", "arguments")
                ),
                "custom": record({"name": text(), "input": text()}, ("name", "input")),
            },
            ("id", "type"),
            "A call that the model made: of a `function`, or of a `custom` tool.",
            oneOf=[{"required": ["function"]}, {"required": ["custom"]}],
        ),
        "Logprobs": record(
            {
                "content": nullable(array(free(), "One entry per token of `content`.")),
                "refusal": nullable(array(free(), "One entry per token of `refusal`.")),
            },
            ("content", "refusal"),
            "Log probabilities, as the host sent them.",
        ),
        "Usage": _usage(),
    }


def _usage() -> Schema:
    always = {
        "prompt_tokens": whole("All input, cached tokens among it.", low=0),
        "completion_tokens": whole("All output, thinking among it.", low=0),
        "total_tokens": whole("Both together.", low=0),
        "prompt_tokens_details": record(
            {
                "cached_tokens": whole("Read from the host's cache.", low=0),
                "cache_write_tokens": whole("Written to it.", low=0),
                "audio_tokens": _COUNT,
                "image_tokens": _COUNT,
            },
            ("cached_tokens", "cache_write_tokens", "audio_tokens"),
            _EXTRA,
        ),
        "completion_tokens_details": record(
            {"reasoning_tokens": _COUNT, "audio_tokens": _COUNT}, ("reasoning_tokens", "audio_tokens"), _EXTRA
        ),
        "cost_micros": nullable(whole("What was charged, in micro-dollars; null while a price is unknown.", low=0)),
        "cost": nullable(number("The same in US dollars.")),
        "cost_details": nullable(
            record(
                {
                    "input_cost": number(),
                    "output_cost": number(),
                    "request_cost": number("What the request costs whatever its tokens come to, where it does."),
                    "guardrail_cost": number(),
                    "total_cost": number("The sum of the others, exact in decimal digits."),
                },
                ("input_cost", "output_cost", "guardrail_cost", "total_cost"),
                "The parts of `cost`.",
            )
        ),
        "latency_ms": whole("Wall time of the request, in milliseconds.", low=0),
    }
    sometimes = {
        "ttft_ms": whole("Time to the first token, in milliseconds; for streams.", low=0),
        "truncated": words("max_tokens", about="The answer was cut at the limit."),
        "dropped_params": array(
            text(), "Fields of the request that were accepted and not forwarded, as dotted names, sorted.", least=1
        ),
        "structured_output_repair": words(
            "fence", "commentary", "reasked", about="How the JSON was taken out of the answer."
        ),
        "estimated": {"const": True, "description": "The host reported no usage; these numbers are counted."},
        "pricing_unknown": {"const": True, "description": "The price is not known, so the cost is null."},
    }
    return record(
        {**always, **sometimes},
        list(always),
        "What the request is billed for. The members that are not required are there only when they say something.",
    )
