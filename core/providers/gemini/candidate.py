"""One candidate's parts to events: thoughts, text, calls, signatures, and what comes with its end."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Literal

import orjson

from core.chat import Json, SealedThinking
from core.events import (
    AnnotationsAdded,
    Event,
    Finished,
    ReasoningDelta,
    TextDelta,
    ThinkingSealed,
    ToolCallDelta,
    ToolCallStarted,
)
from core.providers.custom_tools import unwrapped
from core.providers.failure_words import bad_reply
from core.providers.gemini.finish import FAILED, failure, finish_reason
from core.providers.gemini.grounding import annotations
from core.providers.gemini.logprobs import logprobs_of
from core.providers.http_errors import machine_word

_SIGNATURE: Final = "thoughtSignature"


class CandidateDecoder:
    """The state of one candidate.

    Args:
        index: Its index.
        custom_tools: Free-text tools that were sent as functions.
    """

    __slots__ = ("_calls", "_custom_tools", "_grounding", "_has_content", "_index", "_text", "_word")

    def __init__(self, index: int, custom_tools: frozenset[str]) -> None:
        self._index = index
        self._custom_tools = custom_tools
        self._calls = 0
        self._text: list[str] = []
        self._has_content = False
        self._grounding: Mapping[str, Json] = {}
        self._word = ""

    @property
    def is_finished(self) -> bool:
        """Whether its host has said why it ended."""
        return self._word != ""

    def add(self, candidate: Mapping[str, Json], events: list[Event]) -> None:
        """Take what one event says of the candidate.

        Raises:
            BadReply: It has not the format's form, or the host says that the answer failed.
            UpstreamRejected: The host misses its signature.
        """
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        for part in parts if isinstance(parts, list) else ():
            if not isinstance(part, dict):
                raise bad_reply("a part is not an object")
            self._part(part, events)
        if "logprobsResult" in candidate:
            self._logprobs(candidate["logprobsResult"], events)
        grounding = candidate.get("groundingMetadata")
        if isinstance(grounding, dict) and grounding.get("groundingSupports"):
            self._grounding = grounding
        word = candidate.get("finishReason")
        if isinstance(word, str) and word:
            self._finish(word.upper())

    def end(self, events: list[Event]) -> None:
        """Let out what was held, once nothing can follow.

        Raises:
            BadReply: It ended without a clear reason, and with nothing to show.
        """
        reason = finish_reason(self._word, has_content=self._has_content)
        if reason is None:
            raise bad_reply(f"nothing came but {machine_word(self._word)}".rstrip())
        notes = annotations("".join(self._text), self._grounding) if self._grounding else ()
        if notes:
            events.append(AnnotationsAdded(self._index, notes))
        events.append(Finished(self._index, reason, self._word))

    def _part(self, part: Mapping[str, Json], events: list[Event]) -> None:
        """Read one part; what the host's own tools did there is nobody's business here."""
        text, call = part.get("text"), part.get("functionCall")
        signature = part.get(_SIGNATURE)
        signature = signature if isinstance(signature, str) and signature else None
        if isinstance(call, dict):
            self._call(call, signature, events)
        elif part.get("thought") is True:
            self._thought(text if isinstance(text, str) else "", signature, events)
        elif isinstance(text, str):
            self._said(text, events)
            if signature is not None:
                signed = SealedThinking(detail={"text": text, _SIGNATURE: signature}, calls_before=self._calls)
                events.append(ThinkingSealed(self._index, signed))
        elif isinstance(part.get("inlineData"), dict):
            self._image(part["inlineData"], events)

    def _thought(self, text: str, signature: str | None, events: list[Event]) -> None:
        if text:
            events.append(ReasoningDelta(self._index, text))
        if signature is not None:
            sealed = SealedThinking(text=text, signature=signature, calls_before=self._calls)
            events.append(ThinkingSealed(self._index, sealed))

    def _said(self, text: str, events: list[Event]) -> None:
        if text:
            self._has_content = True
            self._text.append(text)
            events.append(TextDelta(self._index, text))

    def _image(self, image: Mapping[str, Json], events: list[Event]) -> None:
        """An image. OpenAI has no place for one in an answer; in Markdown it at least arrives."""
        kind, data = image.get("mimeType"), image.get("data")
        if isinstance(kind, str) and kind.startswith("image/") and isinstance(data, str):
            self._said(f"![image](data:{kind};base64,{data})", events)

    def _call(self, call: Mapping[str, Json], signature: str | None, events: list[Event]) -> None:
        name, call_id, arguments = call.get("name"), call.get("id"), call.get("args")
        if call.get("partialArgs") or call.get("willContinue"):
            raise bad_reply("a tool call came in pieces, which was not asked for")
        if not isinstance(name, str) or not name:
            raise bad_reply("a tool call has no name")
        if not isinstance(arguments, dict | None):
            raise bad_reply("the arguments of a tool call are not an object")
        is_custom = name in self._custom_tools
        kind: Literal["function", "custom"] = "custom" if is_custom else "function"
        upstream_id = call_id if isinstance(call_id, str) else ""
        events.append(ToolCallStarted(self._index, self._calls, upstream_id, name, kind, signature))
        if arguments:
            written = _written(arguments)
            events.append(ToolCallDelta(self._index, self._calls, unwrapped(written) if is_custom else written))
        self._calls += 1
        self._has_content = True

    def _logprobs(self, result: Json, events: list[Event]) -> None:
        found = logprobs_of(result)
        if found is None:
            return
        last = events[-1] if events else None
        if isinstance(last, TextDelta) and last.choice == self._index and last.logprobs is None:
            events[-1] = replace(last, logprobs=found)
        else:
            events.append(TextDelta(self._index, "", found))

    def _finish(self, word: str) -> None:
        if word in FAILED:
            raise failure(word)
        self._word = self._word or word


def _written(arguments: Mapping[str, Json]) -> str:
    try:
        return orjson.dumps(arguments).decode()
    except TypeError as error:  # the writer is the stricter one
        raise bad_reply("the arguments of a tool call are nested too deep") from error
