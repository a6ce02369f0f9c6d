"""Extraction with `instructor` where only the prompt asks for the schema, and an answer that is refused and mended."""

import json
import os

import instructor
from openai import OpenAI
from pydantic import BaseModel, field_validator

MODEL = os.environ["MODEL"]


class Person(BaseModel):
    name: str
    age: int


question = [{"role": "user", "content": "Extract: Ada is 36 years old."}]

for mode in (instructor.Mode.JSON, instructor.Mode.MD_JSON):
    client = instructor.from_openai(OpenAI(), mode=mode)
    person = client.chat.completions.create(model=MODEL, messages=question, response_model=Person)
    print(json.dumps({mode.name: person.model_dump()}))

seen = []


class Careful(BaseModel):
    name: str

    @field_validator("name")
    @classmethod
    def is_seen_twice(cls, value: str) -> str:
        seen.append(value)
        if len(seen) < 2:
            raise ValueError("the first answer is never good enough")
        return value


# The refused answer and the reason go back as a turn of the conversation.
for mode in (instructor.Mode.TOOLS, instructor.Mode.JSON_SCHEMA):
    seen.clear()
    client = instructor.from_openai(OpenAI(), mode=mode)
    careful = client.chat.completions.create(model=MODEL, messages=question, response_model=Careful, max_retries=2)
    print(json.dumps({mode.name: careful.name, "asked": len(seen)}))
