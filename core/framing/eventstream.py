"""AWS event stream: bytes to checked frames; it never looks into a payload.

Layout and limits: Amazon "Event stream encoding", as botocore 1.44.8 reads it, 2026-11-30.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from struct import Struct
from struct import error as StructError
from types import MappingProxyType
from typing import Final
from zlib import crc32

from core.framing import FramingError

MAX_HEADERS_BYTES: Final = 128 * 1024
MAX_PAYLOAD_BYTES: Final = 24 * 1024 * 1024

HeaderValue = bool | int | bytes | str

_PRELUDE: Final = Struct("!III")
_CRC: Final = Struct("!I")
_LENGTH: Final = Struct("!H")
_TRUE, _FALSE, _BYTES, _STRING, _UUID = 0, 1, 6, 7, 9
_INTEGERS: Final = {
    2: Struct("!b"),
    3: Struct("!h"),
    4: Struct("!i"),
    5: Struct("!q"),
    8: Struct("!q"),
}
_UUID_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class EventFrame:
    """One message.

    Args:
        headers: Names such as `:message-type`, `:event-type`, `:exception-type`, to their values.
            A timestamp is an integer of milliseconds since 1970, a UUID is its 16 bytes.
        payload: The bytes as they came.
    """

    headers: Mapping[str, HeaderValue]
    payload: bytes


class EventStreamDecoder:
    """The bytes of one stream to its frames; how the bytes were split never shows.

    Frames before a fault in the same read are still returned; the next call raises the fault,
    and so does every call after it.
    """

    __slots__ = ("_block", "_buffer", "_fault", "_headers")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._fault = ""
        self._block = b""
        self._headers = _headers(b"")

    def feed(self, data: bytes) -> tuple[EventFrame, ...]:
        """Takes the next bytes of the stream and returns the frames that they complete.

        Raises:
            FramingError: A checksum, a length or a header is wrong.
        """
        if self._fault:
            raise FramingError(self._fault)
        buffer = self._buffer
        buffer += data
        frames: list[EventFrame] = []
        start = 0
        try:
            while len(buffer) - start >= _PRELUDE.size:
                end = start + _frame_bytes(buffer, start)
                if len(buffer) < end:
                    break
                frames.append(self._frame(bytes(buffer[start:end])))
                start = end
        except FramingError as fault:
            self._fault = str(fault)
            if not frames:
                raise
        del buffer[:start]
        return tuple(frames)

    def close(self) -> tuple[EventFrame, ...]:
        """Ends the stream; there is never a frame left to return.

        Raises:
            FramingError: The stream was cut inside a frame, or an earlier fault is due.
        """
        if self._fault:
            raise FramingError(self._fault)
        if self._buffer:
            raise FramingError(f"the stream was cut {len(self._buffer)} bytes into a frame")
        return ()

    def _frame(self, frame: bytes) -> EventFrame:
        body_end = len(frame) - _CRC.size
        if crc32(frame[:body_end]) != _CRC.unpack_from(frame, body_end)[0]:
            raise FramingError("the checksum of a frame is wrong")
        headers_end = _PRELUDE.size + _PRELUDE.unpack_from(frame)[1]
        block = frame[_PRELUDE.size : headers_end]
        # The deltas of one answer repeat their headers byte for byte.
        if block != self._block:
            self._headers = _headers(block)
            self._block = block
        return EventFrame(self._headers, frame[headers_end:body_end])


def _frame_bytes(buffer: bytearray, start: int) -> int:
    """Length of the frame whose prelude begins at `start`, its limits and checksum verified."""
    total, headers, checksum = _PRELUDE.unpack_from(buffer, start)
    if crc32(buffer[start : start + _PRELUDE.size - _CRC.size]) != checksum:
        raise FramingError("the checksum of a frame's prelude is wrong")
    payload = total - headers - _PRELUDE.size - _CRC.size
    if headers > MAX_HEADERS_BYTES or not 0 <= payload <= MAX_PAYLOAD_BYTES:
        raise FramingError(f"a frame of {total} bytes with {headers} of headers is not possible")
    return int(total)


def _headers(block: bytes) -> Mapping[str, HeaderValue]:
    headers: dict[str, HeaderValue] = {}
    at = 0
    try:
        while at < len(block):
            name_end = at + 1 + block[at]
            name = _slice(block, at + 1, name_end).decode()
            if name in headers:
                raise FramingError("a frame has the same header twice")
            headers[name], at = _value(block[name_end], block, name_end + 1)
    except (IndexError, StructError) as error:
        raise FramingError("a frame's headers are cut off") from error
    except UnicodeDecodeError as error:
        raise FramingError(f"a frame's header is not UTF-8: {error.reason}") from error
    return MappingProxyType(headers)


def _value(kind: int, block: bytes, at: int) -> tuple[HeaderValue, int]:
    """The value of that type at that place, and where the next header begins."""
    if kind in (_STRING, _BYTES):
        begin = at + _LENGTH.size
        end = begin + _LENGTH.unpack_from(block, at)[0]
        value = _slice(block, begin, end)
        return (value.decode() if kind == _STRING else value), end
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE, at
    if kind == _UUID:
        return _slice(block, at, at + _UUID_BYTES), at + _UUID_BYTES
    if kind not in _INTEGERS:
        raise FramingError(f"a frame has a header of the unknown type {kind}")
    integer = _INTEGERS[kind]
    return integer.unpack_from(block, at)[0], at + integer.size


def _slice(block: bytes, start: int, end: int) -> bytes:
    if end > len(block):
        raise IndexError
    return block[start:end]
