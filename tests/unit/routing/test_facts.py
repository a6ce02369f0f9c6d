"""What a request shows by itself, and the little of its text that is looked at."""

import pytest

from core.chat import (
    AudioPart,
    ChatRequest,
    CustomTool,
    FilePart,
    FunctionTool,
    ImagePart,
    Message,
    Part,
    RefusalPart,
    ResponseFormat,
    Role,
    TextPart,
    ToolCall,
    ToolChoice,
)
from core.routing.facts import Facts, facts_of, most_prompt_tokens, prompt_tokens
from core.routing.script import Script
from core.routing.window import MOST, MOST_BEFORE, MOST_PARTS, asked, sampled

WEATHER = FunctionTool("weather", "Tells the weather.", {"type": "object", "properties": {"city": {"type": "string"}}})
GRAMMAR = CustomTool("run", format={"type": "grammar"})
CALL = ToolCall("call_1", "weather", '{"city": "Oslo"}')


def said(content: str | tuple[Part, ...], role: Role = Role.USER) -> Message:
    return Message(role, content, {})


def request(*messages: Message, **members: object) -> ChatRequest:
    return ChatRequest(model="auto", messages=messages, written={}, **members)  # type: ignore[arg-type]  # members of many types


def facts(text: str, **members: object) -> Facts:
    return facts_of(request(said(text), **members))


def test_a_plain_question_needs_nothing_special() -> None:
    found = facts("How high is the highest mountain of Japan?")
    assert 8 < found.prompt_tokens < 20
    assert found == Facts(prompt_tokens=found.prompt_tokens, text="How high is the highest mountain of Japan?")


def test_tools_that_may_not_be_called_do_not_count() -> None:
    tools = (WEATHER, GRAMMAR, FunctionTool("stop"))
    assert facts("hi", tools=tools).tools == 3
    assert facts("hi", tools=tools, tool_choice=ToolChoice("auto")).tool_forced is False
    assert facts("hi", tools=tools, tool_choice=ToolChoice("required")).tool_forced is True
    assert facts("hi", tools=tools, tool_choice=ToolChoice("none")).tools == 0
    assert facts("hi", tools=tools).prompt_tokens > facts("hi").prompt_tokens + 20


def test_a_tool_loop_is_seen_and_its_calls_are_counted() -> None:
    assistant = Message(Role.ASSISTANT, None, {}, tool_calls=(CALL,), reasoning_content="I should look it up first.")
    loop = request(said("Is it cold in Oslo?"), assistant, said("-4 degrees", Role.TOOL))
    assert facts_of(loop).tool_loop is True
    assert facts_of(loop).prompt_tokens > facts("Is it cold in Oslo?").prompt_tokens + 20
    assert facts_of(request(said("Is it cold in Oslo?"))).tool_loop is False


def test_what_is_not_text_is_counted_by_kind() -> None:
    parts = (
        TextPart("What is on these?"),
        ImagePart("https://example.com/a.png"),
        ImagePart("https://example.com/b.png"),
        FilePart(file_id="file-1"),
        FilePart(data="A" * 300_000),
        AudioPart("A" * 80_000, "wav"),
    )
    found = facts_of(request(said(parts), said((RefusalPart("I can not."),), Role.ASSISTANT)))
    assert (found.images, found.documents, found.audio_input, found.audio_output) == (2, 2, True, False)
    assert found.prompt_tokens > 2 * 800 + 500 + 10_000 + 100
    assert facts("say it", modalities=("text", "audio")).audio_output is True


def test_what_is_sent_comes_to_more_at_most() -> None:
    parts = (ImagePart("https://example.com/a.png"), FilePart(data="A" * 300_000), AudioPart("A" * 80_000, "wav"))
    schema = {"type": "object", "properties": {"name": {"type": "string", "description": "\u1210" * 100}}}
    shape = ResponseFormat("json_schema", schema=schema)
    asked = request(said("\u1210" * 100), response_format=shape, tools=(FunctionTool("f", "\u1210" * 100, schema),))
    assert prompt_tokens(asked) < 4 * 100
    assert most_prompt_tokens(asked) > 4 * 300
    media = request(said(parts))
    assert most_prompt_tokens(media) == 2 * 4 + 1_600 + 15_000 + 150
    assert prompt_tokens(media) == 4 + 800 + 10_000 + 100


def test_the_shape_asked_for() -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}
    as_schema = facts("who?", response_format=ResponseFormat("json_schema", schema=schema))
    as_json = facts("who?", response_format=ResponseFormat("json_object"))
    assert (as_schema.schema, as_schema.json_mode) == (True, False)
    assert (as_json.schema, as_json.json_mode) == (False, True)
    assert as_schema.prompt_tokens > as_json.prompt_tokens


@pytest.mark.parametrize(
    ("switch", "effort", "thinks"),
    [(None, None, None), (True, None, True), (False, "high", False), (None, "high", True), (None, "none", False)],
)
def test_whether_thinking_is_asked_for(switch: bool | None, effort: str | None, thinks: bool | None) -> None:
    assert facts("hm", extended_thinking=switch, reasoning_effort=effort).thinking is thinks


def test_the_limit_and_the_turns() -> None:
    talk = request(said("one"), said("two", Role.ASSISTANT), said("three"), max_tokens=77)
    assert (facts_of(talk).max_tokens, facts_of(talk).turns) == (77, 2)


@pytest.mark.parametrize(
    ("text", "code", "maths"),
    [
        ("Tell me about the sea.", False, False),
        ("```\nls\n```", True, False),
        ("def add(a, b):\n    return first_one == other_one", True, False),
        ("solve 3x + 4 = 2x - 7", False, True),
        ("∫ x² dx, 4 * 7", False, True),
    ],
)
def test_code_and_maths_are_seen(text: str, code: bool, maths: bool) -> None:
    assert (facts(text).code, facts(text).maths) == (code, maths)


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("", Script.LATIN),
        ("naïve façade", Script.LATIN),
        ("… — ½", Script.LATIN),
        ("Привет, как дела? ok", Script.CYRILLIC),
        ("كيف حالك اليوم", Script.ARABIC),
        ("आज मौसम कैसा है", Script.DEVANAGARI),
        ("今天天气怎么样", Script.HAN),
        ("今日の天気はどうですか", Script.KANA),
        ("오늘 날씨 어때요", Script.HANGUL),
        ("Δέξου λίγη ζάχαρη", Script.OTHER),
        ("สบายดีไหม", Script.OTHER),
    ],
)
def test_scripts(text: str, script: Script) -> None:
    assert facts(text).script is script


def test_a_long_text_is_sampled_at_its_beginning_middle_and_end() -> None:
    text = "A" * 50_000 + "M" * 2_000 + "Z" * 50_000
    seen = sampled(text)
    assert len(seen) == MOST + 2
    assert seen.startswith("AAA")
    assert "MMM" in seen
    assert seen.endswith("ZZZ")
    assert sampled("short") == "short"


def test_what_was_said_last_counts_with_the_instructions() -> None:
    talk = request(
        said("You are a clerk.", Role.SYSTEM),
        said("What do you sell in this shop, and what does it cost?"),
        said("Maps.", Role.ASSISTANT),
        said("Then give me a map of the harbour and of the old town, please."),
    )
    assert asked(talk) == "You are a clerk.\nThen give me a map of the harbour and of the old town, please."


def test_a_short_answer_comes_with_what_was_said_before() -> None:
    first = "Write a poem about the harbour in winter, when nothing moves."
    talk = request(said("", Role.DEVELOPER), said(first), said("Shall I?", Role.ASSISTANT), said("yes, go on"))
    assert asked(talk) == f"{first}\nyes, go on"
    assert len(asked(request(said("x" * 9_000), said("shorter")))) < MOST_BEFORE + 20
    assert asked(request(said(()), said("go"))) == "go"


def test_of_very_many_parts_the_first_and_the_last_are_looked_at() -> None:
    parts = tuple(TextPart(f"part {number}") for number in range(5_000))
    seen = asked(request(said(parts)))
    assert seen.startswith("part 0\n")
    assert seen.endswith("part 4999")
    assert seen.count("part") == MOST_PARTS


def test_nothing_said_is_nothing_asked() -> None:
    assert asked(request(said("Be brief.", Role.SYSTEM))) == "Be brief.\n"
    assert facts_of(request()).text == ""
