"""Renders a stream as server-sent frames of OpenAI's chunks, with the gateway's own events around them.

It keeps only what a frame needs to know of those before it, never the text.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from core.chat import Json
from core.errors import GatewayError
from core.events import (
    AnnotationsAdded,
    AudioDelta,
    Event,
    Finished,
    Noted,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    ToolCallStarted,
)
from core.surfaces.errors import error_object
from core.surfaces.json_text import to_json
from core.surfaces.openai_chat.render import BLANK_ENDS, NOTES, finish_reason
from core.surfaces.surface import Surface

DONE: Final = b"data: [DONE]\n\n"

# Loops of every SDK's README read `choices[0].delta`: frames of our own bring one that says nothing.
_EMPTY_CHOICE: Final = {"index": 0, "delta": {}, "finish_reason": None}

_MOST_CHOICES: Final = 128

_AUDIO_PIECES: Final = frozenset({"data", "transcript"})

# On every chunk; the other notes are sent once.
_REPEATED: Final = ("system_fingerprint", "service_tier")


@dataclass(slots=True)
class _Choice:
    custom_calls: set[int] = field(default_factory=set)
    annotations: list[Json] = field(default_factory=list)
    audio_members: set[str] = field(default_factory=set)
    finished: bool = False


class StreamRenderer:
    """One stream's frames: `opening`, any number of `events`, then `closing` or `error`.

    Args:
        surface: Where the request came in; it decides on frames of our own.
        response_id: In the surface's form.
        created: Unix time in seconds.
        model: The id to show, throughout.
        include_usage: Whether the caller asked for OpenAI's usage chunk.
        legacy_functions: Whether the caller used the deprecated `functions`.
    """

    def __init__(
        self,
        surface: Surface,
        *,
        response_id: str,
        created: int,
        model: str,
        include_usage: bool = False,
        legacy_functions: bool = False,
    ) -> None:
        self._surface = surface
        self._identity: dict[str, Json] = {"id": response_id, "created": created, "model": model}
        self._include_usage = include_usage
        self._legacy = legacy_functions
        self._opened: set[int] = set()
        self._answered: set[int] = set()  # reasoning alone is no answer
        self._choices: defaultdict[int, _Choice] = defaultdict(_Choice)
        self._notes: dict[str, Json] = {"usage": None} if include_usage else {}
        chunk = to_json({"id": response_id, "object": "chat.completion.chunk", "created": created, "model": model})
        self._head = b"data: " + chunk[:-1] + b',"choices":[{"index":'
        self._tail = self._rest()

    def opening(self, routing: Mapping[str, Json]) -> bytes:
        """The frame before any content: the decision, where the surface sends it."""
        if not self._surface.own_frames:
            return b""
        return self._own_frame("routing", {"routing": routing})

    def events(self, batch: Iterable[Event]) -> bytes:
        """The frames of events that arrived together, as one piece; empty when nothing is to be sent."""
        frames: list[bytes] = []
        for event in batch:
            # By far the most; it comes first, and without a generator.
            if isinstance(event, TextDelta):
                frames.append(self._text(b'"content":', event))
            else:
                frames.extend(self._frames(event))
        return b"".join(frames)

    def closing(self, usage: Mapping[str, Json]) -> bytes:
        """The end of a good stream: usage, in the form that the caller reads, and the end marker."""
        if self._include_usage:
            chunk = {**self._identity, "object": "chat.completion.chunk", "choices": [], **self._notes, "usage": usage}
            return _frame(chunk) + DONE
        if self._surface.own_frames:
            return self._own_frame("usage", {"usage": usage}) + DONE
        return DONE

    def error(self, error: GatewayError, usage: Mapping[str, Json] | None = None) -> bytes:
        """The end of a stream that failed after it had started; `usage` is what is charged all the same, None for
        nothing."""
        held = [frame for index in self._choices for frame in self._annotations(index)]
        failure: dict[str, Json] = {"object": "error", **self._identity, "choices": [], "error": error_object(error)}
        if usage is not None:
            failure["usage"] = usage
        return b"".join((*held, _frame(failure), DONE))

    def _frames(self, event: Event) -> Iterator[bytes]:
        match event:
            case RefusalDelta():
                yield self._text(b'"refusal":', event)
            case ReasoningDelta():
                yield self._delta(event.choice, b'"reasoning_content":' + to_json(event.text))
            case ToolCallStarted():
                yield from self._call_started(event)
            case ToolCallDelta():
                yield from self._call_delta(event)
            case AudioDelta():
                yield self._audio(event)
            case AnnotationsAdded():
                # Sent once: SDKs that put chunks together cannot add to a list without indexes.
                self._choices[event.choice].annotations.extend(event.items)
            case Finished():
                yield from self._finish(event)
            case Noted():
                yield from self._noted(event)
            case _:
                pass

    def _text(self, name: bytes, event: TextDelta | RefusalDelta) -> bytes:
        if event.text:
            self._answered.add(event.choice)
        if event.logprobs is None:
            return self._delta(event.choice, name + to_json(event.text))
        logprobs = to_json({"content": None, "refusal": None, **event.logprobs})
        return self._delta(event.choice, name + to_json(event.text), b',"logprobs":' + logprobs)

    def _delta(self, choice: int, members: bytes, beside: bytes = b"") -> bytes:
        if choice in self._opened:
            return b'%b%d,"delta":{%b}%b,"finish_reason":null%b' % (self._head, choice, members, beside, self._tail)
        first = b'"role":"assistant",' + members
        return self._before(choice) + self._delta(choice, first, beside)

    def _before(self, choice: int) -> bytes:
        """Note that a choice opens, after those before it: SDKs that put chunks together want them in order."""
        earlier = range(min(choice, _MOST_CHOICES))
        opened = b"".join(self._delta(other, b'"content":null') for other in earlier if other not in self._opened)
        self._opened.add(choice)
        return opened

    def _call_started(self, event: ToolCallStarted) -> Iterator[bytes]:
        self._answered.add(event.choice)
        if self._legacy:
            if event.call == 0:
                opened = {"name": event.name, "arguments": ""}
                yield self._delta(event.choice, b'"function_call":' + to_json(opened))
            return
        call: dict[str, Json] = {"index": event.call, "id": event.id, "type": event.kind}
        if event.kind == "custom":
            self._choices[event.choice].custom_calls.add(event.call)
            call["custom"] = {"name": event.name, "input": ""}
        else:
            call["function"] = {"name": event.name, "arguments": ""}
        yield self._delta(event.choice, b'"tool_calls":[%b]' % to_json(call))

    def _call_delta(self, event: ToolCallDelta) -> Iterator[bytes]:
        piece = to_json(event.arguments)
        if self._legacy:
            if event.call == 0:
                yield self._delta(event.choice, b'"function_call":{"arguments":%b}' % piece)
        elif event.call in self._choices[event.choice].custom_calls:
            yield self._delta(event.choice, b'"tool_calls":[{"index":%d,"custom":{"input":%b}}]' % (event.call, piece))
        else:
            members = b'"tool_calls":[{"index":%d,"function":{"arguments":%b}}]' % (event.call, piece)
            yield self._delta(event.choice, members)

    def _audio(self, event: AudioDelta) -> bytes:
        if event.audio:
            self._answered.add(event.choice)
        sent = self._choices[event.choice].audio_members
        # Values that are no pieces are sent once: SDKs would add a second one to the first.
        audio = {name: value for name, value in event.audio.items() if name in _AUDIO_PIECES or name not in sent}
        sent.update(audio)
        return self._delta(event.choice, b'"audio":' + to_json(audio))

    def _annotations(self, choice: int) -> Iterator[bytes]:
        held = self._choices[choice].annotations
        if held:
            yield self._delta(choice, b'"annotations":' + to_json(held))
            held.clear()

    def _finish(self, event: Finished) -> Iterator[bytes]:
        choice = self._choices[event.choice]
        if choice.finished:
            return
        choice.finished = True
        yield from self._annotations(event.choice)
        members = []
        if event.choice not in self._opened:
            yield self._before(event.choice)
            members.append(b'"role":"assistant"')
        if event.choice not in self._answered and event.reason in BLANK_ENDS:
            members.append(b'"content":""')
        delta, reason = b",".join(members), finish_reason(event.reason, self._legacy).encode()
        yield b'%b%d,"delta":{%b},"finish_reason":"%b"%b' % (self._head, event.choice, delta, reason, self._tail)

    def _noted(self, event: Noted) -> Iterator[bytes]:
        known = {name: value for name, value in event.fields.items() if name in NOTES}
        once = {name: value for name, value in known.items() if name not in _REPEATED}
        if len(once) < len(known):
            self._notes.update({name: value for name, value in known.items() if name in _REPEATED})
            self._tail = self._rest()
        if once:
            yield self._own_frame("chat.completion.chunk", once)

    def _own_frame(self, kind: str, members: Mapping[str, Json]) -> bytes:
        return _frame({"object": kind, **self._identity, "choices": [_EMPTY_CHOICE], **self._notes, **members})

    def _rest(self) -> bytes:
        """What follows the choice's last member in every chunk."""
        rest = to_json(self._notes)[1:-1]
        return b"}]" + (b"," + rest if rest else b"") + b"}\n\n"


def _frame(value: Json) -> bytes:
    return b"data: " + to_json(value) + b"\n\n"
