"""What `OpenAILike` makes of our refusals, of an answer that breaks off, and what it sends of pictures and schemas."""

import json
import os

import openai
from llama_index.core.llms import ChatMessage, ImageBlock, TextBlock
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel


class Person(BaseModel):
    """Somebody."""

    name: str
    age: int


def get_weather(city: str) -> str:
    """Get the current weather in a given city."""
    return f"18 degrees in {city}"


def llm_of(model: str, **options: bool) -> OpenAILike:
    return OpenAILike(
        model=model,
        api_base=os.environ["OPENAI_BASE_URL"],
        api_key=os.environ["OPENAI_API_KEY"],
        context_window=4_096,
        is_chat_model=True,
        is_function_calling_model=True,
        **options,
    )


llm = llm_of(os.environ["MODEL"])

try:
    llm_of("nobody/knows").complete("Hello")
except openai.NotFoundError as error:
    print(json.dumps({"refused": error.code}))

text = ""
try:
    for piece in llm.stream_chat([ChatMessage(role="user", content="break off")]):
        text += piece.delta or ""
except openai.APIError as error:
    print(json.dumps({"broken": error.code, "text": text}))

picture = ChatMessage(
    role="user", blocks=[TextBlock(text="What is in this image?"), ImageBlock(image=b"\x89PNG\r\n\x1a\n")]
)
print(json.dumps({"picture": llm.chat([picture]).message.content}))

strict = llm_of(os.environ["MODEL"], should_use_structured_outputs=True)
question = PromptTemplate("Who wrote the first program?")
print(json.dumps({"native": strict.structured_predict(Person, question).model_dump()}))
last = list(llm.stream_structured_predict(Person, question))[-1]
print(json.dumps({"streamed": last.model_dump()}))

tool = FunctionTool.from_defaults(fn=get_weather)
final = list(llm.stream_chat_with_tools([tool], user_msg="What is the weather like in Paris and Rome?"))[-1]
calls = llm.get_tool_calls_from_response(final)
print(json.dumps({"calls": [call.tool_kwargs["city"] for call in calls]}))
