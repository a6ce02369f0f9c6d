"""A tool loop through the whole gateway, with a plain OpenAI client, at every kind of row that the catalog has.

The model calls two tools at once, gets their results in the other order, calls a third, and answers. The vendors behind
check what theirs check: seals byte for byte, places of results, ids, schemas, parameters, credentials.
"""

from typing import Any

import pytest
from openai import AsyncOpenAI
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletion

from tests.integration.formats.conftest import Street
from tests.support.vendors.rows import ROWS, Row
from tests.support.vendors.talk import OPENING, RESULTS, SCRIPT, TOOLS

pytestmark = pytest.mark.asyncio(loop_scope="module")

SURFACES = {False: "/v1", True: "/api/v1/inference"}


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


def returned(message: Any) -> list[Any]:
    """The message as the SDK dumps it, and its calls' results in the other order."""
    results = [
        {"role": "tool", "tool_call_id": call.id, "content": RESULTS[call.function.name]}
        for call in message.tool_calls or ()
    ]
    return [message.model_dump(), *reversed(results)]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.slug)
async def test_a_tool_loop_goes_round(street: Street, row: Row, stream: bool) -> None:
    vendor = street.vendor(row.slug)
    client = street.sdk[SURFACES[stream]]
    messages: list[Any] = [*OPENING]
    for number, spoken in enumerate(SCRIPT):
        answer = await ask(client, stream=stream, messages=messages, **members(row))
        (choice,) = answer.choices
        assert (choice.message.content or "") == spoken.text
        calls = [(call.function.name, call.function.arguments) for call in choice.message.tool_calls or ()]
        assert [name for name, _ in calls] == [name for name, _ in spoken.calls]
        assert choice.finish_reason == ("tool_calls" if spoken.calls else "stop")
        assert answer.usage is not None
        assert answer.usage.completion_tokens == 20
        assert len(vendor.served) == number + 1
        messages += returned(choice.message)
    assert vendor.refused == []
