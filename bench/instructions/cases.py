"""The cases that are counted, by name: the driver does them, and what reads the counts knows them."""

from typing import Final

IDLE: Final = "idle"
REQUESTS: Final = 20
"""How often each fork asks."""

FEW: Final = 10
MANY: Final = 210
"""Streams of so many chunks: what one chunk costs is the difference, by the difference of their numbers."""

GROWTH: Final[dict[str, tuple[int, int, int]]] = {
    "prompt": (16_000, 64_000, 256_000),
    "conversation": (5, 20, 80),
    "stream": (75, 300, 1_200),
    "catalog": (50, 200, 800),
}
"""By what grows: three sizes (bytes, turns, chunks, models)."""
