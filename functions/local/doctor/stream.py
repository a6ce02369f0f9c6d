"""Does a stream arrive while it is made, or all at once when it is over?

How long the answer was under way after its first token, the gateway tells in its usage event. If it arrives in much
less, something on the way kept it back.
"""

import time
from collections.abc import AsyncIterable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx
import orjson

from core.framing.sse import SseDecoder
from functions.local.doctor.finding import Finding, fail, fine, warn

ABOUT = "streaming"
PATH: Final = "/api/v1/inference/chat/completions"
QUESTION: Final = "Count from 1 to 80 in words, separated by commas. Write nothing else."
MOST_TOKENS: Final = 400
TELLING_S: Final = 0.2
"""An answer that took less after its first token tells nothing."""

_UNBUFFER: Final = (
    "Let nothing in front of the gateway buffer: API Gateway needs ResponseTransferMode RESPONSE_STREAM, nginx "
    "proxy_buffering off; a CDN must not compress or cache it."
)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A stream as it arrived: seconds from the request to its first event and to its last byte, and what it told."""

    first_s: float
    last_s: float
    usage: Mapping[str, Any] | None
    error: Mapping[str, Any] | None
    model: str | None


async def arrival(parts: AsyncIterable[bytes], clock: Callable[[], float], sent: float) -> Arrival:
    """Read a stream to its end.

    Args:
        parts: Its body as it comes.
        clock: Seconds that never go back.
        sent: When it was asked for, on that clock.
    """
    decoder = SseDecoder()
    first: float | None = None
    told: dict[str, Any] = {}
    model: str | None = None
    async for part in parts:
        for event in decoder.feed(part):
            # Comments are no answer: they come while the model is still silent.
            first = clock() if first is None else first
            frame = _frame(event.data)
            told[str(frame.get("object"))] = frame
            model = frame.get("model") or model
    last = clock()
    usage, error = told.get("usage", {}).get("usage"), told.get("error", {}).get("error")
    return Arrival((last if first is None else first) - sent, last - sent, usage, error, model)


def judge(seen: Arrival) -> Finding:
    """What is to be said of a stream."""
    if seen.error is not None:
        return fail(ABOUT, f"it failed: {seen.error.get('message')}", "Look the request up in the gateway's log.")
    if seen.usage is None or seen.usage.get("ttft_ms") is None:
        return warn(ABOUT, "the answer does not tell its own times", "Ask the gateway itself, not one behind another.")
    made_s = (seen.usage["latency_ms"] - seen.usage["ttft_ms"]) / 1000
    spread_s = seen.last_s - seen.first_s
    says = f"{seen.model}: first event after {seen.first_s:.2f} s, last byte after {seen.last_s:.2f} s"
    if made_s < TELLING_S:
        return warn(ABOUT, f"{says}: too short a time to tell", "Name a slower model with --model.")
    if spread_s < made_s / 2:
        buffered = f"it arrived at once, though it was {made_s:.2f} s in the making ({says})"
        return fail(ABOUT, buffered, _UNBUFFER)
    return fine(ABOUT, says)


async def check_stream(
    client: httpx.AsyncClient, model: str, clock: Callable[[], float] = time.monotonic
) -> Sequence[Finding]:
    """Ask for one short answer, which is charged to the key like any other."""
    body = {
        "model": model,
        "messages": [{"role": "user", "content": QUESTION}],
        "max_tokens": MOST_TOKENS,
        "stream": True,
        **({"routing": {"optimize": "cost"}} if model == "auto" else {}),
    }
    sent = clock()
    try:
        async with client.stream("POST", PATH, json=body) as response:
            if response.status_code != 200:
                told = _frame(await response.aread()).get("error", {})
                says = f"refused ({response.status_code}): {told.get('message', 'without a word')}"
                return [fail(ABOUT, says, "Do what the message says; --model names another model.")]
            return [judge(await arrival(response.aiter_raw(), clock, sent))]
    except httpx.HTTPError as error:
        return [
            fail(ABOUT, f"the connection broke ({type(error).__name__})", "Try again; look into the gateway's log.")
        ]


def _frame(data: str | bytes) -> Mapping[str, Any]:
    try:
        read = orjson.loads(data)
    except orjson.JSONDecodeError:
        return {}
    return read if isinstance(read, dict) else {}
