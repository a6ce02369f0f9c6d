"""`with_structured_output` in each of its methods, whole and streamed."""

import json
import os

from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field


class Person(BaseModel):
    """Somebody."""

    name: str = Field(description="The name")
    age: int = Field(description="The age in years")


llm = ChatOpenAI(model=os.environ["MODEL"], max_tokens=1_000)
question = "Who wrote the first program? Answer in JSON."

for method in ("json_schema", "function_calling"):
    person = llm.with_structured_output(Person, method=method).invoke(question)
    assert isinstance(person, Person)
    print(json.dumps({method: person.model_dump()}))

person = llm.with_structured_output(Person, method="json_schema", strict=True, include_raw=True).invoke(question)
print(json.dumps({"raw": type(person["raw"]).__name__, "parsed": type(person["parsed"]).__name__}))

document = llm.with_structured_output(None, method="json_mode").invoke(question)
print(json.dumps({"json_mode": type(document).__name__}))

last = None
for piece in llm.with_structured_output(Person, method="json_schema").stream(question):
    last = piece
print(json.dumps({"streamed": type(last).__name__}))
