"""Agents of `pydantic-ai`: text and tools, whole and streamed, with the history of earlier runs."""

import asyncio
import json
import os

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.settings import ModelSettings

model = OpenAIChatModel(os.environ["MODEL"])

agent = Agent(model, instructions="Be concise, reply with one sentence.", model_settings=ModelSettings(max_tokens=12))
result = agent.run_sync('Where does "hello world" come from?')
print(json.dumps({"text": result.output, "tokens": result.usage.total_tokens}))
again = agent.run_sync("Say it again", message_history=result.new_messages())
print(json.dumps({"again": again.output}))

weather = Agent(model, instructions="Use the tool.", model_settings=ModelSettings(max_tokens=200))


@weather.tool_plain
def get_weather(city: str) -> str:
    """Get the current weather in a given city."""
    return f"18 degrees in {city}"


ran = weather.run_sync("What is the weather like in Paris and Rome? think")
print(json.dumps({"tools": ran.output, "requests": ran.usage.requests}))
later = weather.run_sync("And in Oslo?", message_history=ran.all_messages())
print(json.dumps({"later": later.output}))


async def main() -> None:
    async with agent.run_stream("Say this is a test") as streamed:
        pieces = [piece async for piece in streamed.stream_text(delta=True)]
    print(json.dumps({"stream": "".join(pieces), "tokens": streamed.usage.total_tokens}))

    async with weather.iter("What is the weather like in Rome?") as run:
        kinds = [type(node).__name__ async for node in run]
    assert run.result is not None
    print(json.dumps({"nodes": kinds, "output": run.result.output}))

    async with weather.run_stream("What is the weather like in Oslo?") as streamed:
        print(json.dumps({"streamed": await streamed.get_output()}))


asyncio.run(main())
