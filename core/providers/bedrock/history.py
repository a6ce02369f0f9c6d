"""The conversation as Converse wants it: system apart, turns that alternate, the user's first and last, results first.

What a single message becomes is `content`'s business.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from core.catalog.model import Target
from core.chat import ChatRequest, Json, Message, Role
from core.providers.base import Prepared
from core.providers.bedrock.content import Block, Content
from core.providers.fields import Disposed
from core.providers.pairing import in_call_order
from core.providers.remembered import own_ids
from core.providers.thinking import is_claude
from core.providers.tool_ids import IdForm, mapped_ids

BEDROCK_IDS: Final = IdForm(re.compile(r"[a-zA-Z0-9_.:-]+"), 64)

_SYSTEM: Final = (Role.SYSTEM, Role.DEVELOPER)

# The format has no empty turns and wants a user's at both ends; OpenAI's has no such rules.
_NOTHING_SAID: Final[Block] = {"text": "(empty message)"}
_GO_ON: Final[Block] = {"text": "Continue."}

# A document is refused without a text in its turn (wire reference, 2.3, read 2026-11-30).
_WITH_DOCUMENT: Final[Block] = {"text": "(see the attached document)"}


@dataclass(frozen=True, slots=True)
class Conversation:
    """`system` and `messages`. `has_thinking` tells whether the last turn with tool calls brings its thinking along."""

    system: list[Block]
    messages: list[dict[str, Json]]
    has_thinking: bool

    @property
    def lists(self) -> list[list[Block]]:
        """All lists of blocks in the order of the prompt."""
        return [self.system, *(turn["content"] for turn in self.messages)]


def conversation(request: ChatRequest, target: Target, prepared: Prepared, disposed: Disposed) -> Conversation:
    """Convert the history.

    Raises:
        InvalidRequest: An image or a file is of no type that the format has.
    """
    messages = in_call_order(request.messages)
    content = Content(target, prepared, disposed, mapped_ids(messages, BEDROCK_IDS, own_ids(prepared.turns, target)))
    turns = _Turns(content, keeps_place=is_claude(target))
    for index, message in enumerate(messages):
        turns.add(message, index)
    turns.end(is_all_system=all(message.role in _SYSTEM for message in messages))
    return Conversation(turns.system, turns.turns, turns.has_thinking)


@dataclass(slots=True)
class _Turns:
    """Builds turns. `keeps_place` tells where a system message goes that comes late: into a user's turn."""

    content: Content
    keeps_place: bool
    system: list[Block] = field(default_factory=list)
    turns: list[dict[str, Json]] = field(default_factory=list)
    has_thinking: bool = False
    is_begun: bool = False

    def add(self, message: Message, index: int) -> None:
        if message.role in _SYSTEM:
            self._add_system(self.content.spoken(message, index))
            return
        self.is_begun = True
        match message.role:
            case Role.ASSISTANT:
                self._say("assistant", self.content.answered(message, index))
                if message.tool_calls:
                    self.has_thinking = bool(self.content.remembered(message.tool_calls))
            case Role.TOOL | Role.FUNCTION:
                self._say("user", self.content.result(message))
            case _:
                self._say("user", self.content.spoken(message, index))

    def end(self, *, is_all_system: bool) -> None:
        if not self.turns:
            self._say("user", self.system if is_all_system and self.system else [_NOTHING_SAID])
            self.system = [] if is_all_system else self.system
        if self.turns[0]["role"] == "assistant":
            self.turns.insert(0, {"role": "user", "content": [_NOTHING_SAID]})
        if self.turns[-1]["role"] == "assistant":
            self._say("user", [_GO_ON])
        for turn in self.turns:
            blocks = turn["content"]
            if any("document" in block for block in blocks) and not any("text" in block for block in blocks):
                blocks.append(_WITH_DOCUMENT)

    def _add_system(self, blocks: list[Block]) -> None:
        if self.is_begun and self.keeps_place:
            # Claude's thinking is bound to what precedes it: a system prompt that grows would make it worthless.
            self._say("user", [_as_user(block) for block in blocks])
        else:
            self.system += blocks

    def _say(self, role: str, blocks: list[Block]) -> None:
        if not blocks:
            return
        if self.turns and self.turns[-1]["role"] == role:
            self.turns[-1]["content"].extend(blocks)
        else:
            self.turns.append({"role": role, "content": list(blocks)})


def _as_user(block: Block) -> Block:
    return {"text": f"<system>\n{block['text']}\n</system>"} if "text" in block else block
