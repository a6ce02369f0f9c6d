"""Examples of requests: data, every one of them valid and answered by a model of the shipped catalog."""

from collections.abc import Mapping
from typing import Any, Final

EXAMPLE_MODEL: Final = "google/gemma-4-31b-it"

_WEATHER: Final = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather in a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
EXAMPLE_CALL: Final = {
    "id": "call_6f1c0a9e2b7d4c5f8a3e1d20",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city": "Rome"}'},
}

_REQUESTS: Final[Mapping[str, tuple[str, dict[str, Any]]]] = {
    "text": (
        "A question",
        {"model": EXAMPLE_MODEL, "messages": [{"role": "user", "content": "Why is the sky blue?"}]},
    ),
    "stream": (
        "A stream",
        {
            "model": EXAMPLE_MODEL,
            "stream": True,
            "max_completion_tokens": 500,
            "messages": [
                {"role": "system", "content": "Answer in one sentence."},
                {"role": "user", "content": "Why is the sky blue?"},
            ],
        },
    ),
    "tools": (
        "Tools to call",
        {
            "model": EXAMPLE_MODEL,
            "messages": [{"role": "user", "content": "Is it raining in Rome?"}],
            "tools": [_WEATHER],
            "tool_choice": "auto",
        },
    ),
    "tool_result": (
        "The result of a tool call",
        {
            "model": EXAMPLE_MODEL,
            "messages": [
                {"role": "user", "content": "Is it raining in Rome?"},
                {"role": "assistant", "content": None, "tool_calls": [EXAMPLE_CALL]},
                {"role": "tool", "tool_call_id": EXAMPLE_CALL["id"], "content": '{"sky": "clear", "celsius": 21}'},
            ],
            "tools": [_WEATHER],
        },
    ),
    "image": (
        "An image",
        {
            "model": EXAMPLE_MODEL,
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "What is in this picture?"},
                        {"type": "image_url", "image_url": {"url": "https://example.com/street.jpg", "detail": "low"}},
                    ],
                }
            ],
        },
    ),
    "schema": (
        "An answer in JSON",
        {
            "model": EXAMPLE_MODEL,
            "messages": [{"role": "user", "content": "Name three rivers of Italy, as JSON."}],
            "response_format": {
                "type": "json_schema",
                "json_schema": {
                    "name": "rivers",
                    "strict": True,
                    "schema": {
                        "type": "object",
                        "properties": {"rivers": {"type": "array", "items": {"type": "string"}}},
                        "required": ["rivers"],
                        "additionalProperties": False,
                    },
                },
            },
        },
    ),
    "routing": (
        "Bounds on routing",
        {
            "model": EXAMPLE_MODEL,
            "messages": [{"role": "user", "content": "Translate into French: good morning."}],
            "routing": {"max_cost_micros": 2_000, "deadline_ms": 20_000, "data": {"no_training": True}},
            "extended_thinking": False,
        },
    ),
}


def example_requests() -> dict[str, Any]:
    """The examples by name, as OpenAPI takes them."""
    return {name: {"summary": summary, "value": body} for name, (summary, body) in _REQUESTS.items()}
