"""Bedrock streams as readable JSON, and the bytes that they stand for.

{"frames": [{"messageStart": {...}}, {"exception:throttlingException": {...}}, {"error:code": "message"}],
 "flip": 40, "cut": 3}

A frame is one member: its event type and payload, which is written compactly; a string is a payload's own text. `flip`
is the offset of a byte to damage, `cut` how many bytes the end lacks.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from tests.support.eventstream import encode_event, encode_exception, encode_frame


def encoded(stream: Mapping[str, Any]) -> bytes:
    """The bytes of a stream."""
    data = bytearray(b"".join(_frame(*member) for frame in stream["frames"] for member in frame.items()))
    if "flip" in stream:
        data[stream["flip"]] ^= 0x01
    return bytes(data[: len(data) - stream.get("cut", 0)])


def events(*frames: tuple[str, Any]) -> bytes:
    """The bytes of some frames."""
    return encoded({"frames": [{kind: payload} for kind, payload in frames]})


def _frame(kind: str, payload: Any) -> bytes:
    sort, colon, name = kind.partition(":")
    if sort == "error":
        return encode_frame({":message-type": "error", ":error-code": name, ":error-message": payload}, b"")
    data = payload.encode() if isinstance(payload, str) else orjson.dumps(payload)
    return encode_exception(name, data) if colon else encode_event(kind, data)
