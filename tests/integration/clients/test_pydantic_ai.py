"""Agents of pydantic-ai: text, tools, output types, streams and the history of earlier runs."""

from collections.abc import AsyncIterator

import pytest
from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, NativeOutput, ToolOutput
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.messages import ThinkingPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from tests.integration.clients.conftest import MODEL, Place
from tests.support.knowing_model import GREETING, REASONING


class Person(BaseModel):
    name: str
    age: int


ADA = Person(name="Ada", age=36)


def get_weather(city: str) -> str:
    """Get the current weather in a given city."""
    return f"18 degrees in {city}"


@pytest.fixture
async def model(place: Place) -> AsyncIterator[OpenAIChatModel]:
    async with AsyncOpenAI(base_url=place.base_url, api_key=place.key) as client:
        yield OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client))


async def test_text_whole_and_streamed(model: OpenAIChatModel) -> None:
    agent = Agent(model, instructions="Be concise.")
    whole = await agent.run("Say this is a test")
    async with agent.run_stream("Say it again", message_history=whole.all_messages()) as streamed:
        text = "".join([piece async for piece in streamed.stream_text(delta=True)])
    assert (whole.output, whole.usage.total_tokens) == (GREETING, 95)
    assert (text, streamed.usage.total_tokens) == (GREETING, 95)


async def test_tools_whole_and_streamed(model: OpenAIChatModel) -> None:
    agent = Agent(model, tools=[get_weather])
    whole = await agent.run("What is the weather like in Paris and Rome? think")
    async with agent.run_stream("And in Oslo?", message_history=whole.all_messages()) as streamed:
        later = await streamed.get_output()
    assert whole.output == "I heard: 18 degrees in Paris, 18 degrees in Rome."
    assert later == "I heard: 18 degrees in Oslo."


@pytest.mark.parametrize("kind", [Person, ToolOutput(Person), NativeOutput(Person)])
async def test_output_types(model: OpenAIChatModel, kind: type[Person]) -> None:
    agent = Agent(model, output_type=kind)
    assert (await agent.run("Who wrote the first program?")).output == ADA
    async with agent.run_stream("Who wrote the first program?") as streamed:
        assert await streamed.get_output() == ADA


async def test_thinking_is_shown_and_may_come_back(place: Place, model: OpenAIChatModel) -> None:
    agent = Agent(model)
    thought = await agent.run("think")
    parts = thought.new_messages()[-1].parts
    assert [part.content for part in parts if isinstance(part, ThinkingPart)] == [REASONING]
    await agent.run("And then?", message_history=thought.all_messages())
    assert place.upstream.received[-1].json["messages"][1] == {"role": "assistant", "content": GREETING}


async def test_a_picture_goes_as_it_is(place: Place, model: OpenAIChatModel) -> None:
    picture = BinaryContent(b"\x89PNG\r\n\x1a\n", media_type="image/png")
    assert (await Agent(model).run(["What is this?", picture])).output == GREETING
    parts = place.upstream.received[-1].json["messages"][0]["content"]
    assert parts[1]["image_url"]["url"] == picture.data_uri


async def test_an_answer_that_breaks_off_raises(model: OpenAIChatModel) -> None:
    with pytest.raises(ModelAPIError):
        async with Agent(model).run_stream("break off") as streamed:
            await streamed.get_output()
