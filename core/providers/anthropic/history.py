"""The conversation as the format wants it: system apart, turns that alternate, the user's first and last.

What a single message becomes is `content`'s business.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from core.catalog.model import Quirk, Target
from core.chat import ChatRequest, Json, Message, Role
from core.providers.anthropic.content import Block, Content
from core.providers.base import Prepared
from core.providers.fields import Disposed
from core.providers.pairing import RESULTS, in_call_order
from core.providers.remembered import own_ids
from core.providers.tool_ids import IdForm, mapped_ids

ANTHROPIC_IDS: Final = IdForm(re.compile(r"[a-zA-Z0-9_-]+"), 64)

_SYSTEM: Final = (Role.SYSTEM, Role.DEVELOPER)

# The format has no empty turns and wants a user's at both ends; OpenAI's has no such rules.
_NOTHING_SAID: Final[Block] = {"type": "text", "text": "(empty message)"}
_GO_ON: Final[Block] = {"type": "text", "text": "Continue."}


@dataclass(frozen=True, slots=True)
class Conversation:
    """`system` and `messages`. `has_thinking` tells whether the last turn with tool calls brings its thinking along."""

    system: list[Block]
    messages: list[dict[str, Json]]
    has_thinking: bool

    @property
    def in_loop(self) -> bool:
        """Whether the prompt ends in tool results, maybe with more behind them."""
        last = next(turn for turn in reversed(self.messages) if turn["role"] == "user")
        return bool(last["content"][0]["type"] == "tool_result")

    @property
    def blocks(self) -> list[Block]:
        """All blocks in the order of the prompt."""
        return [*self.system, *(block for turn in self.messages for block in turn["content"])]


def conversation(request: ChatRequest, target: Target, prepared: Prepared, disposed: Disposed) -> Conversation:
    """Convert the history.

    Raises:
        InvalidRequest: An image or a file is of no type that the format has.
    """
    messages = in_call_order(request.messages)
    content = Content(target, prepared, disposed, mapped_ids(messages, ANTHROPIC_IDS, own_ids(prepared.turns, target)))
    turns = _Turns(content, takes_system=target.has(Quirk.SYSTEM_TURNS))
    for index, message in enumerate(messages):
        turns.add(message, index)
    turns.end(is_all_system=all(message.role in _SYSTEM for message in messages))
    return Conversation(turns.system, turns.turns, turns.has_thinking)


@dataclass(slots=True)
class _Turns:
    """Builds turns. `late` holds system blocks that wait for a user's turn to follow."""

    content: Content
    takes_system: bool
    system: list[Block] = field(default_factory=list)
    turns: list[dict[str, Json]] = field(default_factory=list)
    late: list[Block] = field(default_factory=list)
    has_thinking: bool = False
    is_begun: bool = False

    def add(self, message: Message, index: int) -> None:
        if message.role not in RESULTS:  # nothing may stand between results
            self._place_late()
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
                self._say("user", [self.content.result(message)])
            case _:
                self._say("user", self.content.spoken(message, index))

    def end(self, *, is_all_system: bool) -> None:
        self._place_late()
        self._say("user", [_as_user(block) for block in self.late])
        if not self.turns:
            self._say("user", self.system if is_all_system and self.system else [_NOTHING_SAID])
            self.system = [] if is_all_system else self.system
        if self.turns[0]["role"] == "assistant":
            self.turns.insert(0, {"role": "user", "content": [_NOTHING_SAID]})
        if self.turns[-1]["role"] == "assistant":
            self._say("user", [_GO_ON])

    def _add_system(self, blocks: list[Block]) -> None:
        if not self.is_begun:
            self.system += blocks
        elif not self.takes_system:
            # Not to the system prompt: that would change the prefix which is cached and to which thinking is bound.
            self._say("user", [_as_user(block) for block in blocks])
        elif self.turns and self.turns[-1]["role"] != "assistant":
            self._say("system", blocks)
        else:
            self.late += blocks

    def _place_late(self) -> None:
        if self.turns and self.turns[-1]["role"] == "user":
            late, self.late = self.late, []
            self._say("system", late)

    def _say(self, role: str, blocks: list[Block]) -> None:
        if not blocks:
            return
        if self.turns and self.turns[-1]["role"] == role:
            self.turns[-1]["content"].extend(blocks)
        else:
            self.turns.append({"role": role, "content": list(blocks)})


def _as_user(block: Block) -> Block:
    return {**block, "text": f"<system>\n{block['text']}\n</system>"}
