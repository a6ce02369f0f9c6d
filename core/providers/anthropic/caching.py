"""Cache marks as the format allows them: how long, how many, and in which order."""

from collections.abc import Sequence
from typing import Final

from core.chat import CacheBreakpoint, Json
from core.providers.fields import Disposed

MOST_MARKS: Final = 4
"""How many marks one request may have, the top-level one included ("Prompt caching", read 2026-11-30)."""

AUTOMATIC: Final[dict[str, Json]] = {"type": "ephemeral"}
"""The mark at the top of a body: the host marks the last block itself."""

_FIELD: Final = "messages[].content[].prompt_cache_breakpoint"
_MARK: Final = "cache_control"


def marked(block: dict[str, Json], breakpoint: CacheBreakpoint | None, disposed: Disposed) -> dict[str, Json]:
    """The block with the caller's mark, if there is one. OpenAI's lifetimes are longer than five minutes."""
    if breakpoint is None or not disposed.sends(_FIELD):
        return block
    return {**block, _MARK: {"type": "ephemeral"} if breakpoint.ttl is None else {"type": "ephemeral", "ttl": "1h"}}


def settle_marks(blocks: Sequence[dict[str, Json]], most: int = MOST_MARKS) -> None:
    """Make the marks of a prompt's blocks, in the order of the prompt, agree with the host's rules.

    Of too many the last ones stay: each holds all that precedes it. A mark before one of an hour must be of an hour.
    """
    with_mark = [block for block in blocks if _MARK in block]
    for block in with_mark[: max(0, len(with_mark) - most)]:
        del block[_MARK]
    hour = False
    for block in reversed(with_mark):
        mark = block.get(_MARK)
        if mark is None:
            return
        hour = hour or "ttl" in mark
        if hour:
            block[_MARK] = {"type": "ephemeral", "ttl": "1h"}
