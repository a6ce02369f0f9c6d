"""Laws of the Gemini format over its golden transcripts and over what hypothesis makes up."""

import json
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import httpx2
import orjson
import pytest
from google import genai
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from core.catalog.model import Format
from core.chat import Choice, FinishReason, Reply
from core.errors import BadReply, Recovery, UpstreamFailure, UpstreamRejected
from core.events import Finished, fold
from core.providers.base import Outgoing, StreamDecoder
from core.providers.gemini import GeminiFormat
from core.providers.gemini.finish import FAILED, FINISH, UNCLEAR
from core.providers.registry import provider
from tests.support.examples import times
from tests.support.golden import Case, case_id, cases
from tests.support.laws import (
    Outcome,
    answered,
    check_nothing_else_escapes,
    check_whole_is_fold,
    decoded,
)
from tests.support.splitting import cut
from tests.support.targets import make_target, make_vendor

FORMAT = GeminiFormat()
CASES = cases(Format.GEMINI)
TARGET = make_target(vendor=make_vendor(format=Format.GEMINI))

each_case = pytest.mark.parametrize("case", CASES, ids=case_id)


def decoder(custom_tools: Iterable[str] = (), choices: int = 1) -> StreamDecoder:
    sent = Outgoing(TARGET, "", {}, b"", custom_tools=frozenset(custom_tools), choices=choices)
    return FORMAT.decoder(sent, 200, {})


def stream(*chunks: Any) -> bytes:
    return "".join(f"data: {json.dumps(chunk)}\r\n\r\n" for chunk in chunks).encode()


def test_the_format_is_registered() -> None:
    assert isinstance(provider(Format.GEMINI), GeminiFormat)


ODD: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 700) | st.floats() | st.sampled_from(["", "a", "STOP", "\ud83d"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def odd(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """An object whose members are missing, as they should be, or anything else."""
    return st.fixed_dictionaries({}, optional={name: member | ODD for name, member in members.items()})


def few(entry: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(entry | ODD, max_size=2)


COUNT = st.integers(0, 9)
DETAILS = few(odd(modality=st.sampled_from(["TEXT", "AUDIO", "IMAGE"]), tokenCount=COUNT))
USAGE = odd(
    promptTokenCount=COUNT,
    candidatesTokenCount=COUNT,
    thoughtsTokenCount=COUNT,
    toolUsePromptTokenCount=COUNT,
    cachedContentTokenCount=COUNT,
    totalTokenCount=st.integers(0, 27),
    promptTokensDetails=DETAILS,
    cacheTokensDetails=DETAILS,
    candidatesTokensDetails=DETAILS,
    trafficType=st.sampled_from([each.value for each in types.TrafficType]),
)
CALL = odd(id=st.just("i"), name=st.sampled_from(["f", "g"]), args=st.just({"input": "x"}), willContinue=st.booleans())
PART = odd(
    text=st.sampled_from(["", "t", "日本"]),
    thought=st.booleans(),
    thoughtSignature=st.sampled_from(["", "c2ln"]),
    functionCall=CALL,
    inlineData=odd(mimeType=st.just("image/png"), data=st.just("AA==")),
    executableCode=st.just({}),
)
TOKEN = odd(token=st.just("t"), logProbability=st.floats(-9, 0))
SUPPORT = odd(
    segment=odd(startIndex=COUNT, endIndex=COUNT, text=st.sampled_from(["t", "本"])),
    groundingChunkIndices=few(st.integers(0, 1)),
)
CANDIDATE = odd(
    index=st.integers(0, 1),
    content=odd(parts=few(PART), role=st.just("model")),
    finishReason=st.sampled_from([each.value for each in types.FinishReason]),
    finishMessage=st.just("m"),
    logprobsResult=odd(chosenCandidates=few(TOKEN), topCandidates=few(odd(candidates=few(TOKEN)))),
    groundingMetadata=odd(
        groundingChunks=few(odd(web=odd(uri=st.just("u"), title=st.just("t")))), groundingSupports=few(SUPPORT)
    ),
)
CHUNK = odd(
    candidates=few(CANDIDATE),
    usageMetadata=USAGE,
    promptFeedback=odd(blockReason=st.sampled_from([each.value for each in types.BlockedReason])),
    error=odd(code=st.integers(400, 599), status=st.just("UNAVAILABLE"), message=st.just("m"), details=few(ODD)),
)


@given(st.lists(CHUNK | ODD, max_size=5), st.booleans(), st.integers(1, 2))
@settings(max_examples=times(4))
def test_malformed_events_give_events_or_a_failure(chunks: list[Any], custom: bool, choices: int) -> None:
    check_nothing_else_escapes(lambda: decoder(["f"] * custom, choices), [stream(*chunks)])


@given(CHUNK | st.lists(CHUNK, max_size=3))
@settings(max_examples=times(4))
def test_malformed_whole_bodies_give_events_or_a_failure(body: Any) -> None:
    check_nothing_else_escapes(decoder, [json.dumps(body).encode()])


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
SIGNATURE = st.none() | st.sampled_from(["c2ln", "b3RoZXI="])
ARGUMENTS = st.dictionaries(TEXT, TEXT | st.integers(0, 9), max_size=2)


def signed(part: dict[str, Any], signature: str | None) -> dict[str, Any]:
    return part if signature is None else {**part, "thoughtSignature": signature}


ANSWER_PART = st.one_of(
    st.builds(lambda text: {"text": text}, TEXT),
    st.builds(lambda text, seal: signed({"text": text, "thought": True}, seal), TEXT, SIGNATURE),
    st.builds(
        lambda name, given, seal: signed({"functionCall": {"name": name, "args": given}}, seal),
        st.sampled_from(["f", "custom"]),
        ARGUMENTS,
        SIGNATURE,
    ),
    st.builds(lambda seal: signed({"text": ""}, seal), SIGNATURE),
)


@given(st.lists(ANSWER_PART, max_size=5), st.sampled_from(sorted(FINISH)), st.data())
def test_any_answer_is_the_same_whole_and_streamed(parts: list[Any], reason: str, data: st.DataObject) -> None:
    usage = {"promptTokenCount": 3, "candidatesTokenCount": 4, "thoughtsTokenCount": 2, "totalTokenCount": 9}
    end = {"finishReason": reason}
    whole = {"candidates": [{"content": {"parts": parts}, **end}], "usageMetadata": usage}
    pieces_of = [piece for part in parts for piece in streamed(part, data)]
    chunks: list[Any] = [{"candidates": [{"content": {"parts": [piece]}}]} for piece in pieces_of]
    chunks.append({"candidates": [{"content": {"parts": [{"text": ""}]}, **end}], "usageMetadata": usage})
    streamed_answer = answered(decoder(["custom"]), [stream(*chunks)])
    check_whole_is_fold(streamed_answer, answered(decoder(["custom"]), [orjson.dumps(whole)]))
    check_whole_is_fold(streamed_answer, answered(decoder(["custom"]), [orjson.dumps(chunks)]))


def streamed(part: Any, data: st.DataObject) -> list[Any]:
    """A part as it may come in a stream: plain text in pieces, anything else whole."""
    if part.keys() != {"text"}:
        return [part]
    text = part["text"]
    at = data.draw(st.lists(st.integers(0, len(text)), max_size=4))
    return [{"text": piece.decode("utf-32-le")} for piece in cut(text.encode("utf-32-le"), [4 * place for place in at])]


# Total over what the installed SDK knows, so that something new is noticed.


def ended(word: str, *parts: Any) -> Outcome:
    chunk = {"candidates": [{"content": {"parts": list(parts)}, "finishReason": word}]}
    return answered(decoder(), [stream(chunk)])


def test_every_finish_reason_is_mapped() -> None:
    assert {each.value for each in types.FinishReason} == FINISH.keys() | UNCLEAR | FAILED
    assert not FINISH.keys() & (UNCLEAR | FAILED)
    assert not UNCLEAR & FAILED


@pytest.mark.parametrize("word", sorted(FINISH))
def test_a_clear_reason_ends_an_answer_whatever_is_in_it(word: str) -> None:
    for parts in ((), ({"text": "t"},)):
        outcome = ended(word, *parts)
        assert outcome.error is None
        assert outcome.events[-1] == Finished(0, FINISH[word], word)


@pytest.mark.parametrize("word", [*sorted(UNCLEAR), "SOMETHING_NEW"])
def test_an_unclear_reason_ends_an_answer_only_if_there_is_one(word: str) -> None:
    assert ended(word, {"text": "t"}).events[-1] == Finished(0, FinishReason.STOP, word)
    assert isinstance(ended(word).error, BadReply)
    assert isinstance(ended(word, {"text": "h", "thought": True}).error, BadReply)


@pytest.mark.parametrize("word", sorted(FAILED))
def test_a_failure_is_one_whatever_came_before(word: str) -> None:
    for parts in ((), ({"text": "t"},)):
        error = ended(word, *parts).error
        assert isinstance(error, UpstreamFailure)
        # Only a history without its signatures is not mended by asking again.
        is_ours = word == "MISSING_THOUGHT_SIGNATURE"
        assert isinstance(error, UpstreamRejected if is_ours else BadReply)
        assert error.recovery is (Recovery.CALLER if is_ours else Recovery.RETRY_THEN_NEXT)


@pytest.mark.parametrize("reason", [each.value for each in types.BlockedReason])
@pytest.mark.parametrize("choices", [1, 2])
def test_a_blocked_prompt_is_a_content_filter_for_every_choice(reason: str, choices: int) -> None:
    chunk = {"promptFeedback": {"blockReason": reason}, "usageMetadata": {"promptTokenCount": 3}}
    outcome = answered(decoder(choices=choices), [stream(chunk)])
    assert outcome.error is None
    reply = fold(outcome.events)
    assert [choice.finish for choice in reply.choices] == [FinishReason.CONTENT_FILTER] * choices
    assert reply.usage is not None
    assert reply.usage.input_tokens == 3


# The SDK as an independent reader of the transcripts.


ReadBySdk: TypeAlias = Callable[[Case], list[types.GenerateContentResponse]]


@pytest.fixture(scope="module")
def read_by_sdk() -> Iterator[ReadBySdk]:
    """Reads a transcript with one client for all of them: making one takes half a second."""
    answers: list[bytes] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=answers.pop())

    with httpx2.Client(transport=httpx2.MockTransport(answer)) as http:
        options = types.HttpOptions(base_url="http://127.0.0.1:9", httpx_client=http)
        client = genai.Client(api_key="k", vertexai=False, http_options=options)

        def read(case: Case) -> list[types.GenerateContentResponse]:
            answers.append(case.data)
            return list(client.models.generate_content_stream(model="m", contents="x"))

        yield read


@pytest.mark.parametrize("case", [case for case in CASES if "reads" in case.about], ids=case_id)
def test_the_sdk_reads_the_same(case: Case, read_by_sdk: ReadBySdk) -> None:
    outcome = decoded(case.decoders()(), [case.data])
    assert outcome.error is None
    reply = fold(outcome.events)
    theirs = read_by_sdk(case)
    assert {choice.index: our_form(choice) for choice in reply.choices} == sdk_form(theirs)
    assert our_usage(reply) == sdk_usage(theirs)


def sdk_form(chunks: list[types.GenerateContentResponse]) -> dict[int, Any]:
    forms: dict[int, Any] = {}
    for chunk in chunks:
        for candidate in chunk.candidates or ():
            form = forms.setdefault(candidate.index or 0, {"text": "", "reasoning": "", "calls": [], "signatures": []})
            for part in (candidate.content and candidate.content.parts) or ():
                add_part(form, part)
            if candidate.finish_reason is not None:
                form["finish"] = FINISH.get(candidate.finish_reason.value, FinishReason.STOP)
        if chunk.prompt_feedback is not None:
            filtered = FinishReason.CONTENT_FILTER
            forms[0] = {"text": "", "reasoning": "", "calls": [], "signatures": [], "finish": filtered}
    return {index: {**form, "signatures": sorted(form["signatures"])} for index, form in forms.items()}


def add_part(form: dict[str, Any], part: types.Part) -> None:
    if part.function_call is not None:
        form["calls"].append((part.function_call.id, part.function_call.name, part.function_call.args or {}))
    elif part.thought:
        form["reasoning"] += part.text or ""
    elif part.inline_data is None or "image" not in (part.inline_data.mime_type or ""):
        form["text"] += part.text or ""
    else:
        form["text"] += "![image](data:image/png;base64,iVBORw0KGgo=)"
    if part.thought_signature is not None:
        form["signatures"].append(part.thought_signature)


def our_form(choice: Choice) -> dict[str, Any]:
    signatures = [call.signature for call in choice.tool_calls if call.signature]
    signatures += [(block.detail or {}).get("thoughtSignature", block.signature) for block in choice.thinking]
    return {
        "text": choice.text or "",
        "reasoning": choice.reasoning or "",
        "calls": [(call.id or None, call.name, arguments(call.kind, call.arguments)) for call in choice.tool_calls],
        "signatures": sorted(map(b64decode, signatures)),
        "finish": choice.finish,
    }


def arguments(kind: str, written: str) -> Any:
    return {"input": written} if kind == "custom" else json.loads(written or "{}")


def our_usage(reply: Reply) -> tuple[int, ...]:
    usage = reply.usage
    assert usage is not None
    return usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens or 0


def sdk_usage(chunks: list[types.GenerateContentResponse]) -> tuple[int, ...]:
    """The counts by the SDK's own words for the total: all but the input was produced."""
    last: dict[str, int] = {}
    for chunk in chunks:
        if chunk.usage_metadata is not None:
            last |= {name: value for name, value in chunk.usage_metadata if isinstance(value, int)}
    read = last["prompt_token_count"] + last.get("tool_use_prompt_token_count", 0)
    return (
        read,
        last.get("cached_content_token_count", 0),
        last["total_token_count"] - read,
        last.get("thoughts_token_count", 0),
    )
