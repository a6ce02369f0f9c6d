"""The headers of chat answers: what served, what it cost, and what is left of limits."""

from typing import Any

from functions.gateway.openapi.shapes import text, whole


def limit_headers() -> dict[str, Any]:
    """The headers that chat answers have where key, organisation or plan limit requests or tokens."""
    headers: dict[str, Any] = {}
    for unit in ("requests", "tokens"):
        about = f"Of the limits in {unit} the one with least left: how many"
        headers |= {
            f"x-ratelimit-limit-{unit}": {"schema": whole(f"{about} it allows. Only where there is one.", low=0)},
            f"x-ratelimit-remaining-{unit}": {"schema": whole(f"{about} are left.", low=0)},
            f"x-ratelimit-reset-{unit}": {"schema": text("After how long it starts anew: `12s`, `6m0s`, `23h0m5s`.")},
        }
    return headers


def failure_cost(prefix: str) -> dict[str, Any]:
    """What a chat completion that failed says of its charge; `prefix` is what our own names begin with."""
    about = "What it is charged all the same, where a host that failed had reported usage."
    return {f"{prefix}Cost-Micros": {"schema": whole(about, low=0)}}


def chat_headers(prefix: str) -> dict[str, Any]:
    """What a chat answer has beside the headers of every answer; `prefix` is what our own names begin with."""
    return {
        **limit_headers(),
        f"{prefix}Model": {
            "schema": text("The catalog id of the model that served. On a stream: if one did by its first byte.")
        },
        f"{prefix}Cost-Micros": {
            "schema": whole(
                "What was charged, in micro-dollars. Not on streams or answers that take minutes, nor while a "
                "price is unknown.",
                low=0,
            )
        },
        f"{prefix}Latency-Ms": {
            "schema": whole("Wall time in milliseconds. Not on streams or answers that take minutes.", low=0)
        },
    }
