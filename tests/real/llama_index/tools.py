"""Tools with `OpenAILike`: called with a list of tools, by the agent, and for a structured answer."""

import asyncio
import json
import os

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
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


llm = OpenAILike(
    model=os.environ["MODEL"],
    api_base=os.environ["OPENAI_BASE_URL"],
    api_key=os.environ["OPENAI_API_KEY"],
    context_window=4_096,
    is_chat_model=True,
    is_function_calling_model=True,
    max_tokens=1_000,
)
tool = FunctionTool.from_defaults(fn=get_weather)

history = [ChatMessage(role="user", content="What is the weather like in Paris and Rome?")]
answer = llm.chat_with_tools([tool], chat_history=history, allow_parallel_tool_calls=True)
calls = llm.get_tool_calls_from_response(answer)
history.append(answer.message)
history += [
    ChatMessage(role="tool", content=str(tool(**call.tool_kwargs)), additional_kwargs={"tool_call_id": call.tool_id})
    for call in calls
]
ended = llm.chat_with_tools([tool], chat_history=history)
print(json.dumps({"calls": len(calls), "text": ended.message.content}))

said = llm.predict_and_call([tool], "What is the weather like in Rome?")
print(json.dumps({"predicted": str(said)[:10]}))

person = llm.as_structured_llm(Person).complete("Who wrote the first program?").raw
print(json.dumps({"structured": type(person).__name__}))


async def main() -> None:
    agent = FunctionAgent(tools=[tool], llm=llm, system_prompt="You answer questions about the weather.")
    result = await agent.run("What is the weather like in Oslo?")
    print(json.dumps({"agent": str(result)}))


asyncio.run(main())
