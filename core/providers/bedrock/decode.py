"""The bytes of a ConverseStream answer to events: an event stream, or a whole Converse answer sent in its place."""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from core.chat import Json
from core.errors import BadReply, Interrupted, UpstreamFailure
from core.events import Event, Finished, Noted, UsageReported
from core.framing import FramingError
from core.framing.eventstream import MAX_PAYLOAD_BYTES, EventFrame, EventStreamDecoder
from core.providers.answer_labels import label
from core.providers.base import Outgoing
from core.providers.bedrock.blocks import BlockReader
from core.providers.bedrock.errors import failure_in_band, is_error
from core.providers.bedrock.finish import FAILED, finish_reason
from core.providers.bedrock.usage import usage_of
from core.providers.failure_words import bad_reply, interrupted
from core.providers.lenient_json import LenientJson

_KIND: Final = ":message-type"

# A frame begins with its length in four bytes; of the largest frame the first byte is 1.
_LARGEST_FIRST_BYTE: Final = 1
_OPENERS: Final = (b"{", b"[")

# Of the service's tiers those that OpenAI's answers know.
_TIERS: Final = frozenset({"default", "flex", "priority"})


class _Form(Enum):
    """What a body is, told by its first byte: labels cannot be trusted."""

    UNKNOWN = "unknown"
    STREAM = "stream"
    WHOLE = "whole"


class ConverseDecoder:
    """Decodes the answer to one call.

    `messageStop` ends the answer, but its usage follows in `metadata`: only that makes it `done`. What a read brought
    before a failure is still returned; the next call raises the failure.
    """

    __slots__ = (
        "_blocks",
        "_body",
        "_failure",
        "_form",
        "_frames",
        "_is_stopped",
        "_json",
        "_sent",
        "_verdict",
        "done",
    )

    def __init__(self, sent: Outgoing) -> None:
        self.done = False
        self._sent = sent
        self._frames = EventStreamDecoder()
        self._json = LenientJson()
        self._blocks = BlockReader(sent.custom_tools)
        self._form = _Form.UNKNOWN
        self._body = bytearray()
        self._is_stopped = False
        self._failure: UpstreamFailure | None = None
        self._verdict: BadReply | None = None

    def feed(self, data: bytes) -> tuple[Event, ...]:
        """Events that these bytes complete.

        Raises:
            Interrupted: A frame is damaged.
            UpstreamFailure: The host reports an error in band, or sends what is not its format.
        """
        if self._form is _Form.UNKNOWN and data:
            self._form = _Form.STREAM if data[0] <= _LARGEST_FIRST_BYTE else _Form.WHOLE
        if self._form is _Form.WHOLE:
            self._collect(data)
            return ()
        events: list[Event] = []
        try:
            if not self.done:
                self._read(data, events)
        except UpstreamFailure as failure:
            if not events:
                raise
            self._failure = failure
        return tuple(events)

    def close(self) -> tuple[Event, ...]:
        """The last events, at the end of the body.

        Raises:
            Interrupted: The stream ended inside a frame, or before the answer did.
            UpstreamFailure: The answer failed, or what was buffered is an error or not the format.
        """
        events: list[Event] = []
        if self._form is _Form.WHOLE:
            self._whole(events)
        elif not self.done:
            self._read(b"", events)
            try:
                self._frames.close()
            except FramingError as fault:
                raise _broken(fault) from fault
        if self._verdict is not None:
            raise self._verdict
        if not self._is_stopped:
            raise interrupted()
        return tuple(events)

    def _read(self, data: bytes, events: list[Event]) -> None:
        if self._failure is not None:
            raise self._failure
        try:
            frames = self._frames.feed(data)
        except FramingError as fault:
            raise _broken(fault) from fault
        for frame in frames:
            if not self.done:
                self._frame(frame, events)

    def _frame(self, frame: EventFrame, events: list[Event]) -> None:
        kind = frame.headers.get(_KIND)
        if kind == "event":
            self._event(frame, events)
        elif kind == "exception":
            name = str(frame.headers.get(":exception-type", ""))
            raise failure_in_band(self._sent.target, name, self._parsed(frame.payload))
        elif kind == "error":
            name = str(frame.headers.get(":error-code", ""))
            raise failure_in_band(self._sent.target, name, {"message": frame.headers.get(":error-message")})

    def _event(self, frame: EventFrame, events: list[Event]) -> None:
        kind = frame.headers.get(":event-type")
        if kind not in _EVENTS:
            return  # new kinds may come
        said = self._parsed(frame.payload)
        if not isinstance(said, dict):
            raise bad_reply("an event is not an object")
        match kind:
            case "contentBlockDelta":
                self._blocks.add(_index(said), _object(said, "delta"), events)
            case "contentBlockStart":
                self._blocks.start(_index(said), _object(said, "start"), events)
            case "contentBlockStop":
                self._blocks.stop(_index(said), events)
            case "messageStop":
                self._stop(said, events)
            case _:
                self._meter(said, events)
                self.done = True

    def _stop(self, said: dict[str, Json], events: list[Event]) -> None:
        word = said.get("stopReason")
        if not isinstance(word, str):
            raise bad_reply("an answer stopped for no reason")
        self._is_stopped = True
        self._blocks.end(events)
        if word in FAILED:
            # Raised once its usage was read: it is billed.
            self._verdict = bad_reply(word)
        else:
            events.append(Finished(0, finish_reason(word), word))

    def _meter(self, said: dict[str, Json], events: list[Event]) -> None:
        tier = said.get("serviceTier")
        name = tier.get("type") if isinstance(tier, dict) else None
        name = label(name)
        if name in _TIERS:
            events.append(Noted({"service_tier": name}))
        usage = usage_of(said.get("usage"), name)
        if usage is not None:
            events.append(UsageReported(usage))

    def _collect(self, data: bytes) -> None:
        self._body += data
        if len(self._body) > MAX_PAYLOAD_BYTES:
            raise bad_reply(f"the body is larger than {MAX_PAYLOAD_BYTES} bytes")

    def _whole(self, events: list[Event]) -> None:
        try:
            said = self._json.loads(bytes(self._body))
        except ValueError as error:
            raise self._page() from error
        output = said.get("output") if isinstance(said, dict) else None
        message = output.get("message") if isinstance(output, dict) else None
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(content, list):
            if is_error(said):
                raise failure_in_band(self._sent.target, "", said)
            raise bad_reply("the body is neither a stream nor an answer")
        for index, block in enumerate(content):
            if not isinstance(block, dict):
                raise bad_reply("a block is not an object")
            self._blocks.whole(index, block, events)
        self._stop(said, events)
        self._meter(said, events)
        self.done = True

    def _page(self) -> BadReply | Interrupted:
        """What a text means that is no JSON: an answer that broke off, or a page of something in between."""
        is_answer = self._body.lstrip().startswith(_OPENERS)
        return interrupted() if is_answer else bad_reply("a page came instead of an answer")

    def _parsed(self, payload: bytes) -> Json:
        try:
            return self._json.loads(payload or b"{}")
        except ValueError as error:
            raise bad_reply("an event is not JSON") from error


_EVENTS: Final = frozenset({"contentBlockDelta", "contentBlockStart", "contentBlockStop", "messageStop", "metadata"})


def _broken(fault: FramingError) -> Interrupted:
    return Interrupted(interrupted().message, detail=str(fault))


def _index(said: Mapping[str, Json]) -> int:
    index = said.get("contentBlockIndex")
    if type(index) is not int:
        raise bad_reply("a block has no index")
    return index


def _object(said: Mapping[str, Json], name: str) -> dict[str, Json]:
    value = said.get(name)
    if not isinstance(value, dict):
        raise bad_reply(f"an event has no {name}")
    return value
