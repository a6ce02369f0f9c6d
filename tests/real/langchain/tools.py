"""Tools with `ChatOpenAI`: a bound function, its calls run, their results sent back; whole and streamed."""

import json
import os

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def get_weather(city: str) -> str:
    """Get the current weather in a given city."""
    return f"18 degrees in {city}"


llm = ChatOpenAI(model=os.environ["MODEL"], max_tokens=1_000)
with_tools = llm.bind_tools([get_weather])

messages: list[BaseMessage] = [HumanMessage("What is the weather like in Paris and Rome?")]
called = with_tools.invoke(messages)
assert isinstance(called, AIMessage)
messages.append(called)
messages += [get_weather.invoke(call) for call in called.tool_calls]
ended = with_tools.bind(max_tokens=12).invoke(messages)
print(json.dumps({"calls": len(called.tool_calls), "invalid": len(called.invalid_tool_calls), "text": ended.content}))

messages = [HumanMessage("What is the weather like in Oslo and Rome?")]
whole = None
for chunk in with_tools.stream(messages):
    whole = chunk if whole is None else whole + chunk
assert whole is not None
messages.append(whole)
messages += [get_weather.invoke(call) for call in whole.tool_calls]
ended = with_tools.bind(max_tokens=12).invoke(messages)
print(json.dumps({"streamed": len(whole.tool_calls), "text": ended.content}))

forced = llm.bind_tools([get_weather], tool_choice="get_weather", strict=True, parallel_tool_calls=False)
calls = forced.invoke("What is the weather like in Rome?").tool_calls
print(json.dumps({"forced": [call["name"] for call in calls]}))
