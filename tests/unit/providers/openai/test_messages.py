"""Messages as the upstream gets them."""

from typing import Any

import orjson
import pytest

from core.catalog.model import Abilities, Quirk, Target, Thinking, ThinkingSwitch
from core.chat import ChatRequest, Message, Role, SealedThinking
from core.ports import ToolTurn
from core.providers.base import Media, Prepared, RemoteMedia
from core.providers.openai import OpenAIFormat
from tests.support.requests import ask
from tests.support.targets import make_target, make_vendor

ABLE = Abilities(tools=True, vision=True, documents=True, audio_input=True, audio_output=True)
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "r"}
IMAGE = {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}


def target(*quirks: Quirk, abilities: Abilities = ABLE, refuses: tuple[str, ...] = (), **host: Any) -> Target:
    vendor = make_vendor(quirks=frozenset(quirks), refuses=frozenset(refuses))
    return make_target("up", vendor=vendor, abilities=abilities, **host)


def sent(messages: list[Any], to: Target | None = None, prepared: Prepared | None = None, **members: Any) -> list[Any]:
    return encoded(ask(messages, **members), to, prepared)


def encoded(request: ChatRequest, to: Target | None = None, prepared: Prepared | None = None) -> list[Any]:
    outgoing = OpenAIFormat().encode(request, to or target(), prepared or Prepared())
    listed: list[Any] = orjson.loads(outgoing.body)["messages"]
    return listed


def assistant(**members: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, **members}


def user(content: Any = "Hi.") -> dict[str, Any]:
    return {"role": "user", "content": content}


@pytest.mark.parametrize(
    "message",
    [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi."},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": ""}]},
        {"role": "user", "content": "Hi.", "name": "ann"},
        {"role": "user", "content": [IMAGE, {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}]},
        {"role": "user", "content": [{"type": "file", "file": {"file_data": "data:application/pdf;base64,AA"}}]},
        {"role": "user", "content": [{"type": "file", "file": {"file_id": "file-1", "filename": "a.pdf"}}]},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "Hi.", "weird": {"a": None}},
    ],
)
def test_plain_messages_go_exactly_as_written(message: dict[str, Any]) -> None:
    assert sent([message, user()])[0] == message


def test_a_tool_loop_goes_exactly_as_written() -> None:
    loop = [user(), assistant(tool_calls=[CALL]), RESULT, {**RESULT, "role": "user", "content": "And?"}]
    del loop[3]["tool_call_id"]
    assert sent(loop) == loop


def test_what_only_answers_carry_stays_behind() -> None:
    echoed = assistant(
        content="Yes.",
        refusal=None,
        annotations=[],
        audio=None,
        parsed={"a": 1},
        function_call=None,
        tool_calls=[],
        reasoning_content="h",
        reasoning="h",
        reasoning_details=[{"type": "reasoning.text"}],
    )
    assert sent([user(), echoed])[1] == {"role": "assistant", "content": "Yes."}


def test_what_sdks_add_to_tool_calls_stays_behind() -> None:
    function = {"name": "f", "arguments": "{}", "parsed_arguments": {}}
    call = {"id": "call_1", "type": "function", "index": 0, "custom": None, "function": function, "seen": 1}
    expected = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}, "seen": 1}
    assert sent([user(), assistant(tool_calls=[call]), RESULT])[1]["tool_calls"] == [expected]


@pytest.mark.parametrize("arguments", ["", "  "])
def test_a_call_without_arguments_has_an_object(arguments: str) -> None:
    call = {**CALL, "function": {"name": "f", "arguments": arguments}}
    made = sent([user(), assistant(tool_calls=[call]), RESULT])[1]["tool_calls"]
    assert made[0]["function"]["arguments"] == "{}"


@pytest.mark.parametrize("arguments", ['{"a": 1', "nonsense", "[1]", '"text"', "null", "1", "{} {}"])
def test_broken_arguments_are_an_object_where_templates_read_them_and_go_as_written_elsewhere(arguments: str) -> None:
    call = {**CALL, "function": {"name": "f", "arguments": arguments}}
    history = [user(), assistant(tool_calls=[call]), RESULT]
    assert sent(history)[1]["tool_calls"][0]["function"]["arguments"] == arguments
    read = sent(history, target(Quirk.PARSED_ARGUMENTS))[1]["tool_calls"][0]["function"]["arguments"]
    assert orjson.loads(read) == {"_raw": arguments}


@pytest.mark.parametrize("arguments", ['{"a":1}', " {} ", '{"a": 1.0, "a": 2}'])
def test_an_object_goes_byte_for_byte_to_all(arguments: str) -> None:
    call = {**CALL, "function": {"name": "f", "arguments": arguments}}
    for to in (target(), target(Quirk.PARSED_ARGUMENTS)):
        made = sent([user(), assistant(tool_calls=[call]), RESULT], to)[1]["tool_calls"]
        assert made[0]["function"]["arguments"] == arguments


def test_developers_are_system_for_clones() -> None:
    message = {"role": "developer", "content": "Be brief."}
    assert sent([message, user()])[0]["role"] == "system"
    assert sent([message, user()], target(Quirk.DEVELOPER_ROLE))[0]["role"] == "developer"


def test_names_go_where_they_are_taken() -> None:
    named = {**user(), "name": "ann"}
    assert sent([named], target(Quirk.NO_MESSAGE_NAMES)) == [user()]
    loop = [user(), assistant(tool_calls=[CALL]), {**RESULT, "name": "f"}]
    assert sent(loop)[2] == loop[2]
    assert "name" not in sent(loop, target(Quirk.NO_MESSAGE_NAMES))[2]


def test_null_content_beside_tool_calls() -> None:
    loop = [user(), assistant(tool_calls=[CALL]), RESULT]
    assert sent(loop)[1]["content"] is None
    assert sent(loop, target(Quirk.EMPTY_CONTENT))[1]["content"] == ""
    loop[1]["content"] = ""
    assert sent(loop)[1]["content"] == ""
    loop[1]["content"] = []
    assert sent(loop)[1]["content"] is None


def test_refusals_are_text_for_clones() -> None:
    refused = assistant(refusal="I cannot.")
    assert sent([user(), refused])[1] == {"role": "assistant", "content": "I cannot."}
    native = target(Quirk.REFUSALS)
    assert sent([user(), refused], native)[1] == refused
    parts = assistant(content=[{"type": "text", "text": "Hm."}, {"type": "refusal", "refusal": "No."}])
    assert sent([user(), parts])[1]["content"][1] == {"type": "text", "text": "No."}
    assert sent([user(), parts], native)[1] == parts
    both = assistant(content="Hm.", refusal="No.")
    assert sent([user(), both])[1]["content"] == "Hm.\n\nNo."
    mixed = assistant(content=[{"type": "text", "text": "Hm."}], refusal="No.")
    assert sent([user(), mixed])[1]["content"] == [{"type": "text", "text": "Hm."}, {"type": "text", "text": "No."}]


def test_audio_goes_by_its_id_or_as_its_transcript() -> None:
    spoken = assistant(audio={"id": "audio_1", "data": "AA", "transcript": "Hello.", "expires_at": 1})
    assert sent([user(), spoken])[1] == assistant(audio={"id": "audio_1"})
    elsewhere = target(refuses=("messages[].audio",))
    assert sent([user(), spoken], elsewhere)[1] == assistant(content="Hello.")
    assert sent([user(), {**spoken, "content": "Hi."}], elsewhere)[1] == assistant(content="Hi.")


def test_image_details_go_where_they_are_known() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://x.test/a.png", "detail": "original"}}
    assert sent([user([image])], target(Quirk.ORIGINAL_DETAIL)) == [user([image])]
    assert sent([user([image])])[0]["content"][0]["image_url"]["detail"] == "high"
    refused = target(refuses=("messages[].content[].image_url.detail",))
    assert sent([user([image])], refused) == [user([IMAGE])]


def test_cache_marks_go_where_they_are_known() -> None:
    marked = {"type": "text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}}
    assert sent([user([marked])]) == [user([marked])]
    refused = target(refuses=("messages[].content[].prompt_cache_breakpoint",))
    assert sent([user([marked])], refused) == [user([{"type": "text", "text": "a"}])]


def test_text_is_flat_where_lists_are_refused() -> None:
    flat = target(Quirk.FLAT_TEXT)
    two = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert sent([user(two)], flat) == [user("a\nb")]
    assert sent([user([*two, IMAGE])], flat) == [user([*two, IMAGE])]
    answered = [user(), assistant(content=two, tool_calls=[CALL]), {**RESULT, "content": two}]
    assert [message["content"] for message in sent(answered, flat)[1:]] == ["a\nb", "a\nb"]


def test_deprecated_function_calls_become_tool_calls() -> None:
    old = [
        user(),
        assistant(function_call={"name": "f", "arguments": "{}"}),
        {"role": "function", "name": "f", "content": None},
        assistant(function_call={"name": "f", "arguments": "{}"}),
        {"role": "function", "name": "f", "content": "r"},
    ]
    old[2]["content"] = "first"
    made = sent(old, functions=[{"name": "f"}])
    ids = [made[place]["tool_calls"][0]["id"] for place in (1, 3)]
    assert ids[0] != ids[1]
    assert made[2] == {"role": "tool", "tool_call_id": ids[0], "content": "first"}
    assert made[4] == {"role": "tool", "tool_call_id": ids[1], "content": "r"}
    assert "function_call" not in made[1]


def test_custom_calls_are_function_calls_for_clones() -> None:
    call = {"id": "call_1", "type": "custom", "custom": {"name": "shell", "input": 'say "hi"'}}
    loop = [user(), assistant(tool_calls=[call]), RESULT]
    assert sent(loop, target(Quirk.CUSTOM_TOOLS))[1]["tool_calls"] == [call]
    function = sent(loop)[1]["tool_calls"][0]["function"]
    assert function["name"] == "shell"
    assert orjson.loads(function["arguments"]) == {"input": 'say "hi"'}


def test_ids_are_mapped_in_pairs() -> None:
    bad = "functions.f:0"
    loop = [user(), assistant(tool_calls=[{**CALL, "id": bad}]), {**RESULT, "tool_call_id": bad}]
    for to, longest in ((target(), 40), (target(Quirk.SHORT_TOOL_IDS), 9)):
        made = sent(loop, to)
        call_id = made[1]["tool_calls"][0]["id"]
        assert call_id != bad
        assert len(call_id) <= longest
        assert made[2]["tool_call_id"] == call_id


def test_an_upstream_gets_its_own_ids_back() -> None:
    to = target()
    loop = [user(), assistant(tool_calls=[CALL]), RESULT]
    mine = ToolTurn(model=to.model.id, host=to.name, upstream_ids={"call_1": "functions.f:0"})
    other = ToolTurn(model=to.model.id, host="other/up", upstream_ids={"call_1": "functions.f:0"})
    assert sent(loop, to, Prepared(turns={"call_1": mine}))[2]["tool_call_id"] == "functions.f:0"
    assert sent(loop, to, Prepared(turns={"call_1": other}))[2]["tool_call_id"] == "call_1"


def test_thinking_goes_back_where_it_must() -> None:
    to = target(Quirk.REASONING_BACK)
    loop = [user(), assistant(content="Let me see.", reasoning_content="client"), user(), assistant(tool_calls=[CALL])]
    loop += [RESULT]
    loop[3]["reasoning_content"] = "client"
    ours = ToolTurn(model=to.model.id, host="elsewhere", reasoning="memory")
    theirs = ToolTurn(model="another", host="elsewhere", reasoning="memory")
    made = sent(loop, to, Prepared(turns={"call_1": ours}))
    assert "reasoning_content" not in made[1]
    assert made[3]["reasoning_content"] == "memory"
    assert sent(loop, to, Prepared(turns={"call_1": theirs}))[3]["reasoning_content"] == ""
    assert sent(loop, to)[3]["reasoning_content"] == "client"
    del loop[3]["reasoning_content"]
    assert sent(loop, to)[3]["reasoning_content"] == ""
    assert "reasoning_content" not in sent(loop, target())[3]


def test_nobody_wants_thinking_back_who_is_told_not_to_think() -> None:
    abilities = Abilities(tools=True, thinking=Thinking.OPTIONAL)
    to = target(Quirk.REASONING_BACK, abilities=abilities, thinking_switch=ThinkingSwitch.THINKING_TYPE)
    loop = [user(), assistant(tool_calls=[CALL]), RESULT]
    assert "reasoning_content" not in sent(loop, to, extended_thinking=False)[1]
    assert sent(loop, to)[1]["reasoning_content"] == ""


def test_sealed_details_go_back_to_their_host_only() -> None:
    to = target(Quirk.REASONING_DETAILS_BACK)
    details = [{"type": "reasoning.text", "text": "h", "signature": "s"}, {"type": "reasoning.encrypted", "data": "d"}]
    blocks = (*(SealedThinking(detail=detail) for detail in details), SealedThinking(text="other form"))
    loop = [user(), assistant(tool_calls=[CALL], reasoning_details=[{"forged": 1}]), RESULT]
    mine = ToolTurn(model=to.model.id, host=to.name, thinking=blocks)
    assert sent(loop, to, Prepared(turns={"call_1": mine}))[1]["reasoning_details"] == details
    for turn in (
        ToolTurn(model=to.model.id, host="other", thinking=blocks),
        ToolTurn(model=to.model.id, host=to.name),
    ):
        assert "reasoning_details" not in sent(loop, to, Prepared(turns={"call_1": turn}))[1]
    assert "reasoning_details" not in sent(loop, to)[1]


def test_one_system_message_where_a_template_takes_one() -> None:
    single = target(Quirk.SINGLE_SYSTEM)
    made = sent(
        [
            {"role": "system", "content": "a"},
            user(),
            {"role": "developer", "content": [{"type": "text", "text": "b"}]},
            {"role": "system", "content": ""},
        ],
        single,
    )
    assert made == [
        {"role": "system", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        user(),
    ]
    assert sent([user()], single) == [user()]


def test_roles_alternate_where_a_template_wants_it() -> None:
    made = sent(
        [
            user("a"),
            user("b"),
            {"role": "assistant", "content": "c"},
            assistant(tool_calls=[CALL]),
            RESULT,
            user([IMAGE]),
            user("d"),
        ],
        target(Quirk.ALTERNATE_ROLES),
    )
    assert made == [
        user("a\n\nb"),
        {"role": "assistant", "content": "c", "tool_calls": [CALL]},
        RESULT,
        user([IMAGE, {"type": "text", "text": "d"}]),
    ]


def test_parallel_results_are_not_merged() -> None:
    second = {**CALL, "id": "call_2"}
    loop = [user(), assistant(tool_calls=[CALL, second]), RESULT, {**RESULT, "tool_call_id": "call_2"}]
    assert sent(loop, target(Quirk.ALTERNATE_ROLES)) == loop


def test_media_is_fetched_for_hosts_that_must_not() -> None:
    file = {"type": "file", "file": {"file_data": "https://x.test/a.pdf", "filename": "a.pdf"}}
    here = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    request = ask([user([IMAGE, here, IMAGE, file])])
    at = "messages[0].content"
    wanted = (
        RemoteMedia("https://x.test/a.png", f"{at}[0].image_url.url"),
        RemoteMedia("https://x.test/a.pdf", f"{at}[3].file.file_data"),
    )
    inlines = target(Quirk.INLINE_MEDIA)
    assert OpenAIFormat().needs(request, inlines) == wanted
    assert OpenAIFormat().needs(request, target()) == wanted[1:]
    media = {
        "https://x.test/a.png": Media(b"\x00", "image/png"),
        "https://x.test/a.pdf": Media(b"\x01", "application/pdf"),
    }
    parts = sent([user([IMAGE, file])], inlines, Prepared(media=media))[0]["content"]
    assert parts[0]["image_url"]["url"] == "data:image/png;base64,AA=="
    assert parts[1]["file"] == {"file_data": "data:application/pdf;base64,AQ==", "filename": "a.pdf"}


def test_a_message_of_our_own_needs_no_json() -> None:
    request = ask()
    again = Message(Role.USER, "Only JSON, please.", {})
    made = ChatRequest(model="m", messages=(*request.messages, again), written=request.written)
    assert encoded(made)[1] == user("Only JSON, please.")


@pytest.mark.parametrize(
    "echoed",
    [
        {"content": None, "refusal": None},
        {},
        {"content": [], "tool_calls": []},
        {"content": None, "reasoning_content": "h"},
        {"reasoning": "h", "audio": None},
    ],
    ids=str,
)
@pytest.mark.parametrize("quirks", [(), (Quirk.ALTERNATE_ROLES,), (Quirk.REFUSALS,)], ids=str)
def test_an_empty_answer_sent_back_is_an_empty_turn(echoed: dict[str, Any], quirks: tuple[Quirk, ...]) -> None:
    made = sent([user("a"), {"role": "assistant", **echoed}, user("b")], target(*quirks))
    assert made == [user("a"), {"role": "assistant", "content": ""}, user("b")]


NOT_FOR_USERS = ("tool_calls", "function_call", "reasoning_content", "reasoning", "reasoning_details", "refusal")


@pytest.mark.parametrize("name", [*NOT_FOR_USERS, "annotations", "parsed", "audio", "tool_call_id"])
def test_what_only_other_roles_have_is_an_unknown_member_here(name: str) -> None:
    for role in ("user", "system"):
        request = ask([{"role": role, "content": "a", name: "x"}])
        assert request.unknown == (f"messages[0].{name}",)
        assert encoded(request) == [{"role": role, "content": "a", name: "x"}]
        assert sent([{"role": role, "content": "a", name: None}]) == [{"role": role, "content": "a"}]
    if name != "tool_call_id":
        result = {**RESULT, name: "x"}
        assert sent([user(), assistant(tool_calls=[CALL]), result])[2] == result
    else:
        assert sent([assistant(content="a", tool_call_id="x")]) == [assistant(content="a", tool_call_id="x")]


def test_unknown_members_go_as_they_were_written_with_their_nulls_at_every_depth() -> None:
    more = {"x": None, "y": 1}
    function = {"name": "f", "arguments": "{}", **more}
    image = {"type": "image_url", "image_url": {"url": "https://x.test/a.png", **more}, **more}
    file = {"type": "file", "file": {"file_data": "data:application/pdf;base64,AA", **more}, **more}
    history = [
        {"role": "user", "content": [{"type": "text", "text": "a", **more}, image, file], **more},
        assistant(tool_calls=[{"id": "call_1", "type": "function", "function": function, **more}], **more),
        {**RESULT, **more},
        assistant(audio={"id": "audio_1", **more}),
        assistant(content=[{"type": "refusal", "refusal": "No.", **more}]),
    ]
    assert sent(history, target(Quirk.REFUSALS)) == history
    assert sent(history)[4]["content"] == [{"type": "text", "text": "No.", **more}]


def test_nulls_of_known_members_are_left_out_at_every_depth() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://x.test/a.png", "detail": None}}
    file = {"type": "file", "file": {"file_data": "data:application/pdf;base64,AA", "file_id": None}}
    call = {**CALL, "index": None, "custom": None}
    made = sent([user([image, file]), assistant(tool_calls=[call]), RESULT])
    assert made[0]["content"] == [IMAGE, {"type": "file", "file": {"file_data": "data:application/pdf;base64,AA"}}]
    assert made[1]["tool_calls"] == [CALL]


def test_of_two_images_one_may_have_a_detail() -> None:
    fine = {"type": "image_url", "image_url": {"url": "https://x.test/b.png", "detail": "high"}}
    assert sent([user([IMAGE, fine])]) == [user([IMAGE, fine])]
