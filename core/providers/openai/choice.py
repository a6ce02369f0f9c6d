"""One answer's deltas to events, in every way that hosts of the OpenAI format write them."""

from collections.abc import Mapping

from core.chat import FinishReason, Json
from core.events import (
    AnnotationsAdded,
    AudioDelta,
    Event,
    Finished,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
)
from core.providers.failure_words import bad_reply
from core.providers.openai.calls import CallAssembler
from core.providers.openai.finish import finish_reason
from core.providers.openai.reasoning import ReasoningReader
from core.providers.openai.think_tags import ThinkTags


class ChoiceDecoder:
    """The state of one choice.

    Args:
        index: Its index.
        custom_tools: Free-text tools that were sent as functions.
        tags: Splits thinking from content, where the host leaves it there.
    """

    __slots__ = ("_calls", "_has_content", "_index", "_reasoning", "_tags", "finished")

    def __init__(self, index: int, custom_tools: frozenset[str], tags: ThinkTags | None) -> None:
        self.finished: FinishReason | None = None
        self._index = index
        self._tags = tags
        self._calls = CallAssembler(index, custom_tools)
        self._reasoning = ReasoningReader(index)
        self._has_content = False

    @property
    def is_ended(self) -> bool:
        """Whether it finished, or has something that a lenient reader may take for an answer."""
        return self.finished is not None or self._has_content or self._calls.count > 0

    def add(self, delta: Json, logprobs: Json, events: list[Event], *, is_whole: bool) -> None:
        """Take a `delta`, or the `message` of a whole answer.

        Raises:
            BadReply: It has not the format's form.
        """
        if type(delta) is not dict:
            raise bad_reply("a delta is not an object")
        content = delta.get("content")
        if len(delta) == 1 and type(content) is str and self._tags is None and logprobs is None:
            # Nearly every event of a stream is this one.
            if content:
                self._has_content = True
                events.append(TextDelta(self._index, content))
            return
        thinking = self._reasoning.text(delta)
        if thinking:
            events.append(ReasoningDelta(self._index, thinking))
            if not self._has_content:
                self._tags = None  # this host takes them out after all
        if "reasoning_details" in delta:
            self._reasoning.collect(delta["reasoning_details"], self._calls.count, is_whole=is_whole)
        self._text(delta, _lists(logprobs), events)
        self._extras(delta, events)
        for fragment in delta.get("tool_calls") or ():
            self._calls.add(fragment, events)
        if delta.get("function_call"):
            self._calls.add_legacy(delta["function_call"], events)

    def finish(self, word: str, events: list[Event]) -> None:
        """Take a finish reason; the first one counts."""
        if self.finished is None:
            self.finished = finish_reason(word)
            self._calls.settle(events)
            events.append(Finished(self._index, self.finished, word))

    def end(self, events: list[Event]) -> None:
        """Let out what was held, once nothing can follow.

        Raises:
            BadReply: A tool call is unusable.
        """
        if self._tags is not None:
            rest = self._tags.end(is_whole=self.finished is not FinishReason.LENGTH)
            self._thinking_and_text(rest.thinking, rest.text, None, events)
        self._reasoning.end(events)
        self._calls.end(events)
        if self.finished is None:
            self.finished = FinishReason.STOP
            events.append(Finished(self._index, FinishReason.STOP))

    def _text(self, delta: Mapping[str, Json], logprobs: Mapping[str, Json] | None, events: list[Event]) -> None:
        content, refusal = delta.get("content"), delta.get("refusal")
        if isinstance(refusal, str) and refusal:
            self._has_content = True
            events.append(RefusalDelta(self._index, refusal, None if content else logprobs))
            logprobs = logprobs if content else None
        if isinstance(content, list):
            self._blocks(content, events)
            content = ""
        if isinstance(content, str):
            self._content(content, logprobs, events)
        elif content is not None:
            raise bad_reply("the content is neither text nor a list")
        elif logprobs:
            events.append(TextDelta(self._index, "", logprobs))

    def _content(self, text: str, logprobs: Mapping[str, Json] | None, events: list[Event]) -> None:
        thinking = ""
        if text and self._tags is not None:
            split = self._tags.split(text)
            thinking, text = split.thinking, split.text
        self._thinking_and_text(thinking, text, logprobs, events)

    def _thinking_and_text(
        self, thinking: str, text: str, logprobs: Mapping[str, Json] | None, events: list[Event]
    ) -> None:
        if thinking:
            events.append(ReasoningDelta(self._index, thinking))
        if text or logprobs:
            self._has_content = self._has_content or bool(text)
            events.append(TextDelta(self._index, text, logprobs))

    def _blocks(self, blocks: list[Json], events: list[Event]) -> None:
        """Mistral's content: text and thinking as blocks (its SDK 3.7.0, read 2026-11-30)."""
        for block in blocks:
            if not isinstance(block, dict):
                raise bad_reply("a block of the content is not an object")
            if block.get("type") == "thinking":
                inner = block.get("thinking")
                texts = [inner] if isinstance(inner, str) else [_block_text(item) for item in inner or ()]
                self._thinking_and_text("".join(texts), "", None, events)
            else:
                self._content(_block_text(block), None, events)

    def _extras(self, delta: Mapping[str, Json], events: list[Event]) -> None:
        annotations = delta.get("annotations")
        if annotations and isinstance(annotations, list):
            events.append(AnnotationsAdded(self._index, tuple(annotations)))
        audio = delta.get("audio")
        if isinstance(audio, dict):
            members = {name: value for name, value in audio.items() if value is not None}
            if members:
                self._has_content = True
                events.append(AudioDelta(self._index, members))


def _block_text(block: Json) -> str:
    text = block.get("text") if isinstance(block, dict) else None
    return text if isinstance(text, str) else ""


def _lists(logprobs: Json) -> Mapping[str, Json] | None:
    """OpenAI's logprobs: lists by kind. Other forms that clones have (a number, a bare list) have no place to go."""
    if not isinstance(logprobs, dict):
        return None
    return {name: entries for name, entries in logprobs.items() if isinstance(entries, list) and entries} or None
