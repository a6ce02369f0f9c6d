"""The canonical stream, made of an upstream's bytes by decoders, and `fold`, the only way from it to a whole reply."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, assert_never

from core.chat import Choice, FinishReason, Json, Reply, SealedThinking, ToolCall, Usage


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Visible text; `logprobs` is OpenAI's object for these tokens, as it came."""

    choice: int
    text: str
    logprobs: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class RefusalDelta:
    """Text of a refusal."""

    choice: int
    text: str
    logprobs: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """Readable thinking."""

    choice: int
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingSealed:
    """A block of thinking is complete; its readable text, if any, was already sent as `ReasoningDelta`."""

    choice: int
    block: SealedThinking


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """A tool call opens; `call` counts the calls of this choice from 0, `name` is whole."""

    choice: int
    call: int
    id: str
    name: str
    kind: Literal["function", "custom"] = "function"
    signature: str | None = None
    upstream_id: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """The next piece of a call's arguments."""

    choice: int
    call: int
    arguments: str


@dataclass(frozen=True, slots=True)
class AudioDelta:
    """Members of an audio answer: `data` and `transcript` are pieces, the others are values."""

    choice: int
    audio: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class AnnotationsAdded:
    """Citations, in OpenAI's shape (offsets in characters)."""

    choice: int
    items: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class Finished:
    """A choice ended. `upstream_reason` is the host's own word, for the record."""

    choice: int
    reason: FinishReason
    upstream_reason: str | None = None


@dataclass(frozen=True, slots=True)
class UsageReported:
    """The usage so far: each report replaces the one before."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Noted:
    """Top-level members carried as they came (`system_fingerprint`, `service_tier`, `moderation`, ...)."""

    fields: Mapping[str, Json]


ChoiceEvent: TypeAlias = (
    TextDelta
    | RefusalDelta
    | ReasoningDelta
    | ThinkingSealed
    | ToolCallStarted
    | ToolCallDelta
    | AudioDelta
    | AnnotationsAdded
    | Finished
)
"""What belongs to one choice."""

Event: TypeAlias = ChoiceEvent | UsageReported | Noted


def is_token(event: Event) -> bool:
    """Whether an event is a first token: content, reasoning or a tool call, never something empty."""
    match event:
        case TextDelta() | RefusalDelta() | ReasoningDelta():
            return event.text != ""
        case ToolCallStarted() | ToolCallDelta() | AudioDelta():
            return True
        case _:
            return False


def is_answer(event: Event) -> bool:
    """Whether an event is a token of the answer itself, not of the thinking before it."""
    return is_token(event) and not isinstance(event, ReasoningDelta)


@dataclass(slots=True)
class _Call:
    started: ToolCallStarted
    arguments: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Draft:
    text: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    thinking: list[SealedThinking] = field(default_factory=list)
    calls: dict[int, _Call] = field(default_factory=dict)
    annotations: list[Json] = field(default_factory=list)
    audio: dict[str, Json] = field(default_factory=dict)
    logprobs: dict[str, Json] = field(default_factory=dict)
    finish: FinishReason | None = None


def fold(events: Iterable[Event]) -> Reply:
    """Make the whole reply of a stream.

    Args:
        events: Canonical events in order; a cut stream gives choices whose `finish` is None.
    """
    drafts: dict[int, _Draft] = {}
    usage: Usage | None = None
    notes: dict[str, Json] = {}
    for event in events:
        if isinstance(event, UsageReported):
            usage = event.usage
        elif isinstance(event, Noted):
            notes.update(event.fields)
        else:
            _apply(drafts.setdefault(event.choice, _Draft()), event)
    choices = tuple(_choice(index, drafts[index]) for index in sorted(drafts))
    return Reply(choices=choices, usage=usage, notes=notes)


def _apply(draft: _Draft, event: ChoiceEvent) -> None:
    match event:
        case TextDelta():
            draft.text.append(event.text)
            _merge_logprobs(draft.logprobs, event.logprobs)
        case ReasoningDelta():
            draft.reasoning.append(event.text)
        case ToolCallDelta():
            draft.calls[event.call].arguments.append(event.arguments)
        case ToolCallStarted():
            draft.calls[event.call] = _Call(event)
        case RefusalDelta():
            draft.refusal.append(event.text)
            _merge_logprobs(draft.logprobs, event.logprobs)
        case ThinkingSealed():
            draft.thinking.append(event.block)
        case AnnotationsAdded():
            draft.annotations.extend(event.items)
        case AudioDelta():
            _merge_audio(draft.audio, event.audio)
        case Finished():
            draft.finish = event.reason
        case _:
            assert_never(event)


def _merge_logprobs(into: dict[str, Json], piece: Mapping[str, Json] | None) -> None:
    for key, values in (piece or {}).items():
        if values is not None:
            into[key] = into.get(key, []) + list(values)


def _merge_audio(into: dict[str, Json], piece: Mapping[str, Json]) -> None:
    for key, value in piece.items():
        if key in ("data", "transcript") and isinstance(value, str):
            into[key] = into.get(key, "") + value
        else:
            into[key] = value


def _choice(index: int, draft: _Draft) -> Choice:
    return Choice(
        index=index,
        text="".join(draft.text) or None,
        reasoning="".join(draft.reasoning) or None,
        refusal="".join(draft.refusal) or None,
        tool_calls=tuple(_tool_call(draft.calls[call]) for call in sorted(draft.calls)),
        annotations=tuple(draft.annotations),
        audio=draft.audio or None,
        logprobs=draft.logprobs or None,
        thinking=tuple(draft.thinking),
        finish=draft.finish,
    )


def _tool_call(call: _Call) -> ToolCall:
    started = call.started
    return ToolCall(
        id=started.id,
        name=started.name,
        arguments="".join(call.arguments),
        kind=started.kind,
        upstream_id=started.upstream_id,
        signature=started.signature,
    )
