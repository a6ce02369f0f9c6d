"""Output types of `pydantic-ai`: by a tool and by the model's own structured output, whole and streamed."""

import asyncio
import json
import os

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput, ToolOutput
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.settings import ModelSettings

model = OpenAIChatModel(os.environ["MODEL"], settings=ModelSettings(max_tokens=1_000))
question = "Who wrote the first program?"


class Person(BaseModel):
    name: str
    age: int


print(json.dumps({"type": Agent(model, output_type=Person).run_sync(question).output.model_dump()}))
print(json.dumps({"tool": Agent(model, output_type=ToolOutput(Person)).run_sync(question).output.model_dump()}))
print(json.dumps({"native": Agent(model, output_type=NativeOutput(Person)).run_sync(question).output.model_dump()}))


async def main() -> None:
    async with Agent(model, output_type=Person).run_stream(question) as partial:
        async for _ in partial.stream_output():
            pass
        print(json.dumps({"streamed": (await partial.get_output()).model_dump()}))


asyncio.run(main())
