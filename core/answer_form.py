"""The form in which an answer is kept under an idempotency key: its head as a line of JSON, its bytes, compressed.

A stream is packed as its frames go by, so that a long one never lies in memory in full.
"""

import zlib
from typing import Final

import orjson

from core.presentation import Head

MOST_BYTES: Final = 16_000_000
"""The longest answer that is kept, in bytes as they were sent."""

MOST_PACKED: Final = 750_000
"""The largest that is kept once compressed, in bytes: about a megabyte of what the store is given."""


class Packing:
    """An answer that is being packed.

    Args:
        head: Its head; the body, if there is one, is added by `add`.
    """

    def __init__(self, head: Head) -> None:
        self._deflate = zlib.compressobj(1)
        self._parts: list[bytes] = []
        self._size = 0
        self._bytes = 0
        self.is_too_large = False
        first = {"version": 1, "status": head.status, "headers": head.headers, "stream": head.body is None}
        self._take(self._deflate.compress(orjson.dumps(first) + b"\n"))
        if head.body is not None:
            self.add(head.body)

    def add(self, data: bytes) -> None:
        """More of the answer's bytes."""
        if self.is_too_large:
            return
        self._bytes += len(data)
        self._take(self._deflate.compress(data))

    def packed(self) -> bytes | None:
        """The whole, or None when it is too large to be kept. Nothing may be added afterwards."""
        if not self.is_too_large:
            self._take(self._deflate.flush())
        return None if self.is_too_large else b"".join(self._parts)

    def _take(self, data: bytes) -> None:
        self._size += len(data)
        self._parts.append(data)
        if self._size > MOST_PACKED or self._bytes > MOST_BYTES:
            self.is_too_large = True
            self._parts.clear()


def unpacked(data: bytes) -> tuple[Head, bytes]:
    """The head and the bytes of an answer that was packed; the head of a stream has no body."""
    first, _, body = zlib.decompress(data).partition(b"\n")
    head = orjson.loads(first)
    return Head(head["status"], head["headers"], None if head["stream"] else body), body
