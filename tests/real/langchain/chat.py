"""`ChatOpenAI` as its integration page shows it: invoke, stream, usage, batch, and their asynchronous twins."""

import asyncio
import json
import os

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_openai import ChatOpenAI

llm = ChatOpenAI(model=os.environ["MODEL"], temperature=0, max_tokens=12, stream_usage=True)

messages = [
    ("system", "You are a helpful assistant that translates English to French. Translate the user sentence."),
    ("human", "I love programming."),
]
answer = llm.invoke(messages)
usage = answer.usage_metadata
assert usage is not None
print(
    json.dumps(
        {
            "text": answer.content,
            "finish_reason": answer.response_metadata["finish_reason"],
            "tokens": [usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]],
        }
    )
)

# The answer goes back.
history = [SystemMessage("Be brief."), HumanMessage("Say this is a test"), answer, HumanMessage("Say it again")]
print(json.dumps({"again": llm.invoke(history).content}))

whole = None
for chunk in llm.stream(messages):
    whole = chunk if whole is None else whole + chunk
assert whole is not None
assert whole.usage_metadata is not None
print(
    json.dumps(
        {
            "stream": whole.content,
            "finish_reason": whole.response_metadata["finish_reason"],
            "total_tokens": whole.usage_metadata["total_tokens"],
        }
    )
)

chain = ChatPromptTemplate.from_messages([("system", "Translate to {language}."), ("human", "{text}")]) | llm
print(json.dumps({"chain": chain.invoke({"language": "German", "text": "I love programming."}).content}))


async def main() -> None:
    first = await llm.ainvoke(messages)
    pieces = [piece.content async for piece in llm.astream(messages)]
    both = await llm.abatch([messages, messages])
    assert all(isinstance(each, AIMessage) for each in both)
    events = {event["event"] async for event in llm.astream_events(messages)}
    print(
        json.dumps(
            {"ainvoke": first.content, "astream": "".join(pieces), "abatch": len(both), "events": sorted(events)}
        )
    )


asyncio.run(main())
