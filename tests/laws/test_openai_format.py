"""Laws of the OpenAI format over its golden transcripts and over what hypothesis makes up."""

import json
from collections.abc import Iterable
from importlib import resources
from typing import Any

import httpx2
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.lib.streaming.chat import ChatCompletionStreamState

from core.catalog.file import parse_catalog
from core.catalog.model import Abilities, Format, Quirk, Vendor
from core.chat import Choice, Reply
from core.events import Event, fold
from core.providers.base import Outgoing, Prepared, StreamDecoder
from core.providers.dispositions import TABLE
from core.providers.fields import dispose
from core.providers.openai import OpenAIFormat
from tests.support.examples import times
from tests.support.golden import Case, case_id, cases
from tests.support.laws import (
    answered,
    check_nothing_else_escapes,
    check_whole_is_fold,
    decoded,
)
from tests.support.requests import ask
from tests.support.splitting import cut
from tests.support.targets import make_target, make_vendor

FORMAT = OpenAIFormat()
CASES = cases(Format.OPENAI)

each_case = pytest.mark.parametrize("case", CASES, ids=case_id)


def decoder(*quirks: Quirk, choices: int = 1, custom_tools: Iterable[str] = ()) -> StreamDecoder:
    target = make_target(vendor=make_vendor(quirks=frozenset(quirks)))
    sent = Outgoing(target, "", {}, b"", choices=choices, custom_tools=frozenset(custom_tools))
    return FORMAT.decoder(sent, 200, {})


ODD: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 700)
    | st.floats()
    | st.sampled_from(["", "a", "stop", "error", "\ud83d"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def odd(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """An object whose members are missing, as they should be, or anything else."""
    return st.fixed_dictionaries({}, optional={name: member | ODD for name, member in members.items()})


FUNCTION = odd(name=st.just("f"), arguments=st.sampled_from(["", "{}", '{"input":"x"}']), input=st.just("x"))
CALL = odd(index=st.integers(0, 2), id=st.sampled_from(["", "null", "a", "b"]), function=FUNCTION, custom=FUNCTION)
BLOCK = odd(type=st.sampled_from(["text", "thinking"]), text=st.just("t"), thinking=st.just([{"text": "h"}]))
DETAIL = odd(type=st.just("reasoning.text"), index=st.integers(0, 1), text=st.just("t"), summary=st.just("s"))
COUNTS = odd(cached_tokens=st.integers(0, 9), reasoning_tokens=st.integers(0, 9))
USAGE = odd(
    prompt_tokens=st.integers(0, 9),
    completion_tokens=st.integers(0, 9),
    total_tokens=st.integers(0, 27),
    prompt_tokens_details=COUNTS,
    completion_tokens_details=COUNTS,
    prompt_cache_hit_tokens=st.integers(0, 9),
)
DELTA = odd(
    content=st.sampled_from(["", "<think>", "</think>", "text"]) | st.lists(BLOCK, max_size=2),
    reasoning=st.just("h"),
    reasoning_content=st.just("h"),
    reasoning_details=st.lists(DETAIL, max_size=2),
    refusal=st.just("no"),
    annotations=st.just([{}]),
    audio=st.just({"data": "AA"}),
    tool_calls=st.lists(CALL, max_size=2),
    function_call=FUNCTION,
)
CHOICE = odd(
    index=st.integers(0, 1),
    delta=DELTA,
    message=DELTA,
    finish_reason=st.sampled_from(["stop", "length", "error"]),
    logprobs=st.just({"content": [{}]}),
    usage=USAGE,
    error=st.just({"code": 429}),
)
CHUNK = odd(
    choices=st.lists(CHOICE | ODD, max_size=2),
    usage=USAGE,
    error=st.just({"message": "m"}),
    x_groq=odd(usage=USAGE, error=st.just("e")),
    service_tier=st.just("flex"),
)


@given(st.lists(CHUNK | ODD, max_size=5), st.booleans(), st.booleans())
@settings(max_examples=times(4))
def test_malformed_chunks_give_events_or_a_failure(chunks: list[Any], done: bool, quirky: bool) -> None:
    quirks = (Quirk.THINK_TAGS,) if quirky else ()
    text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n" * done
    check_nothing_else_escapes(lambda: decoder(*quirks, custom_tools=["f"] * quirky), [text.encode()])


@given(CHUNK)
@settings(max_examples=times(4))
def test_malformed_whole_bodies_give_events_or_a_failure(body: Any) -> None:
    check_nothing_else_escapes(decoder, [json.dumps(body).encode()])


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
ARGUMENTS = st.dictionaries(TEXT, TEXT | st.integers(0, 9), min_size=1, max_size=2).map(json.dumps)
CALLS = st.lists(st.tuples(st.sampled_from(["f", "g"]), ARGUMENTS), max_size=3)


@given(text=st.none() | TEXT, reasoning=st.none() | TEXT, calls=CALLS, tags=st.booleans(), data=st.data())
def test_any_answer_is_the_same_whole_and_streamed(
    text: str | None, reasoning: str | None, calls: list[tuple[str, str]], tags: bool, data: st.DataObject
) -> None:
    if tags and reasoning:
        text, reasoning = f"<think>{reasoning}</think>{text or '.'}", None
    message = {
        "content": text,
        "reasoning": reasoning,
        "tool_calls": [
            {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for number, (name, arguments) in enumerate(calls)
        ],
    }
    reason = "tool_calls" if calls else "stop"
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}
    deltas: list[dict[str, Any]] = []
    deltas += [{"reasoning": piece} for piece in data.draw(cuts(reasoning))]
    deltas += [{"content": piece} for piece in data.draw(cuts(text))]
    for number, (name, arguments) in enumerate(calls):
        first, *others = data.draw(cuts(arguments))
        deltas.append(fragment(number, first, id=f"call_{number}", name=name))
        deltas += [fragment(number, piece) for piece in others]
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    stream = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    quirks = (Quirk.THINK_TAGS,) if tags else ()
    check_whole_is_fold(
        answered(decoder(*quirks), [stream.encode()]), answered(decoder(*quirks), [json.dumps(whole).encode()])
    )


def cuts(text: str | None) -> st.SearchStrategy[list[str]]:
    """A text in pieces; none for none."""
    if text is None:
        return st.just([])
    data = text.encode("utf-32-le")
    at = st.lists(st.integers(0, len(text)), max_size=4).map(lambda places: [4 * place for place in places])
    return at.map(lambda places: [piece.decode("utf-32-le") for piece in cut(data, places)])


def fragment(index: int, arguments: str, *, id: str | None = None, name: str | None = None) -> dict[str, Any]:
    function = {"arguments": arguments} if name is None else {"name": name, "arguments": arguments}
    call = {"index": index, "function": function} if id is None else {"index": index, "id": id, "function": function}
    return {"tool_calls": [call]}


# Every vendor that ships with the gateway.

VENDORS = [
    vendor
    for vendor in parse_catalog((resources.files("core.catalog") / "vendors.toml").read_text("utf-8"), "vendors.toml")[
        0
    ]
    if vendor.format is Format.OPENAI
]
OPTIONAL: dict[str, Any] = {
    "temperature": 0.5,
    "top_p": 0.5,
    "frequency_penalty": 0.5,
    "presence_penalty": 0.5,
    "logit_bias": {"1": 1},
    "logprobs": True,
    "top_logprobs": 2,
    "metadata": {"a": "b"},
    "moderation": {"model": "m"},
    "parallel_tool_calls": False,
    "prediction": {"type": "content", "content": "x"},
    "prompt_cache_key": "k",
    "prompt_cache_options": {"mode": "explicit"},
    "prompt_cache_retention": "24h",
    "safety_identifier": "s",
    "seed": 7,
    "service_tier": "priority",
    "stop": ["END"],
    "store": True,
    "stream": True,
    "stream_options": {"include_obfuscation": False},
    "tools": [{"type": "function", "function": {"name": "f", "strict": True}}],
    "user": "u",
    "verbosity": "low",
    "web_search_options": {},
    "max_tokens": 9,
}


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
def test_a_vendor_gets_what_it_takes_and_the_rest_is_reported(vendor: Vendor) -> None:
    request = ask([{"role": "user", "name": "ann", "content": "Hi."}], **OPTIONAL)
    to = make_target(vendor=vendor, abilities=Abilities(tools=True, parallel_tools=True))
    disposed = dispose(request, to)
    sent = json.loads(FORMAT.encode(request, to, Prepared()).body)
    names = {there: here for here, there in vendor.renames.items()}
    told = {names.get(name, name) for name in sent} | ({"top_logprobs"} if type(sent.get("logprobs")) is int else set())
    assert not told & vendor.refuses
    missing = set(OPTIONAL) - told - {"stream_options"}
    assert missing == {name for name in disposed.reported if "." not in name and "[]" not in name}
    assert ("name" in sent["messages"][0]) == ("messages[].name" not in disposed.reported)


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
def test_a_vendor_refuses_only_what_there_is(vendor: Vendor) -> None:
    assert vendor.refuses <= set(TABLE[Format.OPENAI])
    assert set(vendor.renames) | set(vendor.values) <= set(TABLE[Format.OPENAI])


# The SDK as an independent reader of the transcripts that are plain OpenAI.


def read_by_sdk(case: Case) -> openai.types.chat.ChatCompletion:
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=case.data)

    state = ChatCompletionStreamState()
    with httpx2.Client(transport=httpx2.MockTransport(answer)) as http:
        client = openai.OpenAI(api_key="k", base_url="http://127.0.0.1:9", max_retries=0, http_client=http)
        for chunk in client.chat.completions.create(model="m", messages=[], stream=True):
            state.handle_chunk(chunk)
    return state.current_completion_snapshot


@pytest.mark.parametrize("case", [case for case in CASES if "reads" in case.about], ids=case_id)
def test_the_sdk_reads_the_same(case: Case) -> None:
    reply = fold(as_sent(case))
    theirs = read_by_sdk(case)
    assert [sdk_form(choice) for choice in theirs.choices] == [our_form(choice) for choice in reply.choices]
    assert theirs.system_fingerprint == reply.notes.get("system_fingerprint")
    if theirs.usage is not None:
        assert sdk_usage(theirs.usage) == our_usage(reply)


def as_sent(case: Case) -> tuple[Event, ...]:
    outcome = decoded(case.decoders()(), [case.data])
    assert outcome.error is None
    return outcome.events


def sdk_form(choice: Any) -> dict[str, Any]:
    message = choice.message
    logprobs = choice.logprobs.to_dict() if choice.logprobs else {}
    return {
        "index": choice.index,
        "finish": choice.finish_reason,
        "text": message.content or None,
        "refusal": message.refusal or None,
        "calls": [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()],
        "audio": message.audio and message.audio.to_dict(),
        "annotations": [note.to_dict() for note in message.annotations or ()],
        "logprobs": {name: entries for name, entries in logprobs.items() if entries},
    }


def our_form(choice: Choice) -> dict[str, Any]:
    return {
        "index": choice.index,
        "finish": choice.finish and choice.finish.value,
        "text": choice.text,
        "refusal": choice.refusal,
        "calls": [(call.id, call.name, call.arguments) for call in choice.tool_calls],
        "audio": choice.audio,
        "annotations": list(choice.annotations),
        "logprobs": dict(choice.logprobs or {}),
    }


def sdk_usage(usage: Any) -> tuple[Any, ...]:
    read, made = usage.prompt_tokens_details, usage.completion_tokens_details
    return (
        usage.prompt_tokens,
        usage.completion_tokens,
        usage.total_tokens,
        read.cached_tokens if read else 0,
        read.cache_write_tokens or 0 if read else 0,
        made.reasoning_tokens if made else None,
        made.audio_tokens if made else 0,
    )


def our_usage(reply: Reply) -> tuple[Any, ...]:
    usage = reply.usage
    assert usage is not None
    return (
        usage.input_tokens,
        usage.output_tokens,
        usage.total_tokens,
        usage.cached_tokens,
        usage.cache_write_tokens,
        usage.reasoning_tokens,
        usage.output_audio_tokens,
    )
