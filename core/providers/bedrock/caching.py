"""Cache points as the format allows them: blocks of their own behind what is worth caching, few, and in order."""

from collections.abc import Sequence
from typing import Final

from core.chat import CacheBreakpoint, Json
from core.providers.fields import Disposed

MOST_POINTS: Final = 4
"""How many points one request may have ("Prompt caching for faster model inference", read 2026-11-30)."""

_FIELD: Final = "messages[].content[].prompt_cache_breakpoint"
_POINT: Final = "cachePoint"
_HOUR: Final = "1h"


def cache_points(breakpoint: CacheBreakpoint | None, disposed: Disposed) -> list[dict[str, Json]]:
    """What follows a block that the caller marked. OpenAI's lifetimes are longer than the usual five minutes."""
    if breakpoint is None or not disposed.sends(_FIELD):
        return []
    point = {"type": "default"} if breakpoint.ttl is None else {"type": "default", "ttl": _HOUR}
    return [{_POINT: point}]


def settle_points(lists: Sequence[list[dict[str, Json]]], most: int = MOST_POINTS) -> None:
    """Make the points of a prompt agree with the service's rules.

    Of too many the last ones stay: each holds all that precedes it. A point before one of an hour must be of an hour.

    Args:
        lists: The prompt's blocks, list by list, in the order of the prompt.
        most: How many points may stay.
    """
    hour = False
    for blocks in reversed(lists):
        for place in range(len(blocks) - 1, -1, -1):
            point = blocks[place].get(_POINT)
            if point is None:
                continue
            if most <= 0:
                del blocks[place]
                continue
            most -= 1
            hour = hour or "ttl" in point
            if hour:
                point["ttl"] = _HOUR
