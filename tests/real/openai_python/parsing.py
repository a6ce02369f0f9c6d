"""`parse()`: documents and arguments as pydantic objects, and such answers sent back."""

import asyncio
import json
import os
from enum import StrEnum

import openai
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel

MODEL = os.environ["MODEL"]
client = OpenAI()


class Person(BaseModel):
    name: str
    age: int


class Unit(StrEnum):
    celsius = "celsius"
    fahrenheit = "fahrenheit"


class GetWeather(BaseModel):
    """Get current temperature for a given location."""

    city: str
    unit: Unit


messages: list = [{"role": "user", "content": "Who wrote the first program? think"}]
answer = client.chat.completions.parse(model=MODEL, messages=messages, response_format=Person, max_tokens=500)
message = answer.choices[0].message
assert isinstance(message.parsed, Person)
print(json.dumps({"parsed": message.parsed.model_dump()}))

messages += [message.model_dump(), {"role": "user", "content": "Are you sure?"}]
again = client.chat.completions.parse(model=MODEL, messages=messages, response_format=Person, max_tokens=500)
print(json.dumps({"again": type(again.choices[0].message.parsed).__name__}))

with client.chat.completions.stream(model=MODEL, messages=messages, response_format=Person, max_tokens=500) as stream:
    streamed = stream.get_final_completion().choices[0].message
messages += [streamed, {"role": "user", "content": "Really?"}]
really = client.chat.completions.parse(model=MODEL, messages=messages, response_format=Person, max_tokens=500)
print(
    json.dumps({"streamed": type(streamed.parsed).__name__, "really": type(really.choices[0].message.parsed).__name__})
)


async def main() -> None:
    async with AsyncOpenAI() as other:
        question: list = [{"role": "user", "content": "What is the weather like in Rome?"}]
        tools = [openai.pydantic_function_tool(GetWeather)]
        called = await other.chat.completions.parse(model=MODEL, messages=question, tools=tools, max_tokens=1_000)
        said = called.choices[0].message
        call = said.tool_calls[0]
        assert isinstance(call.function.parsed_arguments, GetWeather)
        question += [said.model_dump(), {"role": "tool", "tool_call_id": call.id, "content": "18 degrees"}]
        question += [{"role": "tool", "tool_call_id": each.id, "content": "18 degrees"} for each in said.tool_calls[1:]]
        ended = await other.chat.completions.parse(model=MODEL, messages=question, tools=tools, stop=["falls"])
        print(
            json.dumps(
                {"arguments": type(call.function.parsed_arguments).__name__, "ended": ended.choices[0].message.content}
            )
        )


asyncio.run(main())
