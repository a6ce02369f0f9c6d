"""Server-sent events: the upstreams' bytes to events, and our payloads to bytes.

It never parses the JSON inside, and drops `id:` and `retry:`: nothing here reconnects.
"""

from dataclasses import dataclass
from typing import Final

from core.framing import FramingError

DONE: Final = b"data: [DONE]\n\n"
MAX_EVENT_BYTES: Final = 24 * 1024 * 1024

_BOM: Final = b"\xef\xbb\xbf"
_BREAK: Final = b"\n\n"


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event (WHATWG HTML, "Server-sent events", read 2026-11-30).

    Args:
        data: The `data:` lines joined with LF: valid UTF-8, possibly empty. Bytes, because that
            is what the JSON parser takes.
        event: The name from the `event:` line; empty without one.
    """

    data: bytes
    event: str = ""

    @property
    def done(self) -> bool:
        """Whether this is OpenAI's end marker; like its SDK, whatever stands behind it."""
        return self.data.startswith(b"[DONE]")


class SseDecoder:
    """The bytes of one stream to its events; how the bytes were split never shows.

    Events before a fault in the same read are still returned; the next call raises the fault,
    and so does every call after it.

    Two things beyond the standard, so that no error of an upstream is lost: a block of lines
    that begins with `{` or `[` is a body without framing (Gemini, and JSON in answer to a
    stream) and becomes the data of an event; the line `error: ...` (older llama.cpp) becomes the
    data of an event named `error`.

    Args:
        max_event_bytes: Size of the largest event in bytes, with its field names and comments.
    """

    __slots__ = ("_after_cr", "_fault", "_fresh", "_limit", "_rest")

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._limit = max_event_bytes
        self._rest = bytearray()
        self._fresh = True
        self._after_cr = False
        self._fault = ""

    def feed(self, data: bytes) -> tuple[SseEvent, ...]:
        """Takes the next bytes of the stream and returns the events that they complete.

        Raises:
            FramingError: An event is too large, or is not UTF-8.
        """
        if self._fault:
            raise FramingError(self._fault)
        if self._fresh:
            data = self._without_bom(data)
        if self._after_cr or b"\r" in data:
            data = self._with_lf_only(data)
        rest = self._rest
        if not rest:
            end = data.rfind(_BREAK)
            if end < 0:
                rest += data
                return self._events(b"")
            rest += data[end + 2 :]
            return self._events(data[:end])
        # From the seam on only: an event that comes in many reads is still scanned once.
        seam = len(rest) - 1
        rest += data
        end = rest.rfind(_BREAK, seam)
        if end < 0:
            return self._events(b"")
        text = bytes(rest[:end])
        del rest[: end + 2]
        return self._events(text)

    def close(self) -> tuple[SseEvent, ...]:
        """Ends the stream; an event that only lacks its blank line is still returned.

        Raises:
            FramingError: The rest is cut inside a character, or an earlier fault is due.
        """
        if self._fault:
            raise FramingError(self._fault)
        text = bytes(self._rest)
        self._rest.clear()
        return self._events(text)

    def _events(self, text: bytes) -> tuple[SseEvent, ...]:
        events: list[SseEvent] = []
        try:
            for block in text.split(_BREAK):
                if len(block) > self._limit:
                    self._check_size(block)
                if block.startswith(b"data: ") and b"\n" not in block:
                    data = block[6:]
                    events.append(SseEvent(data if data.isascii() else _checked(data)))
                elif event := _event(block):
                    events.append(event)
            if len(self._rest) > self._limit:
                self._check_size(self._rest)
        except FramingError as fault:
            self._fault = str(fault)
            if not events:
                raise
        return tuple(events)

    def _check_size(self, block: bytes | bytearray) -> None:
        # A neighbouring empty line clings to a block or not, depending on where reads end.
        if len(block.strip(b"\n")) > self._limit:
            raise FramingError(f"an event is larger than {self._limit} bytes")

    def _without_bom(self, data: bytes) -> bytes:
        data = bytes(self._rest) + data
        self._rest.clear()
        if len(data) < len(_BOM) and _BOM.startswith(data):
            self._rest += data
            return b""
        self._fresh = False
        return data.removeprefix(_BOM)

    def _with_lf_only(self, data: bytes) -> bytes:
        if self._after_cr:
            if not data:
                return data
            data = data.removeprefix(b"\n")
        self._after_cr = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _event(block: bytes) -> SseEvent | None:
    event = ""
    lines: list[bytes] = []
    block = block.strip(b"\n")
    if block.startswith((b"{", b"[")):
        return SseEvent(_checked(block))
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            lines.append(value)
        elif field == b"event":
            event = _checked(value).decode()
        elif field == b"error":
            event = "error"
            lines.append(value)
    return SseEvent(_checked(b"\n".join(lines)), event) if lines else None


def _checked(text: bytes) -> bytes:
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise FramingError(f"an event is not UTF-8: {error.reason}") from error
    return text


def frame(payload: bytes) -> bytes:
    """One outgoing event; line ends inside the payload are carried as several `data:` lines."""
    if b"\n" in payload or b"\r" in payload:
        payload = payload.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        payload = payload.replace(b"\n", b"\ndata: ")
    return b"data: %b\n\n" % payload


def comment(text: str) -> bytes:
    """One outgoing comment, one line: a blank line after it would make old clients dispatch.

    Raises:
        ValueError: The text has a line end, and would leave the comment.
    """
    if "\n" in text or "\r" in text:
        raise ValueError("a comment is one line")
    return f": {text}\n".encode()
