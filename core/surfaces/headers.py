"""The response headers of our own, and the names that they have; set nowhere else."""

import math

from core.reservation import Window

DEFAULT_PREFIX = "X-Inferbase-"


def answer_headers(
    prefix: str,
    request_id: str,
    *,
    model: str | None = None,
    cost_micros: int | None = None,
    latency_ms: int | None = None,
) -> dict[str, str]:
    """Headers of an answer; what is not known has no header.

    Args:
        prefix: What the names begin with, `X-Inferbase-` unless the operator set another.
        request_id: In the `req-` form, on both surfaces.
        model: The catalog id that served.
        cost_micros: What was charged, in micro-dollars.
        latency_ms: Wall time of the request, in milliseconds.
    """
    headers = {f"{prefix}Request-Id": request_id, "x-request-id": request_id}
    if model is not None:
        headers[f"{prefix}Model"] = model
    if cost_micros is not None:
        headers[f"{prefix}Cost-Micros"] = str(cost_micros)
    if latency_ms is not None:
        headers[f"{prefix}Latency-Ms"] = str(latency_ms)
    return headers


def limit_headers(requests: Window | None, tokens: Window | None) -> dict[str, str]:
    """What OpenAI's API tells of rate limits, by the same names (platform.openai.com, "Rate limits", 2026-11-30).

    Args:
        requests: The limit in requests that has least left, None where there is none.
        tokens: The same for tokens.
    """
    headers: dict[str, str] = {}
    for unit, window in (("requests", requests), ("tokens", tokens)):
        if window is not None:
            headers[f"x-ratelimit-limit-{unit}"] = str(window.limit)
            headers[f"x-ratelimit-remaining-{unit}"] = str(window.remaining)
            headers[f"x-ratelimit-reset-{unit}"] = duration(window.reset_s)
    return headers


def duration(seconds: float) -> str:
    """A time as those headers have it, in whole seconds, rounded up: `59s`, `6m0s`, `23h0m5s`."""
    minutes, rest = divmod(math.ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m{rest}s"
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"
