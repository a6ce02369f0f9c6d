"""Puts the fragments of tool calls together, in every way that hosts number, name and repeat them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

import orjson

from core.chat import Json
from core.events import Event, ToolCallDelta, ToolCallStarted
from core.providers.custom_tools import unwrapped
from core.providers.failure_words import bad_reply

_LEGACY: Final = "function_call"

_Key: TypeAlias = int | str | None


@dataclass(slots=True)
class _Call:
    number: int
    id: str = ""
    name: str = ""
    kind: Literal["function", "custom"] = "function"
    is_wrapped: bool = False
    is_started: bool = False
    pieces: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether the arguments so far are a whole JSON document."""
        try:
            orjson.loads("".join(self.pieces))
        except orjson.JSONDecodeError:
            return False
        return True


class CallAssembler:
    """The tool calls of one choice.

    Args:
        choice: Index of the choice.
        custom_tools: Free-text tools that were sent as functions; their calls are held until they are whole.
    """

    __slots__ = ("_calls", "_choice", "_custom_tools", "_latest")

    def __init__(self, choice: int, custom_tools: frozenset[str]) -> None:
        self._choice = choice
        self._custom_tools = custom_tools
        self._calls: list[_Call] = []
        self._latest: dict[_Key, _Call] = {}

    @property
    def count(self) -> int:
        """How many calls were opened."""
        return len(self._calls)

    def add(self, fragment: Json, events: list[Event]) -> None:
        """Take one item of `tool_calls`.

        Raises:
            BadReply: It belongs to no call.
        """
        if not isinstance(fragment, dict):
            raise bad_reply("a tool call is not an object")
        kind: Literal["function", "custom"] = "custom" if isinstance(fragment.get("custom"), dict) else "function"
        body = fragment.get(kind)
        index = fragment.get("index")
        self._take(
            key=index if isinstance(index, int) else None,
            call_id=_id(fragment.get("id")),
            body=body if isinstance(body, dict) else {},
            kind=kind,
            events=events,
        )

    def add_legacy(self, fragment: Json, events: list[Event]) -> None:
        """Take a deprecated `function_call`."""
        if isinstance(fragment, dict):
            self._take(key=_LEGACY, call_id="", body=fragment, kind="function", events=events)

    def settle(self, events: list[Event]) -> None:
        """Tell of the latest call: no more of its name can come."""
        if self._calls:
            self._start(self._latest[None], events)

    def end(self, events: list[Event]) -> None:
        """Let out what was held.

        Raises:
            BadReply: A call never got its name.
        """
        for call in self._calls:
            if not call.name:
                raise bad_reply("a tool call has no name")
            self._start(call, events)
            if call.is_wrapped:
                call.is_wrapped = False
                events.append(ToolCallDelta(self._choice, call.number, unwrapped("".join(call.pieces))))

    def _take(
        self,
        *,
        key: _Key,
        call_id: str,
        body: Mapping[str, Json],
        kind: Literal["function", "custom"],
        events: list[Event],
    ) -> None:
        name = body.get("name")
        name = name if isinstance(name, str) else ""
        arguments = _arguments(body.get("input" if kind == "custom" else "arguments"))
        call = self._open(key, call_id, name, arguments)
        if call is None:
            if not (call_id or name):
                if not arguments:
                    return
                raise bad_reply("arguments belong to no tool call")
            self.settle(events)
            call = _Call(len(self._calls), kind=kind)
            self._calls.append(call)
        self._latest[key] = self._latest[None] = call
        call.id = call.id or call_id
        if name != call.name and not call.is_started:
            call.name += name
        if arguments or call.pieces:  # until then, more of the name may come
            self._start(call, events)
        if arguments:
            call.pieces.append(arguments)
            if call.is_started and not call.is_wrapped:
                events.append(ToolCallDelta(self._choice, call.number, arguments))

    def _open(self, key: _Key, call_id: str, name: str, arguments: str) -> _Call | None:
        """The call that a fragment continues; None when it begins one."""
        call = self._latest.get(key)
        if key is None and call_id:
            call = next((known for known in self._calls if known.id == call_id), call)
        if call is None or not name or not call.name:
            # Only a fragment with a name can begin another call where one is open: some hosts make up an id each time.
            return call
        if call_id and call.id:
            return call if call_id == call.id else None
        if name != call.name:
            # A name in pieces; where nothing numbers the calls, or this one has its arguments, it is another's.
            return call if key is not None and not call_id and not call.is_started else None
        # The name again, without an id to tell: another call only if this one cannot go on.
        return None if arguments and call.pieces and call.is_complete else call

    def _start(self, call: _Call, events: list[Event]) -> None:
        if call.is_started or not call.name:
            return
        call.is_started = True
        call.is_wrapped = call.name in self._custom_tools and call.kind == "function"
        kind: Literal["function", "custom"] = "custom" if call.is_wrapped else call.kind
        events.append(ToolCallStarted(self._choice, call.number, call.id, call.name, kind))
        if call.pieces and not call.is_wrapped:  # arguments that came before the name
            events.append(ToolCallDelta(self._choice, call.number, "".join(call.pieces)))


def _id(value: Json) -> str:
    """A tool call id; Mistral's default is the string `null` (its SDK 3.7.0, 2026-11-30)."""
    return value if isinstance(value, str) and value != "null" else ""


def _arguments(value: Json) -> str:
    """Arguments as the string they are in OpenAI's format; Mistral may send the object itself."""
    if value is None:
        return ""
    return value if isinstance(value, str) else orjson.dumps(value).decode()
