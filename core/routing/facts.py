"""What a request shows without a model being asked: sizes, abilities it needs, what its text looks like."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, assert_never

import orjson

from core.chat import (
    AudioPart,
    ChatRequest,
    CustomTool,
    FilePart,
    FunctionTool,
    ImagePart,
    Message,
    RefusalPart,
    Role,
    TextPart,
)
from core.routing.features import code_signs, maths_signs
from core.routing.script import Script, script_of
from core.routing.window import asked
from core.tokens import estimated_text_tokens, estimated_tokens, most_text_tokens

MESSAGE_TOKENS: Final = 4
"""What a message costs beside its content: role and marks around it."""

IMAGE_TOKENS: Final = 800
"""About a photograph in full detail; vendors count between 250 and 1,600."""

MOST_IMAGE_TOKENS: Final = 1_600

AUDIO_BYTES_PER_TOKEN: Final = 800
DOCUMENT_BYTES_PER_TOKEN: Final = 30
LEAST_DOCUMENT_TOKENS: Final = 500

CODE_SIGNS_LEAST: Final = 2
MATHS_SIGNS_LEAST: Final = 1

NO_THINKING: Final = ("none", "minimal")


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a request before anything is chosen.

    `prompt_tokens` is an estimate of everything that is sent. `tools` counts what is offered, none where `tool_choice`
    forbids them; `tool_forced` tells that one must be called. `thinking` is None where the request does not say.
    `turns` counts what the user said. `text` is what is asked, at most a few thousand characters of it; `code`, `maths`
    and `script` are looked for in it when somebody wants to know.
    """

    prompt_tokens: int
    tools: int = 0
    tool_forced: bool = False
    tool_loop: bool = False
    images: int = 0
    documents: int = 0
    audio_input: bool = False
    audio_output: bool = False
    json_mode: bool = False
    schema: bool = False
    thinking: bool | None = None
    max_tokens: int | None = None
    turns: int = 1
    text: str = ""

    @property
    def code(self) -> bool:
        """Whether the text has program code in it."""
        return "```" in self.text or code_signs(self.text) > CODE_SIGNS_LEAST

    @property
    def maths(self) -> bool:
        """Whether it has formulas in it."""
        return maths_signs(self.text) > MATHS_SIGNS_LEAST

    @property
    def script(self) -> Script:
        """What it is written in."""
        return script_of(self.text)


def facts_of(request: ChatRequest) -> Facts:
    """The facts of a request; takes time that grows with the number of messages, hardly with their length."""
    parts = [part for message in request.messages for part in message.parts if not isinstance(part, TextPart)]
    choice = request.tool_choice
    tools = () if choice is not None and choice.mode == "none" else request.tools
    shape = request.response_format.type if request.response_format else "text"
    return Facts(
        prompt_tokens=prompt_tokens(request),
        tools=len(tools),
        tool_forced=bool(tools) and choice is not None and choice.mode == "required",
        tool_loop=request.mid_tool_loop,
        images=sum(isinstance(part, ImagePart) for part in parts),
        documents=sum(isinstance(part, FilePart) for part in parts),
        audio_input=any(isinstance(part, AudioPart) for part in parts),
        audio_output="audio" in request.modalities,
        json_mode=shape == "json_object",
        schema=shape == "json_schema",
        thinking=_thinking(request),
        max_tokens=request.max_tokens,
        turns=sum(message.role is Role.USER for message in request.messages),
        text=asked(request),
    )


def _thinking(request: ChatRequest) -> bool | None:
    if request.extended_thinking is not None:
        return request.extended_thinking
    return None if request.reasoning_effort is None else request.reasoning_effort not in NO_THINKING


def prompt_tokens(request: ChatRequest) -> int:
    """An estimate of everything that is sent, in tokens."""
    return _counted(request, _ESTIMATE)


def most_prompt_tokens(request: ChatRequest) -> int:
    """What everything that is sent comes to at most, in tokens.

    Sound and documents, whose size tells little, count one and a half times their estimate.
    """
    return _counted(request, _MOST)


@dataclass(frozen=True, slots=True)
class _Counting:
    """How tokens are counted: of texts, of JSON, of an image, around a message, and by how much estimates of other
    media are raised."""

    text: Callable[[str], int]
    form: Callable[[bytes], int]
    image: int
    around: int
    margin: float


_ESTIMATE: Final = _Counting(
    estimated_text_tokens, lambda form: estimated_tokens(len(form)), IMAGE_TOKENS, MESSAGE_TOKENS, 1.0
)
_MOST: Final = _Counting(
    most_text_tokens, lambda form: most_text_tokens(form.decode()), MOST_IMAGE_TOKENS, 2 * MESSAGE_TOKENS, 1.5
)


def _counted(request: ChatRequest, count: _Counting) -> int:
    schema = request.response_format.schema if request.response_format else None
    return (
        sum(_message_tokens(message, count) for message in request.messages)
        + _tool_tokens(request.tools, count)
        + (count.form(orjson.dumps(schema, default=dict)) if schema else 0)
    )


def _message_tokens(message: Message, count: _Counting) -> int:
    tokens = count.around
    for part in message.parts:
        match part:
            case TextPart(text=text) | RefusalPart(refusal=text):
                tokens += count.text(text)
            case ImagePart():
                tokens += count.image
            case AudioPart(data=data):
                tokens += round(count.margin * (len(data) // AUDIO_BYTES_PER_TOKEN))
            case FilePart(data=held):
                document = max(LEAST_DOCUMENT_TOKENS, len(held or "") // DOCUMENT_BYTES_PER_TOKEN)
                tokens += round(count.margin * document)
            case _:
                assert_never(part)
    for call in message.tool_calls:
        tokens += count.around + count.text(call.name) + count.text(call.arguments)
    for said in (message.reasoning_content, message.refusal, message.audio_transcript):
        if said:
            tokens += count.text(said)
    return tokens


def _tool_tokens(tools: Iterable[FunctionTool | CustomTool], count: _Counting) -> int:
    tokens = 0
    for tool in tools:
        form = tool.parameters if isinstance(tool, FunctionTool) else tool.format
        tokens += count.around + count.text(f"{tool.name} {tool.description or ''}")
        tokens += count.form(orjson.dumps(form, default=dict)) if form else 0
    return tokens
