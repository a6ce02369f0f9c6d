"""A question and its answer, as the README of `openai` shows it, with both of its clients."""

import asyncio
import json
import os

from openai import AsyncOpenAI, OpenAI

MODEL = os.environ["MODEL"]

client = OpenAI()
completion = client.chat.completions.create(
    model=MODEL,
    messages=[
        {"role": "developer", "content": "Talk like a pirate."},
        {"role": "user", "content": "How do I check if a Python object is an instance of a class?"},
    ],
    max_completion_tokens=12,
)
usage = completion.usage
assert usage is not None
print(
    json.dumps(
        {
            "id": completion.id,
            "model": completion.model,
            "text": completion.choices[0].message.content,
            "finish_reason": completion.choices[0].finish_reason,
            "tokens": [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens],
            "cached": usage.prompt_tokens_details and usage.prompt_tokens_details.cached_tokens,
            "request_id": completion._request_id,
        }
    )
)


async def main() -> None:
    async with AsyncOpenAI() as other:
        chosen = await other.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": "Say this is a test"}], max_tokens=12, n=1
        )
    print(json.dumps({"text": chosen.choices[0].message.content}))


asyncio.run(main())

raw = client.chat.completions.with_raw_response.create(
    model=MODEL, messages=[{"role": "user", "content": "Say this is a test"}], max_tokens=12
)
print(json.dumps({"header": raw.headers["x-request-id"], "text": raw.parse().choices[0].message.content}))
