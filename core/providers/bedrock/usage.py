"""Usage in Converse's words, made canonical: cache reads and writes inside the input, writes by their lifetime."""

from collections.abc import Mapping
from typing import Final

from core.chat import Json, Usage
from core.providers.answer_labels import MAX_COUNT, count_of

_HOUR: Final = "1h"


def usage_of(said: Json, tier: str | None) -> Usage | None:
    """One usage object; None when it counts nothing at all.

    `inputTokens` holds neither what was read from a cache nor what was written to one (wire reference, 10.1 and 15,
    read 2026-11-30). Reasoning is part of the output and not told apart.

    Args:
        said: The `usage` of a `metadata` event or of a whole answer.
        tier: The service tier that the answer says it was served in.
    """
    if not isinstance(said, Mapping):
        return None
    fresh, output = count_of(said, "inputTokens"), count_of(said, "outputTokens")
    if fresh is None and output is None:
        return None
    cached = count_of(said, "cacheReadInputTokens") or 0
    short, long = _written(said)
    return Usage(
        input_tokens=(fresh or 0) + cached + short + long,
        cached_tokens=cached,
        cache_write_5m_tokens=short,
        cache_write_1h_tokens=long,
        output_tokens=output or 0,
        service_tier=tier,
    )


def _written(said: Mapping[str, Json]) -> tuple[int, int]:
    """Tokens written to a cache of five minutes, which is the usual one, and of an hour."""
    short, long = 0, 0
    details = said.get("cacheDetails")
    for detail in details if isinstance(details, list) else ():
        if not isinstance(detail, Mapping):
            continue
        count = count_of(detail, "inputTokens") or 0
        if detail.get("ttl") == _HOUR:
            long = min(long + count, MAX_COUNT)
        else:
            short = min(short + count, MAX_COUNT)
    total = count_of(said, "cacheWriteInputTokens")
    # The total is the older member: what its parts do not say is of the usual kind.
    return (short, long) if total is None else (max(short, total - long), long)
