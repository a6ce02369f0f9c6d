"""Notes when keys were last used, after the answer, and not more often than is worth a write."""

from contextlib import suppress
from typing import Final

from core.errors import StoreUnavailable
from core.parts import Parts
from core.tenant import Key

USED_MS: Final = 3_600_000
"""How far the last use that is kept of a key may lag behind, in milliseconds."""


def note_use(parts: Parts, key: Key) -> None:
    """Have it noted that a key was used, unless that was done within the hour. Nobody waits for it."""
    now_ms = round(parts.clock.now() * 1000)
    if key.last_used_ms is None or now_ms - key.last_used_ms >= USED_MS:
        parts.background.start(_touch(parts, key, now_ms))


async def _touch(parts: Parts, key: Key, now_ms: int) -> None:
    with suppress(StoreUnavailable):  # the next request tries again
        known = await parts.directory.key(key.digest)
        # Another request may have done it since this one came.
        if known is not None and (known.last_used_ms is None or now_ms - known.last_used_ms >= USED_MS):
            await parts.directory.touch_key(key.digest, now_ms)
