"""Streams, as the documentation of `openai` shows them: the plain loop, with usage, and the `stream()` helper."""

import asyncio
import json
import os

from openai import AsyncOpenAI, OpenAI

MODEL = os.environ["MODEL"]
client = OpenAI()

text = ""
for chunk in client.chat.completions.create(
    model=MODEL, messages=[{"role": "user", "content": "Say this is a test"}], stream=True, max_tokens=12
):
    text += chunk.choices[0].delta.content or ""
print(json.dumps({"loop": text}))


async def main() -> None:
    async with AsyncOpenAI() as other:
        spoken, total = "", 0
        stream = await other.chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": "Say this is a test"}],
            stream=True,
            stream_options={"include_usage": True},
            max_tokens=12,
        )
        async for chunk in stream:
            if chunk.usage is not None:
                total = chunk.usage.total_tokens
            elif chunk.choices:
                spoken += chunk.choices[0].delta.content or ""
        print(json.dumps({"async": spoken, "total_tokens": total}))

        async with other.chat.completions.stream(
            model=MODEL, messages=[{"role": "user", "content": "Say this is a test"}], stop=["falls"]
        ) as events:
            kinds = [event.type async for event in events]
        print(json.dumps({"async_events": sorted(set(kinds))}))


asyncio.run(main())

messages = [{"role": "user", "content": "Say this is a test"}]
with client.chat.completions.stream(
    model=MODEL, messages=messages, stream_options={"include_usage": True}, stop=["falls"]
) as stream:
    spoken = "".join(event.delta for event in stream if event.type == "content.delta")
    final = stream.get_final_completion()
message = final.choices[0].message
assert final.usage is not None
print(
    json.dumps(
        {"helper": spoken == message.content, "final": message.content, "total_tokens": final.usage.total_tokens}
    )
)

# And on with the conversation.
messages += [message.model_dump(), {"role": "user", "content": "Say it again"}]
with client.chat.completions.stream(model=MODEL, messages=messages, stop=["falls"]) as stream:
    print(json.dumps({"again": stream.get_final_completion().choices[0].message.content}))
