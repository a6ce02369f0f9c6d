"""Remembers which model served a conversation, so that the next turn can stay with it: best effort, in this process.

Conversations are told apart by hashes of their turns; no text is kept.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from core.chat import FilePart, ImagePart, Message, Part, RefusalPart, Role, TextPart

_LONG: Final = 4_096
_END: Final = 1_024


class Served(NamedTuple):
    """Who served a turn; `host` is the target's name."""

    model: str
    host: str


class Conversations:
    """The last turns of at most `most` conversations; those that were not continued for longest go first."""

    def __init__(self, most: int = 10_000) -> None:
        self._most = most
        self._served: dict[int, Served] = {}

    def served(self, conversation: int | None) -> Served | None:
        """Who served that turn, None where it is not known."""
        return None if conversation is None else self._served.get(conversation)

    def keep(self, conversation: int, served: Served) -> None:
        """Note who served a turn."""
        self._served.pop(conversation, None)
        if len(self._served) >= self._most:
            del self._served[next(iter(self._served))]
        self._served[conversation] = served


def this_turn(org: str, messages: Sequence[Message]) -> int:
    """The name of a conversation as it stands, under which its answer is noted."""
    name = hash(org)
    for message in messages:
        content = message.content
        said = _brief(content) if isinstance(content, str) else tuple(map(_part, message.parts))
        calls = tuple((call.name, _brief(call.arguments)) for call in message.tool_calls)
        name = hash((name, message.role.value, said, calls))
    return name


def turn_before(org: str, messages: Sequence[Message]) -> int | None:
    """The name that a conversation had when its last answer was asked for; None when there was no answer yet."""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].role is Role.ASSISTANT:
            return this_turn(org, messages[:place])
    return None


def _part(part: Part) -> tuple[str, ...]:
    match part:
        case TextPart(text):
            return ("text", _brief(text))
        case ImagePart(url):
            return ("image", _brief(url))
        case FilePart(data, file_id):
            return ("file", _brief(data or ""), file_id or "")
        case RefusalPart(refusal):
            return ("refusal", _brief(refusal))
        case _:
            return ("audio", _brief(part.data))


def _brief(text: str) -> str:
    """The text where it is short, else its length and ends: hashing megabytes would take milliseconds."""
    return text if len(text) <= _LONG else f"{len(text)} {text[:_END]} {text[-_END:]}"
