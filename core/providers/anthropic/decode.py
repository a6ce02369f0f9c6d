"""The bytes of an Anthropic-format answer to events: a stream, or a whole message where the host sent one anyway."""

from typing import Final

from core.chat import FinishReason, Json
from core.errors import UpstreamFailure
from core.events import Event, Finished, UsageReported
from core.framing import FramingError
from core.framing.sse import SseDecoder, SseEvent
from core.providers.anthropic.blocks import BlockReader
from core.providers.anthropic.errors import failure_in_band
from core.providers.anthropic.finish import finish_reason
from core.providers.anthropic.usage import UsageReader
from core.providers.base import Outgoing
from core.providers.failure_words import bad_reply, interrupted
from core.providers.lenient_json import LenientJson

_ERROR: Final = "error"

_HEAD_BYTES: Final = 500


class MessagesDecoder:
    """Decodes the answer to one call.

    What a read brought before a failure is still returned; the next call raises the failure.
    """

    __slots__ = ("_blocks", "_failure", "_head", "_json", "_sent", "_sse", "_stop", "_usage", "done")

    def __init__(self, sent: Outgoing) -> None:
        self.done = False
        self._sent = sent
        self._sse = SseDecoder()
        self._json = LenientJson()
        self._blocks = BlockReader(sent.custom_tools)
        self._usage = UsageReader(sent)
        self._stop: Finished | None = None
        self._head = b""
        self._failure: UpstreamFailure | None = None

    def feed(self, data: bytes) -> tuple[Event, ...]:
        """Events that these bytes complete.

        Raises:
            UpstreamFailure: The host reports an error in band, or sends what is not the format.
        """
        if self.done:
            return ()
        if self._failure is not None:
            raise self._failure
        if len(self._head) < _HEAD_BYTES:
            self._head = (self._head + data)[:_HEAD_BYTES]
        events: list[Event] = []
        try:
            for frame in self._sse.feed(data):
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
            Interrupted: The stream ended without `message_stop`.
            UpstreamFailure: What was buffered is an error, or not the format.
        """
        events: list[Event] = list(self.feed(b""))
        if not self.done:
            self._rest(events)
        if not self.done:
            if self._head.lstrip().startswith(b"<"):  # a page under a success: a proxy's, or a wrong address
                raise bad_reply("a web page came instead of an answer")
            raise interrupted()
        return tuple(events)

    def _rest(self, events: list[Event]) -> None:
        """An event that only lacks its blank line; anything less was cut, and says nothing."""
        try:
            for frame in self._sse.close():
                self._frame(frame, events)
        except ValueError:
            return

    def _frame(self, frame: SseEvent, events: list[Event]) -> None:
        """Read one event. Its `type` counts, not the name that the framing gives it.

        Raises:
            ValueError: It is not JSON.
        """
        if self.done or frame.done or not frame.data.strip():
            return
        event = self._json.loads(frame.data)
        if frame.event == _ERROR:
            raise failure_in_band(self._sent.target, event)
        if not isinstance(event, dict):
            raise bad_reply("an event is not an object")
        match event.get("type"):
            case "content_block_delta":
                self._blocks.add(_index(event), _object(event, "delta"), events)
            case "content_block_start":
                self._blocks.open(_index(event), _object(event, "content_block"), events)
            case "content_block_stop":
                self._blocks.close(_index(event), events)
            case "message_start":
                self._report(_object(event, "message").get("usage"), events)
            case "message_delta":
                self._note_stop(_object(event, "delta"))
                self._report(event.get("usage"), events)
            case "message_stop":
                self._end(events)
            case "message":
                self._whole(event, events)
            case kind:
                # Types that are not known yet may come; what has none, or says `error`, is a failure.
                if kind == _ERROR or not isinstance(kind, str) or event.get(_ERROR):
                    raise failure_in_band(self._sent.target, event)

    def _whole(self, message: dict[str, Json], events: list[Event]) -> None:
        content = message.get("content")
        if not isinstance(content, list):
            raise bad_reply("a message has no content")
        for index, block in enumerate(content):
            if not isinstance(block, dict):
                raise bad_reply("a block is not an object")
            self._blocks.open(index, block, events)
            self._blocks.close(index, events)
        self._note_stop(message)
        self._report(message.get("usage"), events)
        self._end(events)

    def _note_stop(self, said: dict[str, Json]) -> None:
        word = said.get("stop_reason")
        if not isinstance(word, str):
            return
        details = said.get("stop_details")
        category = details.get("category") if isinstance(details, dict) else None
        self._stop = Finished(0, finish_reason(word), f"{word}: {category}" if isinstance(category, str) else word)

    def _report(self, usage: Json, events: list[Event]) -> None:
        report = self._usage.read(usage)
        if report is not None:
            events.append(UsageReported(report))

    def _end(self, events: list[Event]) -> None:
        self._blocks.end(events)
        events.append(self._stop or Finished(0, FinishReason.STOP))
        self.done = True


def _index(event: dict[str, Json]) -> int | None:
    index = event.get("index")
    return index if type(index) is int else None


def _object(event: dict[str, Json], name: str) -> dict[str, Json]:
    value = event.get(name)
    if not isinstance(value, dict):
        raise bad_reply(f"an event has no {name}")
    return value
