"""The documented loop with tools: the answer is appended as it is, then what the tools returned."""

import json
import os

from openai import OpenAI
from openai.types.chat import ChatCompletionMessage

MODEL = os.environ["MODEL"]
client = OpenAI()


def get_weather(city: str) -> str:
    return f"18 degrees in {city}"


tools = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Get current temperature for a given location.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string", "description": "A city, e.g. Bogota"}},
                "required": ["city"],
                "additionalProperties": False,
            },
            "strict": True,
        },
    }
]


def results(message: ChatCompletionMessage) -> list:
    return [
        {
            "role": "tool",
            "tool_call_id": call.id,
            "content": get_weather(**json.loads(call.function.arguments)),
        }
        for call in message.tool_calls or []
    ]


def ask(messages: list) -> ChatCompletionMessage:
    answer = client.chat.completions.create(model=MODEL, messages=messages, tools=tools, max_tokens=1_000)
    assert answer.choices[0].finish_reason in ("tool_calls", "stop", "length")
    return answer.choices[0].message


# The message itself goes back, as the guide to function calling has it.
messages: list = [{"role": "user", "content": "What is the weather like in Paris and Rome?"}]
called = ask(messages)
messages += [called, *results(called)]
print(json.dumps({"calls": len(called.tool_calls or []), "message": ask(messages).content}))

# Its dump goes back: with every null, and with whatever else we answered.
messages = [{"role": "user", "content": "What is the weather like in Paris? think"}]
called = ask(messages)
messages += [called.model_dump(), *results(called)]
print(json.dumps({"dump": ask(messages).content}))

# Put together from a stream by hand, as the guide to streaming has it.
messages = [{"role": "user", "content": "What is the weather like in Oslo and Rome?"}]
calls: dict = {}
for chunk in client.chat.completions.create(model=MODEL, messages=messages, tools=tools, stream=True, max_tokens=1_000):
    for piece in chunk.choices[0].delta.tool_calls or []:
        if piece.index not in calls:
            calls[piece.index] = piece
        else:
            calls[piece.index].function.arguments += piece.function.arguments
pieces = [calls[index] for index in sorted(calls)]
messages += [{"role": "assistant", "tool_calls": [piece.model_dump() for piece in pieces]}]
messages += [
    {"role": "tool", "tool_call_id": each.id, "content": get_weather(**json.loads(each.function.arguments))}
    for each in pieces
]
print(json.dumps({"by_hand": ask(messages).content}))

# The helper's final message goes back.
messages = [{"role": "user", "content": "What is the weather like in Rome?"}]
with client.chat.completions.stream(
    model=MODEL, messages=messages, tools=tools, stream_options={"include_usage": True}, max_tokens=1_000
) as stream:
    done = [event.name for event in stream if event.type == "tool_calls.function.arguments.done"]
    called = stream.get_final_completion().choices[0].message
messages += [called.model_dump(), *results(called)]
print(json.dumps({"done": done[:1], "helper": ask(messages).content}))
