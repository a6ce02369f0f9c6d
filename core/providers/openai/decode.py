"""The bytes of an OpenAI-format answer to events: a stream, or a whole body where the host sent one anyway."""

from typing import Final

import orjson

from core.catalog.model import Quirk, Target
from core.chat import Json
from core.errors import UpstreamFailure
from core.events import Event, Noted, UsageReported
from core.framing import FramingError
from core.framing.sse import SseDecoder, SseEvent
from core.providers.answer_labels import OPENAI_TIERS, label
from core.providers.base import Outgoing
from core.providers.failure_words import bad_reply, interrupted, names_a_host
from core.providers.lenient_json import LenientJson
from core.providers.openai.choice import ChoiceDecoder
from core.providers.openai.errors import failure_in_band
from core.providers.openai.finish import FAILED
from core.providers.openai.think_tags import ThinkTags
from core.providers.openai.usage import UsageReader
from core.providers.opening import Form, Opening

_NOTED: Final = ("system_fingerprint", "service_tier", "moderation", "metadata")

_LONGEST_NOTE: Final = 65_536

_loads, _dumps = orjson.loads, orjson.dumps


class ChatDecoder:
    """Decodes the answer to one call.

    What a read brought before a failure is still returned; the next call raises the failure.
    """

    __slots__ = (
        "_choices",
        "_failure",
        "_json",
        "_noted",
        "_opening",
        "_sent",
        "_sse",
        "_usage",
        "done",
    )

    def __init__(self, sent: Outgoing) -> None:
        self.done = False
        self._sent = sent
        self._opening = Opening()
        self._sse = SseDecoder()
        self._json = LenientJson()
        self._usage = UsageReader()
        self._choices: dict[int, ChoiceDecoder] = {}
        self._noted: dict[str, Json] = {}
        self._failure: UpstreamFailure | None = None

    def feed(self, data: bytes) -> tuple[Event, ...]:
        """Events that these bytes complete.

        Raises:
            UpstreamFailure: The host reports an error in band, or sends what is not the format.
        """
        if self._failure is not None:
            raise self._failure
        if self._opening.form is not Form.STREAM:
            data = self._opening.feed(data)
            if not data:
                return ()
        events: list[Event] = []
        try:
            self._lines(data, events)
        except FramingError as fault:
            raise bad_reply(str(fault)) from fault
        except UpstreamFailure as failure:
            if not events:
                raise
            self._failure = failure
        return tuple(events)

    def close(self) -> tuple[Event, ...]:
        """The last events, at the end of the body.

        Raises:
            Interrupted: The stream ended without `[DONE]` and without the end of every choice.
            UpstreamFailure: What was buffered is an error, or not the format.
        """
        events: list[Event] = list(self.feed(b""))
        if self._opening.form is Form.WHOLE:
            self._whole(events)
        elif self._opening.form is Form.PAGE:
            raise self._opening.page()
        elif not self.done:
            self._rest(events)
        if not self.done:
            if not self._is_complete:
                raise interrupted()
            self._end(events)
        return tuple(events)

    def _whole(self, events: list[Event]) -> None:
        try:
            said = self._json.loads(self._opening.body)
        except ValueError as error:
            raise interrupted() from error
        if not isinstance(said, dict) or not isinstance(said.get("choices"), list):
            raise failure_in_band(self._sent.target, said)
        self._chunk(said, events, is_whole=True)
        self._end(events)

    def _rest(self, events: list[Event]) -> None:
        """An event that only lacks its blank line; anything less was cut, and says nothing."""
        try:
            frames = self._sse.close()
        except FramingError:
            return
        for frame in frames:
            try:
                self._frame(frame, events)
            except ValueError:
                return

    def _lines(self, data: bytes, events: list[Event]) -> None:
        for frame in self._sse.feed(data):
            try:
                self._frame(frame, events)
            except ValueError as error:
                raise bad_reply("an event is not JSON") from error

    def _frame(self, frame: SseEvent, events: list[Event]) -> None:
        """Read one event.

        Raises:
            ValueError: It is not JSON.
        """
        if self.done:
            return
        try:
            chunk = _loads(frame.data)
        except ValueError:
            if frame.done:
                self._end(events)
                return
            if not frame.data.strip():
                return
            if frame.event == "error":
                raise failure_in_band(self._sent.target, frame.data.decode()) from None
            chunk = self._json.loads(frame.data)
        if frame.event == "error" or type(chunk) is list:
            raise failure_in_band(self._sent.target, chunk)
        if type(chunk) is not dict:
            raise bad_reply("an event is not an object")
        self._chunk(chunk, events, is_whole=False)

    def _chunk(self, chunk: dict[str, Json], events: list[Event], *, is_whole: bool) -> None:
        choices = chunk.get("choices")
        if type(choices) is not list:
            choices = ()
            if chunk.get("object") == "error" or chunk.get("message") or chunk.get("detail"):
                raise failure_in_band(self._sent.target, chunk)
        if chunk.get("error"):
            raise failure_in_band(self._sent.target, chunk)
        for name in _NOTED:
            value = chunk.get(name)
            if value is not None and value != self._noted.get(name):
                self._noted[name] = value
                if _may_be_told(name, value, self._sent.target):
                    events.append(Noted({name: value}))
        usage = chunk.get("usage")
        for position, choice in enumerate(choices):
            usage = self._choice(position, choice, events, is_whole=is_whole) or usage
        if "x_groq" in chunk:
            usage = self._groq(chunk["x_groq"]) or usage
        if usage:
            self._report(usage, events)

    def _choice(self, position: int, choice: Json, events: list[Event], *, is_whole: bool) -> Json:
        """Read one choice; gives the usage that stands in it, where a host puts it there (Kimi)."""
        if type(choice) is not dict:
            raise bad_reply("a choice is not an object")
        index = choice.get("index")
        if type(index) is not int:
            index = position
        if not 0 <= index < self._sent.choices:
            return choice.get("usage")  # an answer that nobody asked for
        state = self._choices.get(index)
        if state is None:
            state = self._choices[index] = self._new_choice(index)
        delta = choice.get("delta") or choice.get("message")
        logprobs = choice.get("logprobs")
        if delta or logprobs:  # the end of a stream may bring logprobs of what was said before
            state.add(delta or {}, logprobs, events, is_whole=is_whole)
        word = choice.get("finish_reason")
        if not word:
            return None
        if choice.get("error"):
            raise failure_in_band(self._sent.target, choice)
        if type(word) is not str or word in FAILED:
            raise failure_in_band(self._sent.target, {"code": str(word)})
        state.finish(word, events)
        return choice.get("usage")

    def _new_choice(self, index: int) -> ChoiceDecoder:
        is_open = self._sent.target.has(Quirk.CLOSING_THINK_TAG)
        has_tags = is_open or self._sent.target.has(Quirk.THINK_TAGS)
        tags = ThinkTags(assume_open=is_open) if has_tags else None
        return ChoiceDecoder(index, self._sent.custom_tools, tags)

    def _groq(self, extras: Json) -> Json:
        """Groq's own member: usage, or an error (its SDK 1.7.0, read 2026-11-30)."""
        if not isinstance(extras, dict):
            return None
        if extras.get("error"):
            raise failure_in_band(self._sent.target, {"error": extras["error"]})
        return extras.get("usage")

    def _report(self, usage: Json, events: list[Event]) -> None:
        if isinstance(usage, dict):
            report = self._usage.read(usage, self._noted.get("service_tier"))
            if report is not None:
                events.append(UsageReported(report))

    @property
    def _is_complete(self) -> bool:
        """Whether every answer that was asked for has ended by itself."""
        finished = sum(choice.finished is not None for choice in self._choices.values())
        return len(self._choices) == finished >= self._sent.choices

    def _end(self, events: list[Event]) -> None:
        """The end that the host announced: nothing follows, and what is there must be an answer."""
        answers = [index for index in sorted(self._choices) if self._choices[index].is_ended]
        if len(answers) < self._sent.choices:
            raise bad_reply(f"{len(answers)} of {self._sent.choices} answers came")
        for index in answers:
            self._choices[index].end(events)
        self.done = True


def _may_be_told(name: str, value: Json, target: Target) -> bool:
    if name == "service_tier":
        return label(value) in OPENAI_TIERS
    if name == "system_fingerprint":
        return label(value) is not None and not names_a_host(value, target)
    if not isinstance(value, dict):
        return False
    try:
        said = _dumps(value)
    except TypeError:  # nested deeper than can be written again
        return False
    return len(said) <= _LONGEST_NOTE and not names_a_host(said.decode(), target)
