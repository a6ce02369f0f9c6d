"""The bytes of a Gemini-format answer to events: a stream, or JSON in one piece where the host sent that anyway."""

from collections.abc import Mapping
from typing import Final

from core.chat import FinishReason, Json
from core.errors import UpstreamFailure
from core.events import Event, Finished, Noted, UsageReported
from core.framing import FramingError
from core.framing.sse import SseDecoder, SseEvent
from core.providers.base import Outgoing
from core.providers.failure_words import bad_reply, interrupted
from core.providers.gemini.candidate import CandidateDecoder
from core.providers.gemini.errors import failure_in_band
from core.providers.gemini.usage import UsageReader
from core.providers.lenient_json import LenientJson
from core.providers.opening import Form, Opening

_TIER_HEADER: Final = "x-gemini-service-tier"
_OPENAI_TIERS: Final = frozenset({"default", "flex", "priority", "scale"})
_KNOWN: Final = frozenset(
    {
        *("candidates", "promptFeedback", "usageMetadata"),
        *("createTime", "modelStatus", "modelVersion", "responseId"),
    }
)


class GenerateDecoder:
    """Decodes the answer to one call. The format has no terminal event: a body ends where it ends.

    What a read brought before a failure is still returned; the next call raises the failure.
    """

    __slots__ = (
        "_blocked",
        "_candidates",
        "_failure",
        "_json",
        "_opening",
        "_sent",
        "_sse",
        "_tier",
        "_usage",
        "done",
    )

    def __init__(self, sent: Outgoing, headers: Mapping[str, str]) -> None:
        self.done = False
        self._sent = sent
        self._opening = Opening()
        self._sse = SseDecoder()
        self._json = LenientJson()
        self._usage = UsageReader(headers.get(_TIER_HEADER))
        self._candidates: dict[int, CandidateDecoder] = {}
        self._tier: str | None = None
        self._blocked = ""
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
        events: list[Event] = []
        try:
            for frame in self._sse.feed(data) if data else ():
                self._frame(frame, events)
        except FramingError as fault:
            raise bad_reply(str(fault)) from fault
        except ValueError as error:
            self._failure = bad_reply("an event is not JSON")
            self._failure.__cause__ = error
        except UpstreamFailure as failure:
            self._failure = failure
        if self._failure is not None and not events:
            raise self._failure
        return tuple(events)

    def close(self) -> tuple[Event, ...]:
        """The last events, at the end of the body.

        Raises:
            Interrupted: The body ended before every candidate had.
            UpstreamFailure: What was buffered is an error, or not the format.
        """
        events: list[Event] = list(self.feed(b""))
        if self._opening.form is Form.PAGE:
            raise self._opening.page()
        if self._opening.form is Form.WHOLE:
            self._whole(events)
        elif not self.done:
            self._rest(events)
        self._end(events)
        return tuple(events)

    def _whole(self, events: list[Event]) -> None:
        """An answer in one piece, or a stream as an array, which is what comes without `alt=sse`."""
        try:
            said = self._json.loads(self._opening.body)
        except ValueError as error:
            raise interrupted() from error
        self._response(said, events)

    def _rest(self, events: list[Event]) -> None:
        """An event that only lacks its blank line; anything less was cut, and says nothing."""
        try:
            for frame in self._sse.close():
                self._frame(frame, events)
        except (FramingError, ValueError):
            return

    def _frame(self, frame: SseEvent, events: list[Event]) -> None:
        """Read one event.

        Raises:
            ValueError: It is not JSON.
        """
        if self.done or not frame.data.strip():
            return
        if frame.done:  # not Google's, but what stands between may add it
            self.done = True
            return
        said = self._json.loads(frame.data)
        if frame.event == "error":
            raise failure_in_band(self._sent.target, said)
        self._response(said, events)

    def _response(self, said: Json, events: list[Event]) -> None:
        if isinstance(said, list):
            for each in said:
                self._response(each, events)
            return
        if not isinstance(said, dict):
            raise bad_reply("an event is not an object")
        if said.get("error") or (said and said.keys().isdisjoint(_KNOWN)):
            raise failure_in_band(self._sent.target, said)
        candidates = said.get("candidates")
        # Before the candidates: they may fail, and what they cost is owed all the same.
        self._report(said.get("usageMetadata"), events)
        for position, candidate in enumerate(candidates if isinstance(candidates, list) else ()):
            self._candidate(position, candidate, events)
        feedback = said.get("promptFeedback")
        if isinstance(feedback, dict) and feedback.get("blockReason") and not self._candidates:
            self._blocked = str(feedback["blockReason"])

    def _report(self, report: Json, events: list[Event]) -> None:
        usage = self._usage.read(report)
        if usage is None:
            return
        if usage.service_tier != self._tier and usage.service_tier in _OPENAI_TIERS:
            self._tier = usage.service_tier
            events.append(Noted({"service_tier": self._tier}))
        events.append(UsageReported(usage))

    def _candidate(self, position: int, candidate: Json, events: list[Event]) -> None:
        if not isinstance(candidate, dict):
            raise bad_reply("a candidate is not an object")
        index = candidate.get("index")
        index = index if type(index) is int else position
        known = self._candidates.get(index)
        if known is None:
            known = self._candidates[index] = CandidateDecoder(index, self._sent.custom_tools)
        known.add(candidate, events)

    def _end(self, events: list[Event]) -> None:
        """The end of the body: an end only where every answer that was asked for has said why it ended."""
        if self._blocked and not self._candidates:
            events += [
                Finished(choice, FinishReason.CONTENT_FILTER, self._blocked) for choice in range(self._sent.choices)
            ]
            return
        finished = sum(candidate.is_finished for candidate in self._candidates.values())
        if not len(self._candidates) == finished >= self._sent.choices:
            raise interrupted()
        for index in sorted(self._candidates):
            self._candidates[index].end(events)
