"""The caller's side of the conversation: a plain OpenAI client that sends back what it got."""

import json
from typing import Any

from openai import AsyncOpenAI
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletion

from tests.support.vendors.rows import Row
from tests.support.vendors.talk import FOLLOW_UP, RESULTS, TOOLS


def members(row: Row) -> dict[str, Any]:
    """What a caller sends beside the messages, whoever serves: what a host does not take is the gateway's business."""
    wanted: dict[str, Any] = {
        "model": row.slug,
        "tools": TOOLS,
        "max_tokens": 4_000,
        "temperature": 0.5,
        "seed": 7,
        "user": "u-1",
        "parallel_tool_calls": True,
        "prompt_cache_key": "k",
        "service_tier": "auto",
    }
    if row.thinks:
        wanted["reasoning_effort"] = "medium"
    if not row.target.refuses("stop"):
        wanted["stop"] = ["END"]
    return wanted


async def ask(client: AsyncOpenAI, *, stream: bool, **request: Any) -> ChatCompletion:
    """One answer, put together by the SDK."""
    if not stream:
        whole: ChatCompletion = await client.chat.completions.create(**request)
        return whole
    state: ChatCompletionStreamState[Any] = ChatCompletionStreamState()
    async for chunk in await client.chat.completions.create(
        **request, stream=True, stream_options={"include_usage": True}
    ):
        if chunk.object == "chat.completion.chunk":
            state.handle_chunk(chunk)
    return state.get_final_completion()


def called(message: Any) -> list[str]:
    """The names of the tools that a message calls, each with arguments that parse."""
    calls = message.tool_calls or ()
    assert all(isinstance(json.loads(call.function.arguments), dict) for call in calls)
    return [call.function.name for call in calls]


def returned(message: Any) -> list[Any]:
    """The message as the SDK dumps it, and its calls' results in the other order, else what the user says to it."""
    results = [
        {"role": "tool", "tool_call_id": call.id, "content": RESULTS[call.function.name]}
        for call in message.tool_calls or ()
    ]
    return [message.model_dump(), *(reversed(results) if results else [FOLLOW_UP])]
