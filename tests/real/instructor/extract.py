"""Extraction with `instructor` in the modes that bind the model to a schema: whole, partial, many and not blocking."""

import asyncio
import json
import os
from collections.abc import Iterable

import instructor
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel

MODEL = os.environ["MODEL"]


class Person(BaseModel):
    name: str
    age: int


question = [{"role": "user", "content": "Extract: Ada is 36 years old."}]

for mode in (instructor.Mode.TOOLS, instructor.Mode.TOOLS_STRICT, instructor.Mode.JSON_SCHEMA):
    client = instructor.from_openai(OpenAI(), mode=mode)
    person, completion = client.chat.completions.create_with_completion(
        model=MODEL, messages=question, response_model=Person, max_tokens=1_000
    )
    assert completion.usage is not None
    print(json.dumps({mode.name: person.model_dump(), "total_tokens": completion.usage.total_tokens}))

client = instructor.from_openai(OpenAI())
partials = client.chat.completions.create_partial(
    model=MODEL, messages=question, response_model=Person, max_tokens=1_000
)
print(json.dumps({"partial": list(partials)[-1].model_dump()}))

people = client.chat.completions.create_iterable(
    model=MODEL, messages=question, response_model=Person, max_tokens=1_000
)
print(json.dumps({"iterable": all(isinstance(each, Person) for each in people)}))

several = instructor.from_openai(OpenAI(), mode=instructor.Mode.PARALLEL_TOOLS).chat.completions.create(
    model=MODEL, messages=question, response_model=Iterable[Person], max_tokens=1_000
)
print(json.dumps({"parallel": [type(each).__name__ for each in several]}))


async def main() -> None:
    other = instructor.from_openai(AsyncOpenAI())
    found = await other.chat.completions.create(model=MODEL, messages=question, response_model=Person, max_tokens=1_000)
    print(json.dumps({"async": found.model_dump()}))


asyncio.run(main())
