"""`OpenAILike` as its page shows it: complete, chat and their streams, blocking and not."""

import asyncio
import json
import os

from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike

llm = OpenAILike(
    model=os.environ["MODEL"],
    api_base=os.environ["OPENAI_BASE_URL"],
    api_key=os.environ["OPENAI_API_KEY"],
    context_window=4_096,
    is_chat_model=True,
    is_function_calling_model=True,
    max_tokens=12,
)

print(json.dumps({"complete": llm.complete("Hello World!").text}))

messages = [
    ChatMessage(role="system", content="You are a pirate with a colorful personality"),
    ChatMessage(role="user", content="What is your name"),
]
answer = llm.chat(messages)
usage = answer.raw.usage
print(json.dumps({"chat": answer.message.content, "total_tokens": usage.total_tokens}))

# The answer goes back.
again = llm.chat([*messages, answer.message, ChatMessage(role="user", content="Once more")])
print(json.dumps({"again": again.message.content}))

print(json.dumps({"stream_complete": "".join(piece.delta or "" for piece in llm.stream_complete("Hello World!"))}))
print(json.dumps({"stream_chat": list(llm.stream_chat(messages))[-1].message.content}))


async def main() -> None:
    whole = await llm.achat(messages)
    pieces = [piece.delta or "" async for piece in await llm.astream_chat(messages)]
    print(json.dumps({"achat": whole.message.content, "astream_chat": "".join(pieces)}))


asyncio.run(main())
