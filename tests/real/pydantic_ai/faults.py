"""What `pydantic-ai` makes of refusals and broken answers, of thinking, and what it sends of pictures and options."""

import asyncio
import json
import os

from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, ImageUrl, PromptedOutput
from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError
from pydantic_ai.messages import ThinkingPart
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings

model = OpenAIChatModel(os.environ["MODEL"])
agent = Agent(model)


class Person(BaseModel):
    name: str
    age: int


try:
    Agent(OpenAIChatModel("nobody/knows")).run_sync("Hello")
except ModelHTTPError as error:
    print(json.dumps({"refused": error.status_code}))


async def main() -> None:
    text = ""
    try:
        async with agent.run_stream("break off") as streamed:
            async for piece in streamed.stream_text(delta=True, debounce_by=None):
                text += piece
    except ModelAPIError as error:
        print(json.dumps({"broken": type(error).__name__, "text": text}))


asyncio.run(main())

thought = agent.run_sync("think")
thinking = [part.content for part in thought.new_messages()[-1].parts if isinstance(part, ThinkingPart)]
print(json.dumps({"thinking": thinking, "text": thought.output}))
print(json.dumps({"again": agent.run_sync("And then?", message_history=thought.all_messages()).output}))

pictures = [BinaryContent(b"\x89PNG\r\n\x1a\n", media_type="image/png"), ImageUrl("https://example.com/pixel.png")]
print(json.dumps({"pictures": agent.run_sync(["What is in these?", *pictures]).output}))

options = OpenAIChatModelSettings(
    openai_reasoning_effort="low",
    openai_user="somebody",
    openai_logprobs=True,
    openai_top_logprobs=2,
    openai_service_tier="auto",
    seed=7,
    stop_sequences=["END"],
    logit_bias={"1": 1},
    extra_body={"extended_thinking": False},
)
print(json.dumps({"options": agent.run_sync("Say this is a test", model_settings=options).output}))

prompted = Agent(model, output_type=PromptedOutput(Person)).run_sync("Who wrote the first program? In JSON, please.")
print(json.dumps({"prompted": prompted.output.model_dump()}))
