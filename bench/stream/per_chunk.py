"""What one streamed chunk costs in CPU time: decoding the upstream's bytes, the turn, rendering for the caller.

python -m bench.stream.per_chunk
"""

import json
import time
from collections.abc import Callable
from functools import partial

from core.catalog.model import Auth, Format, Host, Model, Target, Vendor
from core.events import Event
from core.providers.base import Outgoing
from core.providers.registry import provider
from core.surfaces.openai_chat import StreamRenderer
from core.surfaces.surface import PLAIN
from core.turn import Turn

CHUNKS = 20_000
ROUNDS = 5


def make_target() -> Target:
    """A target of the OpenAI format; nothing is sent to it."""
    host = Host(vendor="bench", upstream_model="m")
    model = Model("bench/m", "M", "bench", (host,), 8_192, 2_048)
    vendor = Vendor("bench", Format.OPENAI, "http://127.0.0.1:9/v1", auth=Auth.NONE)
    return Target(model, host, vendor)


def chunk(number: int) -> bytes:
    """One chunk as OpenAI sends it."""
    delta = {"index": 0, "delta": {"content": f" word{number % 10}"}, "logprobs": None, "finish_reason": None}
    body = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [delta]}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def cpu_us(work: Callable[[], object]) -> float:
    """The least CPU time of a few rounds, per chunk, in microseconds."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best / CHUNKS * 1_000_000


def decode(reads: list[bytes]) -> list[tuple[Event, ...]]:
    """Bytes to events, as an upstream call does it."""
    sent = Outgoing(make_target(), "http://127.0.0.1:9/v1/chat/completions", {}, b"")
    decoder = provider(Format.OPENAI).decoder(sent, 200, {"content-type": "text/event-stream"})
    turn = Turn(lambda choice, call: "call")
    return [turn.feed(decoder.feed(read)) for read in reads]


def render(batches: list[tuple[Event, ...]]) -> int:
    """Events to the caller's bytes."""
    renderer = StreamRenderer(
        PLAIN, response_id="chatcmpl-1", created=1, model="bench/m", include_usage=False, legacy_functions=False
    )
    return sum(len(renderer.events(batch)) for batch in batches)


def main() -> None:
    """Print the table."""
    chunks = [chunk(number) for number in range(CHUNKS)]
    for size in (1, 8):
        reads = [b"".join(chunks[start : start + size]) for start in range(0, CHUNKS, size)]
        batches = decode(reads)
        decoding, rendering = cpu_us(partial(decode, reads)), cpu_us(partial(render, batches))
        print(f"{size} chunks a read: decode {decoding:.1f} us, render {rendering:.1f} us a chunk")


if __name__ == "__main__":
    main()
