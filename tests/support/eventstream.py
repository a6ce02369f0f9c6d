"""Writes AWS event-stream frames; the other half of the decoder, needed by tests alone."""

from collections.abc import Mapping
from struct import pack
from zlib import crc32

from core.framing.eventstream import HeaderValue


def encode_header(name: str, kind: int, value: HeaderValue) -> bytes:
    """One header of the given type, 0 to 9, in wire form."""
    head = pack("!B", len(name.encode())) + name.encode() + bytes([kind])
    match value:
        case bool():
            return head
        case str():
            return head + pack("!H", len(value.encode())) + value.encode()
        case bytes():
            return head + (pack("!H", len(value)) if kind == 6 else b"") + value
        case int():
            return head + pack("!" + {2: "b", 3: "h", 4: "i", 5: "q", 8: "q"}[kind], value)


def encode_parts(headers: bytes, payload: bytes) -> bytes:
    """One frame around headers that are already in wire form, also malformed ones."""
    prelude = pack("!II", 16 + len(headers) + len(payload), len(headers))
    body = prelude + pack("!I", crc32(prelude)) + headers + payload
    return body + pack("!I", crc32(body))


def encode_frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    """One frame with string headers, as Bedrock sends them."""
    return encode_parts(b"".join(encode_header(k, 7, v) for k, v in headers.items()), payload)


def encode_event(event_type: str, payload: bytes) -> bytes:
    """One frame of message type `event` with a JSON payload."""
    headers = {
        ":event-type": event_type,
        ":content-type": "application/json",
        ":message-type": "event",
    }
    return encode_frame(headers, payload)


def encode_exception(exception_type: str, payload: bytes) -> bytes:
    """One frame of message type `exception` with a JSON payload."""
    headers = {
        ":exception-type": exception_type,
        ":content-type": "application/json",
        ":message-type": "exception",
    }
    return encode_frame(headers, payload)
