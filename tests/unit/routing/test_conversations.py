"""Conversations are recognised by their turns, and remembered for a while."""

from collections.abc import Sequence

from core.chat import (
    AudioPart,
    FilePart,
    ImagePart,
    Message,
    Part,
    RefusalPart,
    Role,
    TextPart,
    ToolCall,
)
from core.routing.conversations import Conversations, Served, this_turn, turn_before


def said(role: Role, content: str | tuple[Part, ...] | None, *calls: ToolCall) -> Message:
    return Message(role, content, {}, tool_calls=calls)


FIRST = [said(Role.SYSTEM, "Be brief."), said(Role.USER, "Hello?")]
SECOND = [*FIRST, said(Role.ASSISTANT, "Hi."), said(Role.USER, "And now?")]
LOOP = [*FIRST, said(Role.ASSISTANT, None, ToolCall("c", "f", "{}")), said(Role.TOOL, "42")]


def test_the_next_turn_knows_the_name_that_this_one_had() -> None:
    assert turn_before("org", SECOND) == turn_before("org", LOOP) == this_turn("org", FIRST)
    assert turn_before("org", FIRST) is None


def test_each_organisation_has_its_own_conversations() -> None:
    assert this_turn("org", FIRST) != this_turn("other", FIRST)


def test_whatever_was_said_makes_a_difference() -> None:
    def one(*parts: Part) -> Sequence[Message]:
        return [said(Role.USER, parts)]

    histories: list[Sequence[Message]] = [
        FIRST,
        SECOND,
        LOOP,
        [said(Role.USER, "Be brief."), said(Role.USER, "Hello?")],
        [*FIRST, said(Role.ASSISTANT, None, ToolCall("c", "f", '{"a":1}'))],
        one(TextPart("a")),
        one(ImagePart("a")),
        one(FilePart(data="a")),
        one(FilePart(file_id="a")),
        one(AudioPart("a", "wav")),
        one(RefusalPart("a")),
        [said(Role.USER, "x" * 10_000)],
        [said(Role.USER, "x" * 10_001)],
        [said(Role.USER, "x" * 9_999 + "y")],
    ]
    names = [this_turn("org", history) for history in histories]
    assert len(set(names)) == len(names)
    assert names == [this_turn("org", history) for history in histories]


def test_who_served_is_remembered_for_the_most_recent_conversations() -> None:
    conversations = Conversations(most=2)
    for name in (1, 2, 1, 3):
        conversations.keep(name, Served(f"m{name}", "h"))
    assert [conversations.served(name) for name in (1, 2, 3, None)] == [
        Served("m1", "h"),
        None,
        Served("m3", "h"),
        None,
    ]
