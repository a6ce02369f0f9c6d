"""What becomes of fields at a target: the table, refined by abilities, values and what hosts refuse."""

from collections.abc import Mapping

import orjson
import pytest

from core.catalog.model import (
    Abilities,
    Format,
    Quirk,
    StructuredOutput,
    Target,
    Thinking,
    ThinkingSwitch,
)
from core.chat import ChatRequest, Json
from core.providers.dispositions import ROWS, Disposition
from core.providers.fields import Disposed, dispose, fields_of, first_place, refusal
from core.providers.supported import supported_parameters
from core.surfaces.openai_chat import parse_chat
from core.surfaces.surface import PLAIN
from tests.support.targets import make_target, make_vendor

FUNCTION: Json = {"type": "function", "function": {"name": "look", "strict": True}}
CALL: Json = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
FORCED: Json = {"tools": [FUNCTION], "tool_choice": "required"}


def chat(**members: Json) -> ChatRequest:
    body = {"model": "lab/small", "messages": [{"role": "user", "content": "Say it in JSON."}], **members}
    return parse_chat(orjson.dumps(body), PLAIN).request


def said(*parts: Json) -> list[Json]:
    return [{"role": "user", "content": list(parts)}]


def target(wire: Format = Format.OPENAI, switch: ThinkingSwitch = ThinkingSwitch.NONE, **can: Json) -> Target:
    return make_target(vendor=make_vendor(format=wire), abilities=Abilities(**can), thinking_switch=switch)


def dropped(disposed: Disposed) -> tuple[str, ...]:
    return tuple(name for name in disposed.reported if name not in disposed.kept)


ANTHROPIC, GEMINI, BEDROCK = target(Format.ANTHROPIC), target(Format.GEMINI), target(Format.BEDROCK)


def test_what_the_format_has_not_is_reported_sorted_and_nothing_else_is() -> None:
    request = chat(temperature=0.5, seed=1, verbosity="low", logit_bias={"1": 2}, metadata={"a": "b"})
    disposed = dispose(request, ANTHROPIC)
    assert disposed.reported == ("logit_bias", "metadata", "seed", "verbosity")
    assert disposed.refused == ()
    assert disposed.sends("temperature")
    assert not disposed.sends("seed")
    assert not disposed.sends("top_p")


@pytest.mark.parametrize(
    "quiet",
    [
        {"n": 1},
        {"logprobs": False},
        {"store": False},
        {"frequency_penalty": 0, "presence_penalty": 0.0},
        {"logit_bias": {}, "metadata": {}},
        {"modalities": ["text"]},
        {"response_format": {"type": "text"}},
        {"tools": [{"type": "function", "function": {"name": "f", "strict": False}}], "tool_choice": "auto"},
        {"service_tier": "auto"},
        {"verbosity": "medium"},
        {"stop": []},
        {"stream": True, "stream_options": {"include_usage": True, "include_obfuscation": False}},
        {"reasoning_effort": "none", "extended_thinking": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("wire", Format)
def test_asking_for_what_happens_anyway_is_never_reported(quiet: Mapping[str, Json], wire: Format) -> None:
    disposed = dispose(chat(**quiet), target(wire, tools=True))
    assert disposed.reported == ()
    assert disposed.refused == ()


def test_unknown_fields_go_to_the_openai_format_and_are_reported_elsewhere() -> None:
    request = chat(top_k=4, stream=True, stream_options={"fast": True})
    assert dispose(request, target()).sends("top_k")
    assert dispose(request, target()).reported == ()
    assert dispose(request, GEMINI).reported == ("stream_options.fast", "top_k")


def test_what_a_model_host_or_vendor_refuses_is_left_out_and_reported() -> None:
    request = chat(temperature=0.5, top_p=0.5, seed=4, max_tokens=9)
    refusing = make_target(
        vendor=make_vendor(refuses=frozenset({"top_p"})),
        abilities=Abilities(refuses=frozenset({"temperature", "max_tokens"})),
        refuses=frozenset({"seed"}),
    )
    disposed = dispose(request, refusing)
    assert disposed.reported == ("seed", "temperature", "top_p")
    assert disposed.sends("max_tokens")  # under the name that the host has for it


@pytest.mark.parametrize("name", ["stop", "n", "tools", "response_format"])
def test_what_changes_the_answer_is_refused_where_it_cannot_be_served(name: str) -> None:
    values: dict[str, Json] = {
        "stop": "x",
        "n": 2,
        "tools": [FUNCTION],
        "response_format": {"type": "json_object"},
    }
    able = Abilities(tools=True, choices=4, json_mode=True, refuses=frozenset({name}))
    disposed = dispose(chat(**{name: values[name]}), make_target(abilities=able))
    assert [field for field, _ in disposed.refused] == [name]


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"tools": [FUNCTION]}, "tools"),
        ({"functions": [{"name": "f"}]}, "functions"),
        ({"n": 3}, "n"),
        ({"modalities": ["text", "audio"], "audio": {"format": "wav", "voice": "ash"}}, "modalities"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "s"}}},
            "response_format",
        ),
        (
            {"messages": said({"type": "image_url", "image_url": {"url": "https://a/b.png"}})},
            "messages[].content[].image_url",
        ),
        (
            {"messages": said({"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}})},
            "messages[].content[].input_audio",
        ),
        (
            {"messages": said({"type": "file", "file": {"file_data": "AA=="}})},
            "messages[].content[].file",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_plain_text_model_refuses_what_it_cannot_do(members: Mapping[str, Json], field: str) -> None:
    for wire in (Format.OPENAI, Format.GEMINI):
        disposed = dispose(chat(**members), target(wire))
        assert [name for name, _ in disposed.refused] == [field]
        error = refusal(disposed, chat(**members))
        assert error is not None
        place = field.replace("[]", "[0]")
        assert (error.status, error.code, error.param) == (400, "unsupported_parameter", place)
        assert error.message.startswith("This model ")


def test_nothing_refused_is_no_error() -> None:
    assert refusal(dispose(chat(), target()), chat()) is None


@pytest.mark.parametrize(
    ("pattern", "place"),
    [
        ("messages[].content[].image_url", "messages[1].content[1].image_url"),
        ("messages[].content[].image_url.detail", "messages[1].content[2].image_url.detail"),
        ("messages[].content[].file.file_id", "messages[2].content[0].file.file_id"),
        ("tools[].custom", "tools[1].custom"),
        ("tool_choice", "tool_choice"),
        ("seed", "seed"),
        ("messages[].audio", "messages[].audio"),
        ("messages[].role[].part", "messages[].role[].part"),
    ],
)
def test_the_first_place_of_a_field_is_found(pattern: str, place: str) -> None:
    image: Json = {"type": "image_url", "image_url": {"url": "https://a/b.png"}}
    request = chat(
        messages=[
            {"role": "user", "content": "x"},
            *said(
                {"type": "text", "text": "y"}, image, {**image, "image_url": {**image["image_url"], "detail": "low"}}
            ),
            *said({"type": "file", "file": {"file_id": "file-1"}}),
        ],
        tools=[FUNCTION, {"type": "custom", "custom": {"name": "run"}}],
        tool_choice="auto",
    )
    assert first_place(pattern, request) == place


def test_abilities_open_what_they_allow() -> None:
    able = target(
        tools=True, vision=True, documents=True, audio_input=True, audio_output=True, json_mode=True, choices=4
    )
    request = chat(
        tools=[FUNCTION],
        n=4,
        modalities=["audio"],
        audio={"format": "wav", "voice": "ash"},
        response_format={"type": "json_object"},
        messages=[
            *said(
                {"type": "text", "text": "JSON"},
                {"type": "image_url", "image_url": {"url": "https://a/b.png", "detail": "low"}},
                {"type": "image_url", "image_url": {"url": "https://a/b.png", "detail": "auto"}},
                {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
                {"type": "file", "file": {"file_id": "file-1", "filename": "a.pdf"}},
            )
        ],
    )
    disposed = dispose(request, able)
    assert disposed.refused == ()
    assert disposed.reported == ()
    assert disposed.kept == set(fields_of(request))
    assert dispose(chat(n=5), able).refused == (("n", "This model gives at most 4 answers per call."),)


def test_json_mode_is_said_in_words_where_the_format_has_none() -> None:
    request = chat(response_format={"type": "json_object"})
    assert dispose(request, ANTHROPIC).sends("response_format")
    assert dispose(request, BEDROCK).sends("response_format")
    schema = chat(
        response_format={"type": "json_schema", "json_schema": {"name": "s", "description": "d", "strict": True}}
    )
    assert dispose(schema, ANTHROPIC).refused
    follows = target(Format.ANTHROPIC, structured_output=StructuredOutput.UNVERIFIED)
    disposed = dispose(schema, follows)
    assert disposed.refused == ()
    assert disposed.reported == (
        "response_format.json_schema.description",
        "response_format.json_schema.name",
    )
    assert disposed.sends("response_format.json_schema.strict")
    no_schemas = make_target(
        vendor=make_vendor(refuses=frozenset({"response_format.json_schema"})),
        abilities=Abilities(structured_output=StructuredOutput.VERIFIED),
    )
    assert [name for name, _ in dispose(schema, no_schemas).refused] == ["response_format.json_schema"]


def test_temperatures_are_cut_to_the_range_of_the_host_and_reported() -> None:
    hot, mild = chat(temperature=1.5), chat(temperature=1)
    for cutting in (ANTHROPIC, BEDROCK):
        assert dispose(hot, cutting).sends("temperature")
        assert dispose(hot, cutting).reported == ("temperature",)
        assert dispose(mild, cutting).reported == ()
    assert dispose(hot, GEMINI).reported == ()


@pytest.mark.parametrize("thinking", [Thinking.OPTIONAL, Thinking.ALWAYS])
def test_claude_takes_no_sampling_while_it_thinks(thinking: Thinking) -> None:
    claude = target(Format.ANTHROPIC, ThinkingSwitch.ADAPTIVE, thinking=thinking)
    request = chat(temperature=0.3, top_p=0.5, extended_thinking=True)
    assert dropped(dispose(request, claude)) == ("temperature", "top_p")
    assert dispose(chat(temperature=1, top_p=0.96, extended_thinking=True), claude).reported == ()
    if thinking is Thinking.OPTIONAL:
        assert dispose(chat(temperature=0.3, extended_thinking=False), claude).reported == ()
    others = target(Format.GEMINI, ThinkingSwitch.LEVEL, thinking=thinking)
    assert dispose(request, others).reported == ()


def test_a_forced_tool_call_wins_over_thinking_on_claude() -> None:
    claude = target(Format.BEDROCK, ThinkingSwitch.BUDGET, thinking=Thinking.OPTIONAL, tools=True)
    both = chat(**FORCED, extended_thinking=True, reasoning_effort="high")
    assert dropped(dispose(both, claude)) == ("extended_thinking", "reasoning_effort")
    assert dispose(chat(**FORCED), claude).reported == ()
    assert dispose(chat(**FORCED, extended_thinking=False), claude).reported == ()
    named = {"type": "function", "function": {"name": "look"}}
    unforced = target(Format.ANTHROPIC, tools=True, forced_tools=False)
    assert [name for name, _ in dispose(chat(**FORCED), unforced).refused] == ["tool_choice"]
    assert [name for name, _ in dispose(chat(tools=[FUNCTION], tool_choice=named), unforced).refused]
    assert dispose(chat(tools=[FUNCTION], tool_choice="auto"), unforced).refused == ()


@pytest.mark.parametrize(
    ("members", "can", "switch", "expected"),
    [
        ({"extended_thinking": True}, {}, ThinkingSwitch.NONE, ("extended_thinking",)),
        ({"extended_thinking": False}, {}, ThinkingSwitch.NONE, ()),
        ({"reasoning_effort": "high"}, {}, ThinkingSwitch.NONE, ("reasoning_effort",)),
        ({"reasoning_effort": "none"}, {}, ThinkingSwitch.NONE, ()),
        ({"extended_thinking": True}, {"thinking": Thinking.ALWAYS}, ThinkingSwitch.NONE, ()),
        ({"extended_thinking": False}, {"thinking": Thinking.ALWAYS}, ThinkingSwitch.NONE, ()),
        ({"reasoning_effort": "none"}, {"thinking": Thinking.ALWAYS}, ThinkingSwitch.EFFORT, ("reasoning_effort",)),
        ({"extended_thinking": True}, {"thinking": Thinking.OPTIONAL}, ThinkingSwitch.NONE, ("extended_thinking",)),
        ({"extended_thinking": True}, {"thinking": Thinking.OPTIONAL}, ThinkingSwitch.ENABLE_THINKING, ()),
        ({"reasoning_effort": "low"}, {"thinking": Thinking.OPTIONAL}, ThinkingSwitch.NONE, ("reasoning_effort",)),
        (
            {"reasoning_effort": "low"},
            {"thinking": Thinking.OPTIONAL},
            ThinkingSwitch.ENABLE_THINKING,
            ("reasoning_effort",),
        ),
        ({"reasoning_effort": "none"}, {"thinking": Thinking.OPTIONAL}, ThinkingSwitch.ENABLE_THINKING, ()),
        (
            {"reasoning_effort": "low"},
            {"thinking": Thinking.OPTIONAL, "efforts": ("low", "high")},
            ThinkingSwitch.THINKING_TYPE,
            (),
        ),
        (
            {"reasoning_effort": "high", "extended_thinking": False},
            {"thinking": Thinking.OPTIONAL},
            ThinkingSwitch.REASONING_EFFORT,
            ("reasoning_effort",),
        ),
        (
            {"reasoning_effort": "none", "extended_thinking": True},
            {"thinking": Thinking.OPTIONAL},
            ThinkingSwitch.REASONING_EFFORT,
            ("reasoning_effort",),
        ),
    ],
    ids=str,
)
def test_thinking_that_cannot_be_asked_for_is_reported(
    members: Mapping[str, Json], can: Mapping[str, Json], switch: ThinkingSwitch, expected: tuple[str, ...]
) -> None:
    assert dropped(dispose(chat(**members), target(switch=switch, **can))) == expected


def test_an_effort_that_was_moved_is_kept_and_reported() -> None:
    coarse = target(switch=ThinkingSwitch.REASONING_EFFORT, thinking=Thinking.ALWAYS, efforts=("low", "high"))
    disposed = dispose(chat(reasoning_effort="max"), coarse)
    assert disposed.sends("reasoning_effort")
    assert disposed.reported == ("reasoning_effort",)
    assert dispose(chat(reasoning_effort="low"), coarse).reported == ()


def test_values_that_a_format_cannot_say_are_reported() -> None:
    assert dropped(dispose(chat(service_tier="flex"), ANTHROPIC)) == ("service_tier",)
    assert dispose(chat(service_tier="flex"), GEMINI).reported == ()
    assert dropped(dispose(chat(service_tier="scale"), BEDROCK)) == ("service_tier",)
    assert dispose(chat(service_tier="scale"), target()).reported == ()
    assert dropped(dispose(chat(seed=2**31), GEMINI)) == ("seed",)
    assert dispose(chat(seed=-(2**31)), GEMINI).reported == ()
    assert dispose(chat(seed=2**31), target()).reported == ()
    assert dropped(dispose(chat(stop=[" ", "\n"]), ANTHROPIC)) == ("stop",)
    assert dispose(chat(stop=[" ", "x"]), ANTHROPIC).kept >= {"stop"}
    assert dispose(chat(stop=[" ", "x"]), ANTHROPIC).reported == ("stop",)
    assert dispose(chat(stop=[" "]), GEMINI).reported == ()


def test_one_user_id_goes_to_anthropic() -> None:
    assert dropped(dispose(chat(user="u", safety_identifier="s"), ANTHROPIC)) == ("user",)
    assert dispose(chat(user="u"), ANTHROPIC).reported == ()
    assert dispose(chat(user="u", safety_identifier="s"), target()).reported == ()


def test_token_ids_mean_nothing_to_a_model_that_is_not_chosen_yet() -> None:
    assert dropped(dispose(chat(model="auto", logit_bias={"5": 1}), target())) == ("logit_bias",)
    assert dispose(chat(model="auto", logit_bias={}), target()).reported == ()
    assert dispose(chat(logit_bias={"5": 1}), target()).reported == ()


def test_bedrock_tells_when_tools_stay_although_none_may_be_called() -> None:
    history = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "y"},
    ]
    able = target(Format.BEDROCK, tools=True)
    none: Json = {"tools": [FUNCTION], "tool_choice": "none"}
    assert dispose(chat(**none), able).reported == ()
    assert dispose(chat(**none, messages=history), able).reported == ("tool_choice",)
    assert dispose(chat(tools=[FUNCTION], tool_choice="auto", messages=history), able).reported == ()
    deprecated = chat(tools=[FUNCTION], function_call="none", messages=history)
    assert dispose(deprecated, able).reported == ("function_call",)


def test_custom_tools_are_told_apart_and_their_grammar_is_reported_where_it_is_not_enforced() -> None:
    grammar = {"type": "grammar", "grammar": {"definition": "x", "syntax": "regex"}}
    custom = [
        {"type": "custom", "custom": {"name": "a", "format": grammar}},
        {"type": "custom", "custom": {"name": "b", "format": {"type": "text"}}},
        {"type": "custom", "custom": {"name": "c"}},
    ]
    native = make_target(vendor=make_vendor(quirks=frozenset({Quirk.CUSTOM_TOOLS})), abilities=Abilities(tools=True))
    assert dispose(chat(tools=custom), native).reported == ()
    for wire in Format:
        disposed = dispose(chat(tools=custom), target(wire, tools=True))
        assert disposed.reported == ("tools[].custom.format",)
        assert disposed.sends("tools[].custom")
        assert dispose(chat(tools=custom[1:]), target(wire, tools=True)).reported == ()
    allowed = {"mode": "auto", "tools": [{"type": "custom", "custom": {"name": "b"}}]}
    narrowed = chat(tools=custom[1:], tool_choice={"type": "allowed_tools", "allowed_tools": allowed})
    assert dispose(narrowed, native).sends("tool_choice.allowed_tools")


def test_names_on_messages_go_where_they_are_taken() -> None:
    named = chat(messages=[{"role": "user", "name": "ann", "content": "x"}])
    shy = make_target(vendor=make_vendor(quirks=frozenset({Quirk.NO_MESSAGE_NAMES})))
    assert dispose(named, target()).sends("messages[].name")
    assert dropped(dispose(named, shy)) == ("messages[].name",)
    assert dropped(dispose(named, ANTHROPIC)) == ("messages[].name",)


def test_what_an_answer_sent_back_carries_is_never_reported() -> None:
    answer = {
        "role": "assistant",
        "content": [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "b"}],
        "refusal": "no",
        "reasoning_content": "hm",
        "annotations": [{}],
        "parsed": 1,
        "audio": {"id": "audio_1", "transcript": "a"},
        "function_call": {"name": "f", "arguments": "{}"},
    }
    result = {"role": "function", "name": "f", "content": "1"}
    request = chat(messages=[{"role": "user", "content": "x"}, answer, result])
    for wire in Format:
        assert dispose(request, target(wire)).reported == ()
    assert dispose(request, target()).kept >= {"messages[].refusal", "messages[].function_call"}


def test_audio_kept_elsewhere_is_reported_where_it_brings_no_transcript() -> None:
    told = {"role": "assistant", "audio": {"id": "audio_1", "transcript": "hello"}}
    silent = {"role": "assistant", "audio": {"id": "audio_2"}}
    asks = {"role": "user", "content": "x"}
    assert dispose(chat(messages=[asks, told]), GEMINI).reported == ()
    assert dropped(dispose(chat(messages=[asks, silent, told]), GEMINI)) == ("messages[].audio",)
    assert dispose(chat(messages=[asks, silent]), target()).reported == ()


def test_audio_settings_without_audio_are_reported() -> None:
    assert dropped(dispose(chat(audio={"format": "wav", "voice": "ash"}), target())) == ("audio",)


def test_cache_marks_are_translated_and_their_lifetime_is_reported() -> None:
    marked = {"type": "text", "text": "x", "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"}}
    plain = {"type": "text", "text": "x", "prompt_cache_breakpoint": {"mode": "explicit"}}
    mark = "messages[].content[].prompt_cache_breakpoint"
    request = chat(messages=said(marked, plain), prompt_cache_options={"mode": "explicit", "ttl": "30m"})
    assert dispose(request, target()).reported == ()
    claude = dispose(request, ANTHROPIC)
    assert claude.kept >= {mark, "prompt_cache_options"}
    assert claude.reported == (f"{mark}.ttl", "prompt_cache_options.ttl")
    assert dispose(request, GEMINI).reported == (
        mark,
        f"{mark}.ttl",
        "prompt_cache_options",
        "prompt_cache_options.ttl",
    )


def test_deprecated_functions_ask_for_one_call_at_a_time_without_telling() -> None:
    request = chat(functions=[{"name": "f"}], function_call={"name": "f"})
    able = dispose(request, target(tools=True))
    assert able.kept >= {"functions", "function_call", "parallel_tool_calls"}
    assert dispose(request, target(Format.GEMINI, tools=True)).reported == ()
    asked = chat(functions=[{"name": "f"}], parallel_tool_calls=False)
    assert dispose(asked, target(Format.GEMINI, tools=True)).reported == ("parallel_tool_calls",)


def test_one_look_at_the_fields_serves_many_targets() -> None:
    request = chat(temperature=0.5, seed=1)
    fields = fields_of(request)
    for wire in Format:
        assert dispose(request, target(wire), fields) == dispose(request, target(wire))


def test_every_rule_that_loses_something_says_why_to_people() -> None:
    for name, row in ROWS.items():
        for rule in row:
            assert rule.reaches == (rule.disposition in (Disposition.FORWARDED, Disposition.MAPPED))
            if rule.disposition is Disposition.REFUSED:
                assert rule.reason.endswith("."), name


def test_supported_parameters_follow_abilities_formats_and_refusals() -> None:
    plain = supported_parameters([target()])
    assert {"temperature", "max_tokens", "stream", "logprobs", "user"} <= set(plain)
    assert not {"tools", "n", "audio", "reasoning_effort", "response_format"} & set(plain)
    assert list(plain) == sorted(plain)
    able = target(
        Format.ANTHROPIC, tools=True, thinking=Thinking.OPTIONAL, json_mode=True, refuses=frozenset({"top_p"})
    )
    claude = supported_parameters([able])
    assert {"tools", "functions", "reasoning_effort", "response_format"} <= set(claude)
    assert not {"logprobs", "seed", "top_p", "n", "modalities"} & set(claude)
    assert "seed" in supported_parameters([able, target(Format.GEMINI)])
    assert {"n", "audio"} <= set(supported_parameters([target(choices=2, audio_output=True)]))


@pytest.mark.parametrize("kind", [{"type": "json_object"}, {"type": "json_schema", "json_schema": {"name": "n"}}])
def test_json_beside_tools_is_refused_where_a_host_does_not_take_both(kind: Json) -> None:
    able = Abilities(tools=True, json_mode=True, structured_output=StructuredOutput.VERIFIED)
    older = make_target(
        vendor=make_vendor(format=Format.GEMINI), abilities=able, quirks=frozenset({Quirk.JSON_WITHOUT_TOOLS})
    )
    both = chat(response_format=kind, tools=[FUNCTION])
    refused = dispose(both, older).refused
    assert {name for name, _ in refused} == {"response_format"}
    assert dispose(both, make_target(vendor=make_vendor(format=Format.GEMINI), abilities=able)).refused == ()
    assert dispose(chat(response_format=kind), older).refused == ()
    assert dispose(chat(response_format={"type": "text"}, tools=[FUNCTION]), older).refused == ()


@pytest.mark.parametrize("wire", [Format.ANTHROPIC, Format.BEDROCK])
@pytest.mark.parametrize(
    ("members", "reported"),
    [
        ({"reasoning_effort": "high", "max_tokens": 40_000}, ()),
        ({"reasoning_effort": "high", "max_tokens": 20_000}, ("reasoning_effort",)),  # the budget is cut
        ({"reasoning_effort": "low", "max_tokens": 1_200}, ()),
        ({"reasoning_effort": "low", "max_tokens": 1_024}, ("reasoning_effort",)),  # there is none
        ({"extended_thinking": True, "max_tokens": 1_024}, ("extended_thinking",)),
        ({"extended_thinking": False, "max_tokens": 1_024}, ()),
        ({"extended_thinking": True, "max_tokens": 2_000}, ()),
    ],
)
def test_a_budget_that_does_not_fit_is_reported(
    wire: Format, members: Mapping[str, Json], reported: tuple[str, ...]
) -> None:
    by_budget = make_target(
        vendor=make_vendor(format=wire),
        abilities=Abilities(thinking=Thinking.OPTIONAL),
        max_output_tokens=64_000,
        thinking_switch=ThinkingSwitch.BUDGET,
    )
    assert dispose(chat(**members), by_budget).reported == reported


def test_a_level_is_still_sent_where_there_is_no_room_for_a_budget() -> None:
    both = target(Format.ANTHROPIC, ThinkingSwitch.BUDGET, thinking=Thinking.OPTIONAL, efforts=("low", "high"))
    assert dispose(chat(reasoning_effort="high", max_tokens=1_000), both).sends("reasoning_effort")


@pytest.mark.parametrize(("wire", "is_told"), [(wire, wire in (Format.ANTHROPIC, Format.BEDROCK)) for wire in Format])
def test_more_cache_marks_than_claude_takes_are_reported(wire: Format, is_told: bool) -> None:
    mark = {"prompt_cache_breakpoint": {"mode": "explicit"}}
    texts = [{"type": "text", "text": "a", **mark}] * 3
    called = {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}], "tool_calls": [CALL]}
    result = {"role": "tool", "tool_call_id": "call_1", "content": texts}
    few = chat(messages=[*said(*texts), called, result], tools=[FUNCTION])
    many = chat(messages=[*said(*texts, *texts[:1]), called, result], tools=[FUNCTION])
    name = "messages[].content[].prompt_cache_breakpoint"
    assert name not in dispose(few, target(wire, tools=True)).reported or wire is Format.GEMINI
    disposed = dispose(many, target(wire, tools=True))
    assert (name in disposed.reported and disposed.sends(name)) is is_told
