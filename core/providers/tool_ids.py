"""Gives tool calls ids that an upstream takes: by a fixed one-to-one mapping, calls and results linked."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from core.chat import Message

_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_HASHED: Final = 9


@dataclass(frozen=True, slots=True)
class IdForm:
    """What ids an upstream takes.

    `pattern` matches the whole of a good id of at most `longest` characters. Others keep what is good of them, then
    nine letters and digits of their hash; with `readable` False only those.
    """

    pattern: re.Pattern[str]
    longest: int
    readable: bool = True

    def takes(self, call_id: str) -> bool:
        """Whether an id can be sent as it is."""
        return len(call_id) <= self.longest and self.pattern.fullmatch(call_id) is not None

    def fitted(self, call_id: str, salt: int = 0) -> str:
        """A good id made of any other."""
        number = int.from_bytes(sha256(f"{salt or ''}{call_id}".encode(errors="replace")).digest())
        digits = []
        for _ in range(_HASHED):
            number, digit = divmod(number, len(_ALPHABET))
            digits.append(_ALPHABET[digit])
        suffix = "".join(digits)
        if not self.readable:
            return suffix
        kept = "".join(char if self.pattern.fullmatch(char) else "_" for char in call_id)
        return f"{kept[: self.longest - _HASHED - 1]}_{suffix}"


OPENAI_IDS: Final = IdForm(re.compile(r"[A-Za-z0-9_-]+"), 40)
SHORT_IDS: Final = IdForm(re.compile(r"[A-Za-z0-9]{9}"), 9, readable=False)


def mapped_ids(messages: Iterable[Message], form: IdForm, known: Mapping[str, str]) -> Mapping[str, str]:
    """The id to send for every tool call id of a history; earlier turns decide, so a longer history changes nothing.

    Args:
        messages: The history.
        form: What the upstream takes.
        known: Ids that the upstream itself gave to calls, by ours; they go back as they were, where they are unique.
    """
    sent: dict[str, str] = {}
    taken: set[str] = set()
    for call_id in _ids(messages):
        if call_id in sent:
            continue
        own = call_id if form.takes(call_id) else form.fitted(call_id)
        choice = known.get(call_id) or own
        if choice in taken:
            choice = own
        salt = 0
        while choice in taken:
            salt += 1
            choice = form.fitted(call_id, salt)
        sent[call_id] = choice
        taken.add(choice)
    return sent


def _ids(messages: Iterable[Message]) -> Iterable[str]:
    for message in messages:
        for call in message.tool_calls:
            yield call.id
        if message.tool_call_id is not None:
            yield message.tool_call_id
