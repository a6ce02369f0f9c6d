"""Extraction with `instructor`, in the modes that go through chat completions; whole, partial and as a list."""

import asyncio
import json
import os

import instructor
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel

MODEL = os.environ["MODEL"]


class Person(BaseModel):
    name: str
    age: int


question = [{"role": "user", "content": "Extract: Ada is 36 years old. Answer in JSON."}]

for mode in (
    instructor.Mode.TOOLS,
    instructor.Mode.TOOLS_STRICT,
    instructor.Mode.PARALLEL_TOOLS,
    instructor.Mode.JSON,
    instructor.Mode.JSON_SCHEMA,
    instructor.Mode.MD_JSON,
):
    print(mode)
    client = instructor.from_openai(OpenAI(), mode=mode)
    person = client.chat.completions.create(
        model=MODEL, messages=question, response_model=Person, max_tokens=1_000, max_retries=1
    )
    print(json.dumps({mode.value: person.model_dump()}))
