"""The canonical vocabulary of a chat: what a caller asks and what a model answers, in no vendor's words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

Json: TypeAlias = Any
"""A JSON value as parsed: None, bool, int, float, str, list or dict."""

NOTHING: Mapping[str, Json] = MappingProxyType({})
"""An empty object that nobody can write to."""


class Role(Enum):
    """Who speaks in a message; `developer` is a system message, `function` a deprecated tool result."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    FUNCTION = "function"


@dataclass(frozen=True, slots=True)
class CacheBreakpoint:
    """A caller's mark that the prompt up to here is worth caching; `ttl` is `30m`, `12h` or None."""

    ttl: str | None = None


@dataclass(frozen=True, slots=True)
class TextPart:
    """Plain text."""

    text: str
    breakpoint: CacheBreakpoint | None = None


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image, by `https:` or `data:` URL."""

    url: str
    detail: str | None = None
    breakpoint: CacheBreakpoint | None = None


@dataclass(frozen=True, slots=True)
class AudioPart:
    """Recorded sound, base64, in `format` (`wav` or `mp3`)."""

    data: str
    format: str
    breakpoint: CacheBreakpoint | None = None


@dataclass(frozen=True, slots=True)
class FilePart:
    """A document: base64 or a `data:` or `https:` URL in `data`, or the id of a file kept by a vendor."""

    data: str | None = None
    file_id: str | None = None
    filename: str | None = None
    breakpoint: CacheBreakpoint | None = None


@dataclass(frozen=True, slots=True)
class RefusalPart:
    """An assistant's earlier refusal."""

    refusal: str


Part: TypeAlias = TextPart | ImagePart | AudioPart | FilePart | RefusalPart


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a model made.

    `arguments` is the string as the model wrote it (JSON for functions, free text for custom tools).
    `upstream_id` is the id the upstream gave it, and `signature` the seal that Gemini puts on a call;
    both only go back to the host that made them.
    """

    id: str
    name: str
    arguments: str
    kind: Literal["function", "custom"] = "function"
    upstream_id: str | None = None
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the history.

    `written` is the caller's own JSON object: OpenAI-format upstreams are sent from it, other formats from the
    canonical members. `content` is None when the caller sent none. `tool_call_id` belongs to tool results,
    `reasoning_content` to assistant turns that were sent back.
    """

    role: Role
    content: str | tuple[Part, ...] | None
    written: Mapping[str, Json]
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    audio_transcript: str | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """The content as parts; a plain string is one text part."""
        if self.content is None:
            return ()
        return (TextPart(self.content),) if isinstance(self.content, str) else self.content


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A function that the model may call; `parameters` is its JSON Schema, None when it takes none."""

    name: str
    description: str | None = None
    parameters: Mapping[str, Json] | None = None
    strict: bool | None = None


@dataclass(frozen=True, slots=True)
class CustomTool:
    """A tool that takes free text; `format` is OpenAI's text or grammar object."""

    name: str
    description: str | None = None
    format: Mapping[str, Json] | None = None


Tool: TypeAlias = FunctionTool | CustomTool


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """How tools may be used: `none`, `auto` or `required`, maybe narrowed to `names`.

    A single forced tool is `required` with one name; `allowed_tools` is its mode with its names. `names` is None
    when every tool is allowed.
    """

    mode: Literal["none", "auto", "required"]
    names: tuple[str, ...] | None = None
    forced: bool = False


@dataclass(frozen=True, slots=True)
class ResponseFormat:
    """The shape asked for: `text`, `json_object`, or `json_schema` with its schema."""

    type: Literal["text", "json_object", "json_schema"]
    name: str | None = None
    description: str | None = None
    schema: Mapping[str, Json] | None = None
    strict: bool | None = None


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What a caller asks of a model.

    The typed members are what formats map from. `written` is the caller's body as parsed, without our extensions and
    without the nulls of known fields: OpenAI-format upstreams are sent from it. `unknown` names the members nobody
    documents (plain surface only), by dotted path. `max_tokens` is the one limit in tokens, reasoning included; `stop`
    is never empty strings; `legacy_functions` tells that the caller used the deprecated `functions`.
    """

    model: str
    messages: tuple[Message, ...]
    written: Mapping[str, Json]
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    legacy_functions: bool = False
    response_format: ResponseFormat | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    n: int = 1
    logprobs: bool = False
    top_logprobs: int | None = None
    reasoning_effort: str | None = None
    extended_thinking: bool | None = None
    modalities: tuple[str, ...] = ("text",)
    service_tier: str | None = None
    user: str | None = None
    safety_identifier: str | None = None
    stream: bool = False
    include_usage: bool = False
    unknown: tuple[str, ...] = ()

    @property
    def mid_tool_loop(self) -> bool:
        """Whether the history ends in results of an assistant turn's tool calls."""
        for message in reversed(self.messages):
            if message.role in (Role.TOOL, Role.FUNCTION):
                continue
            return bool(message.tool_calls) and message is not self.messages[-1]
        return False


class FinishReason(Enum):
    """Why an answer ended, in OpenAI's words."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    CONTENT_FILTER = "content_filter"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one upstream call, canonical: parts lie inside their totals.

    `input_tokens` holds everything read, cached and written to a cache included; `output_tokens` everything
    produced, reasoning included. `reasoning_tokens` is None where the host does not tell. `service_tier` is the tier
    that the host says it used, `extra` the counts that have no price of their own (accepted predictions, modality
    splits): by OpenAI's details object, then by its name for the count.
    """

    input_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_5m_tokens: int = 0
    cache_write_1h_tokens: int = 0
    input_audio_tokens: int = 0
    input_image_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int | None = None
    output_audio_tokens: int = 0
    service_tier: str | None = None
    estimated: bool = False
    extra: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def total_tokens(self) -> int:
        """Input plus output."""
        return self.input_tokens + self.output_tokens

    @property
    def written_tokens(self) -> int:
        """All tokens written to a cache, whatever their lifetime."""
        return self.cache_write_tokens + self.cache_write_5m_tokens + self.cache_write_1h_tokens


@dataclass(frozen=True, slots=True)
class SealedThinking:
    """One block of thinking as its maker wants it back, byte for byte.

    Exactly one form is used: readable `text` with a `signature` (Anthropic, Bedrock, Gemini), `redacted` data, or
    `detail`, an object carried as it came (OpenRouter; text that Gemini signed). `calls_before` is how many tool calls
    of the turn preceded it.
    """

    text: str = ""
    signature: str | None = None
    redacted: str | None = None
    detail: Mapping[str, Json] | None = None
    calls_before: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """One finished (or cut off: `finish` is None) answer."""

    index: int
    text: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    annotations: tuple[Json, ...] = ()
    audio: Mapping[str, Json] | None = None
    logprobs: Mapping[str, Json] | None = None
    thinking: tuple[SealedThinking, ...] = ()
    finish: FinishReason | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing came that a caller could use: reasoning alone is not an answer."""
        return not (self.text or self.refusal or self.tool_calls or self.audio)


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer. `notes` holds top-level members carried as they came (`system_fingerprint`, ...)."""

    choices: tuple[Choice, ...] = ()
    usage: Usage | None = None
    notes: Mapping[str, Json] = field(default_factory=dict)
