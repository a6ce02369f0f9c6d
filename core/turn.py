"""Makes the rules that hold for every format true of one assistant turn, whatever its decoder let through.

It mints tool call ids, drops what is empty, holds each choice's end until nothing can follow it, and lets the finish
reason agree with what was sent. It reads no vendor's words.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from core.chat import FinishReason
from core.errors import Interrupted
from core.events import (
    ChoiceEvent,
    Event,
    Finished,
    Noted,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    ToolCallStarted,
    UsageReported,
)

MintCallId: TypeAlias = Callable[[int, int], str]
"""Gives a tool call its id from the choice's and the call's index: at most 40 characters of `[A-Za-z0-9_-]`."""


@dataclass(slots=True)
class _ChoiceState:
    unfilled: dict[int, None] = field(default_factory=dict)
    calls: int = 0
    finished: Finished | None = None


class Turn:
    """One attempt's stream of events, made consistent.

    Args:
        mint: Names tool calls; upstream ids repeat, ours must not.
    """

    def __init__(self, mint: MintCallId) -> None:
        self._mint = mint
        self._choices: dict[int, _ChoiceState] = {}

    def feed(self, events: Iterable[Event]) -> tuple[Event, ...]:
        """Pass on what may be sent now; ends of choices are held until `close`."""
        sent: list[Event] = []
        for event in events:
            if isinstance(event, UsageReported | Noted):
                sent.append(event)
                continue
            state = self._choices.get(event.choice)
            if state is None:
                state = self._choices[event.choice] = _ChoiceState()
            passed = self._pass(state, event)
            if passed is not None:
                sent.append(passed)
        return tuple(sent)

    def close(self) -> tuple[Event, ...]:
        """End every choice, in order.

        Raises:
            Interrupted: A choice was opened and never finished, or there was none at all.
        """
        ends = {index: state.finished for index, state in sorted(self._choices.items()) if state.finished is not None}
        if not ends or len(ends) < len(self._choices):
            raise Interrupted("The model's answer broke off before it was complete. Send the request again.")
        sent: list[Event] = []
        for index, finished in ends.items():
            state = self._choices[index]
            # A call without arguments must still parse as JSON on the caller's side.
            sent.extend(ToolCallDelta(index, call, "{}") for call in state.unfilled)
            sent.append(replace(finished, reason=_agreeing(finished.reason, state.calls)))
        return tuple(sent)

    def _pass(self, state: _ChoiceState, event: ChoiceEvent) -> ChoiceEvent | None:
        match event:
            case Finished():
                if state.finished is None:
                    state.finished = event
                return None
            case ToolCallStarted():
                state.calls += 1
                if event.kind == "function":
                    state.unfilled[event.call] = None
                minted = self._mint(event.choice, event.call)
                return replace(event, id=minted, upstream_id=event.id or None)
            case ToolCallDelta():
                if not event.arguments:
                    return None
                state.unfilled.pop(event.call, None)
                return event
            case TextDelta() | RefusalDelta():
                return event if event.text or event.logprobs else None
            case _:
                return event


def _agreeing(reason: FinishReason, calls: int) -> FinishReason:
    if reason is FinishReason.STOP and calls:
        return FinishReason.TOOL_CALLS
    if reason is FinishReason.TOOL_CALLS and not calls:
        return FinishReason.STOP
    return reason
