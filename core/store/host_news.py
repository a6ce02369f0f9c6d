"""What still holds of the news of hosts that a store kept, whichever store it is."""

from core.ports import HostNews

TTFT_MS = 3_600_000
"""How long a first-token time is worth telling, in milliseconds."""


def still_new(
    cooling_until_ms: int, cooldowns: int, ttft_ms: int | None, ttft_at_ms: int, now_ms: int
) -> HostNews | None:
    """What still holds of what was told of a host; None when nothing does. Times are Unix milliseconds."""
    is_cooling, is_fresh = now_ms < cooling_until_ms, now_ms - TTFT_MS < ttft_at_ms
    if not (is_cooling or is_fresh):
        return None
    return HostNews(
        cooling_until_ms=cooling_until_ms if is_cooling else 0,
        cooldowns=cooldowns if is_cooling else 0,
        ttft_ms=ttft_ms if is_fresh else None,
    )
