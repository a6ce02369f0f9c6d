"""The response headers of our own, and the names that they have; set nowhere else."""

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
