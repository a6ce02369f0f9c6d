"""Makes request ids: unique everywhere, and rising with time."""

import secrets
import time
from typing import Final

REQUEST_ID: Final = "headrace.request_id"
"""Key of the ASGI scope under which an entry point may leave the id that it gave a request."""


def new_request_id() -> str:
    """`req-` and the 32 hex digits of a version 7 UUID (RFC 9562, section 5.7): milliseconds first, then randomness."""
    milliseconds = time.time_ns() // 1_000_000
    random_bits = secrets.randbits(74)
    high = (milliseconds << 16) | 0x7000 | (random_bits >> 62)
    low = (0b10 << 62) | (random_bits & ((1 << 62) - 1))
    return f"req-{high:016x}{low:016x}"
