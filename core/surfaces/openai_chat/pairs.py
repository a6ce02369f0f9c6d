"""Holds tool calls and their results together: no host takes one without the other (wire reference, section 4.5)."""

from collections import Counter
from dataclasses import replace
from itertools import islice

from core.chat import Message, Role
from core.errors import InvalidRequest
from core.surfaces.openai_chat.checks import At, wrong


class Pairs:
    """Follows a conversation message by message.

    A call without its result is refused as `missing_tool_result`. So is, as a wrong value, a result that does not
    follow its call; results come right after the turn that made the calls, in any order.

    Args:
        at: Where the messages stand.
    """

    def __init__(self, at: At) -> None:
        self._at = at
        self._caller = 0
        self._is_deprecated = False
        self._open: Counter[str] = Counter()

    def follow(self, index: int, message: Message) -> Message:
        """The message as it is, save that a deprecated function result gets the id of its call."""
        if message.role is Role.TOOL:
            self._answer(index, message.tool_call_id or "", "tool_call_id")
        elif message.role is Role.FUNCTION:
            call_id = f"call_function_{self._caller}"
            self._answer(index, call_id, "name")
            return replace(message, tool_call_id=call_id)
        else:
            if self._open:
                raise self._missing()
            if message.tool_calls:
                self._caller = index
                self._is_deprecated = message.written.get("function_call") is not None
                self._open = Counter(call.id for call in message.tool_calls)
        return message

    def end(self) -> None:
        """Check that nothing is left open."""
        if self._open:
            raise self._missing()

    def _answer(self, index: int, call_id: str, member: str) -> None:
        if not self._open.get(call_id):
            raise wrong(
                ((self._at, index), member),
                "does not name an open call of the assistant message before it. "
                "Each result follows the message with its call, once.",
            )
        self._open[call_id] -= 1
        if not self._open[call_id]:
            del self._open[call_id]

    def _missing(self) -> InvalidRequest:
        caller = (self._at, self._caller)
        if self._is_deprecated:
            return wrong(
                (caller, "function_call"),
                "has no result. Send a 'function' message with the function's name right after it.",
                "missing_tool_result",
            )
        listed = ", ".join(f"'{call_id[:60]}'" for call_id in islice(self._open, 3))
        return wrong(
            (caller, "tool_calls"),
            f"has no result for {listed}. Send a 'tool' message with that 'tool_call_id' right after it.",
            "missing_tool_result",
        )
