"""The openai package as its documentation uses it: every way to read an answer, and every way to send one back."""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any

import pytest
from openai import APIError, AsyncOpenAI, AuthenticationError, NotFoundError, OpenAI
from openai.types.chat import ChatCompletionMessage
from pydantic import BaseModel

from tests.integration.clients.conftest import MODEL, Place
from tests.support.knowing_model import GREETING, REASONING

QUESTION: list[Any] = [{"role": "user", "content": "Say this is a test"}]
WEATHER: list[Any] = [{"role": "user", "content": "What is the weather like in Paris and Rome? think"}]
HEARD = "I heard: 18 degrees in Paris, 18 degrees in Rome."
TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
                "additionalProperties": False,
            },
            "strict": True,
        },
    }
]


class Person(BaseModel):
    name: str
    age: int


@pytest.fixture(scope="module")
def client(place: Place) -> Iterator[OpenAI]:
    with OpenAI(base_url=place.base_url, api_key=place.key) as client:
        yield client


@pytest.fixture
async def other(place: Place) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=place.base_url, api_key=place.key) as client:
        yield client


def results(calls: Iterable[Any]) -> list[Any]:
    return [
        {
            "role": "tool",
            "tool_call_id": call.id,
            "content": f"18 degrees in {json.loads(call.function.arguments)['city']}",
        }
        for call in calls
    ]


class TestReading:
    def test_a_whole_answer(self, client: OpenAI) -> None:
        answer = client.chat.completions.create(model=MODEL, messages=QUESTION, max_completion_tokens=50)
        assert answer.choices[0].message.content == GREETING
        assert answer.choices[0].finish_reason == "stop"
        assert answer.usage is not None
        assert answer.usage.total_tokens == 95
        assert answer._request_id is not None
        assert answer.id[-32:] == answer._request_id[-32:]

    async def test_a_whole_answer_without_blocking(self, other: AsyncOpenAI) -> None:
        answer = await other.chat.completions.create(model=MODEL, messages=QUESTION, n=2)
        assert [choice.message.content for choice in answer.choices] == [GREETING, GREETING]

    def test_the_documented_loop(self, client: OpenAI) -> None:
        chunks = client.chat.completions.create(model=MODEL, messages=QUESTION, stream=True)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == GREETING

    async def test_the_loop_with_usage(self, other: AsyncOpenAI) -> None:
        text, totals = "", list[int]()
        async for chunk in await other.chat.completions.create(
            model=MODEL, messages=QUESTION, stream=True, stream_options={"include_usage": True}
        ):
            text += "".join(choice.delta.content or "" for choice in chunk.choices)
            totals += [chunk.usage.total_tokens] if chunk.usage is not None else []
        assert (text, totals) == (GREETING, [95])

    def test_the_stream_helper(self, client: OpenAI) -> None:
        with client.chat.completions.stream(
            model=MODEL, messages=QUESTION, n=2, stream_options={"include_usage": True}
        ) as stream:
            kinds = {event.type for event in stream}
            final = stream.get_final_completion()
        assert kinds == {"chunk", "content.delta", "content.done"}
        assert [choice.message.content for choice in final.choices] == [GREETING, GREETING]
        assert final.usage is not None
        assert final.usage.total_tokens == 95

    async def test_the_stream_helper_without_blocking(self, other: AsyncOpenAI) -> None:
        async with other.chat.completions.stream(model=MODEL, messages=WEATHER, tools=TOOLS) as stream:
            done = [event.arguments async for event in stream if event.type == "tool_calls.function.arguments.done"]
        assert done == ['{"city": "Paris"}', '{"city": "Rome"}']

    def test_reasoning_is_beside_the_content(self, client: OpenAI) -> None:
        answer = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "think"}])
        assert answer.choices[0].message.model_dump()["reasoning_content"] == REASONING

    def test_the_list_of_models(self, client: OpenAI) -> None:
        assert MODEL in [model.id for model in client.models.list()]
        assert client.models.retrieve(MODEL).id == MODEL


def created(client: OpenAI) -> ChatCompletionMessage:
    return client.chat.completions.create(model=MODEL, messages=WEATHER, tools=TOOLS).choices[0].message


def parsed(client: OpenAI) -> ChatCompletionMessage:
    return client.chat.completions.parse(model=MODEL, messages=WEATHER, tools=TOOLS).choices[0].message


def streamed(client: OpenAI) -> ChatCompletionMessage:
    with client.chat.completions.stream(
        model=MODEL, messages=WEATHER, tools=TOOLS, stream_options={"include_usage": True}
    ) as stream:
        return stream.get_final_completion().choices[0].message


@pytest.mark.parametrize("read", [created, parsed, streamed])
@pytest.mark.parametrize(
    "written",
    [
        lambda message: message,
        lambda message: message.model_dump(),
        lambda message: message.model_dump(exclude_none=True),
        lambda message: message.to_dict(),
        lambda message: {"role": "assistant", "content": None, "tool_calls": message.tool_calls},
    ],
    ids=["itself", "dump", "dump without nulls", "to_dict", "its calls"],
)
def test_a_tool_loop(
    place: Place,
    client: OpenAI,
    read: Callable[[OpenAI], ChatCompletionMessage],
    written: Callable[[ChatCompletionMessage], Any],
) -> None:
    called = read(client)
    history = [*WEATHER, written(called), *results(called.tool_calls or ())]
    answer = client.chat.completions.create(model=MODEL, messages=history, tools=TOOLS)
    assert answer.choices[0].message.content == HEARD
    sent = place.upstream.received[-1].json["messages"]
    assert [call["id"] for call in sent[1]["tool_calls"]] == [message["tool_call_id"] for message in sent[2:]]
    assert "reasoning_content" not in sent[1]
    assert place.upstream.refused == []


def test_a_tool_loop_put_together_by_hand(client: OpenAI) -> None:
    calls: dict[int, Any] = {}
    for chunk in client.chat.completions.create(model=MODEL, messages=WEATHER, tools=TOOLS, stream=True):
        for piece in chunk.choices[0].delta.tool_calls or []:
            if piece.index in calls:
                calls[piece.index].function.arguments += piece.function.arguments if piece.function else ""
            else:
                calls[piece.index] = piece
    said = {"role": "assistant", "tool_calls": [call.model_dump() for call in calls.values()]}
    history = [*WEATHER, said, *results(calls.values())]
    answer = client.chat.completions.create(model=MODEL, messages=history, tools=TOOLS)
    assert answer.choices[0].message.content == HEARD


# Dumping a parsed message, the package warns about its own generic member.
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning")
@pytest.mark.parametrize("dumped", [True, False])
async def test_parsed_documents_go_back(client: OpenAI, other: AsyncOpenAI, dumped: bool) -> None:
    history = list(QUESTION)
    whole = client.chat.completions.parse(model=MODEL, messages=history, response_format=Person)
    async with other.chat.completions.stream(model=MODEL, messages=history, response_format=Person) as stream:
        final = await stream.get_final_completion()
    for message in (whole.choices[0].message, final.choices[0].message):
        assert message.parsed == Person(name="Ada", age=36)
        history += [message.model_dump() if dumped else message, {"role": "user", "content": "Sure?"}]
    last = await other.chat.completions.parse(model=MODEL, messages=history, response_format=Person)
    assert last.choices[0].message.parsed == Person(name="Ada", age=36)


class TestFailures:
    def test_refusals_are_the_packages_own(self, place: Place, client: OpenAI) -> None:
        with pytest.raises(NotFoundError) as unknown:
            client.chat.completions.create(model="nobody/knows", messages=QUESTION)
        assert (unknown.value.code, unknown.value.param) == ("model_not_found", "model")
        with OpenAI(base_url=place.base_url, api_key="hr_wrong") as stranger, pytest.raises(AuthenticationError):
            stranger.chat.completions.create(model=MODEL, messages=QUESTION)

    def test_an_answer_that_breaks_off_raises(self, client: OpenAI) -> None:
        broken: list[Any] = [{"role": "user", "content": "break off"}]
        chunks = iter(client.chat.completions.create(model=MODEL, messages=broken, stream=True))
        text = next(chunks).choices[0].delta.content or next(chunks).choices[0].delta.content
        with pytest.raises(APIError) as failure:
            next(chunks)
        assert (text, failure.value.code) == ("Hel", "interrupted")

    def test_what_failed_for_good_is_not_repeated(self, place: Place, client: OpenAI) -> None:
        before = len(place.upstream.received)
        with pytest.raises(APIError):
            client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "break off"}])
        assert len(place.upstream.received) - before == 2
