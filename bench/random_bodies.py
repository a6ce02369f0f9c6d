"""Shows what the worst bodies cost, in CPU time: crafted ones, and the slowest to read of many random ones.

Run `python -m bench.random_bodies [--random 2000] [--seed 0]`. Those without a size in their name are as many of
something as the limit on values lets pass. `read` is the time of reading a body, on the dearer surface; `whole` that of
the whole request on the plain one: reading, planning, the call to a host that answers at once, and the record. Each is
the best of three runs. `us/KB` is the dearer of both by size: what an attacker gets for what he sends. Nothing here is
a test: the numbers are the machine's.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from bench.in_process import InProcess
from core.errors import GatewayError
from core.surfaces.openai_chat import parse_chat
from core.surfaces.openai_chat.body import MOST_VALUES
from core.surfaces.surface import SURFACES, Surface
from functions.gateway.incoming import LARGEST_BODY as LARGEST
from tests.support.random_bodies import random_body

MODEL: Final = "bench/openai"
USER: Final = {"role": "user", "content": "word"}
PART: Final = {"type": "text", "text": "x"}
CHOSEN: Final = {"type": "function", "name": "f"}


RUNS: Final = 3


@dataclass(frozen=True, slots=True)
class Cost:
    """What one body cost, in milliseconds of CPU time; `outcome` is that of reading it."""

    name: str
    size: int
    read_ms: float
    whole_ms: float
    outcome: str

    @property
    def us_per_kb(self) -> float:
        return max(self.read_ms, self.whole_ms) * 1e3 / max(1.0, self.size / 1024)


async def cost(gateway: InProcess, name: str, body: bytes) -> Cost:
    read_s, outcome = max(min(_read(body, surface) for _ in range(RUNS)) for surface in SURFACES)
    whole_s = min([await _whole(gateway, body) for _ in range(RUNS)])
    return Cost(name, len(body), read_s * 1e3, whole_s * 1e3, outcome)


def _read(body: bytes, surface: Surface) -> tuple[float, str]:
    started = time.process_time()
    try:
        parse_chat(body, surface)
    except GatewayError as error:
        return time.process_time() - started, error.code
    return time.process_time() - started, "accepted"


async def _whole(gateway: InProcess, body: bytes) -> float:
    started = time.process_time()
    await gateway.post(body)
    return time.process_time() - started


def chat(messages: Any = None, **members: Any) -> bytes:
    return json.dumps({"model": MODEL, "messages": messages or [USER], **members}).encode()


def filled(head: bytes, piece: bytes, tail: bytes, size: int = LARGEST) -> bytes:
    """`piece` between head and tail, as often as it fits into the size."""
    return head + piece * ((size - len(head) - len(tail)) // len(piece)) + tail


def crafted() -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Bodies that try to cost much, each by what it does."""
    text = b'{"model":"bench/openai","messages":[{"role":"user","content":"', b'"}]}'
    yield "usual: three short messages", lambda: chat([USER, {"role": "assistant", "content": "x"}, USER])
    yield "6 MB of text", lambda: filled(text[0], b"a", text[1])
    yield "6 MB of escapes", lambda: filled(text[0], rb"\u0041", text[1])
    yield "6 MB of escaped quotes and commas", lambda: filled(text[0], rb"\",", text[1])
    yield "6 MB of commas inside a string", lambda: filled(text[0], b",", text[1])
    yield (
        "6 MB of text, JSON asked for",
        lambda: filled(
            b'{"model":"bench/openai","response_format":{"type":"json_object"},"messages":[{"role":"user","content":"',
            b"a",
            text[1],
        ),
    )
    yield "6 MB of blanks", lambda: filled(b'{"model":"bench/openai",', b" ", b'"messages":[]}')
    yield "6 MB of opening brackets", lambda: b"[" * LARGEST
    yield "6 MB of commas, no JSON", lambda: b"," * LARGEST
    yield "6 MB of quotes", lambda: b'"' * LARGEST
    yield "6 MB of backslashes in an open string", lambda: b'{"' + b"\\" * (LARGEST - 2)
    yield "6 MB that end in a byte that is no UTF-8", lambda: filled(text[0], b"a", b"\xff" + text[1])
    yield (
        "6 MB in the name of an unknown field",
        lambda: filled(b'{"model":"bench/openai","messages":[' + json.dumps(USER).encode() + b'],"', b"a", b'":1}'),
    )
    yield "6 MB in the name of a model", lambda: filled(b'{"messages":[],"model":"', b"a", b'"}')
    yield "6 MB as an image", lambda: chat([_image("A" * (LARGEST - 200))])
    yield "120 levels deep in tool parameters", lambda: chat(tools=[_tool("f", _nested(120, 1))])
    yield "5,000 levels deep", lambda: b'{"a":' * 5_000 + b"1" + b"}" * 5_000
    yield "1,000,000 numbers", lambda: chat(metadata={"a": [1] * 1_000_000})
    yield "numbers in tool parameters", lambda: chat(tools=[_tool("f", {"a": [1] * most(1)})])
    yield "100 levels of numbers", lambda: chat(tools=[_tool("f", _nested(100, most(1) // 102))])
    yield "messages", lambda: chat([USER] * most(USER))
    yield "calls and their results", lambda: chat([turn for i in range(most(*_called(0))) for turn in _called(i)])
    yield "calls of one turn and their results", lambda: chat(_parallel(most(_call(0), _result(0))))
    yield "parts of a message", lambda: chat([{"role": "user", "content": [PART] * most(PART)}])
    yield "unknown fields", lambda: chat(**{f"unknown{index}": 1 for index in range(most(1))})
    yield (
        "unknown fields deep inside",
        lambda: chat([{**USER, f"unknown{i}": 1} for i in range(most({**USER, "x": 1}))]),
    )
    yield "tools", lambda: chat(tools=[_tool(f"f{index}", {}) for index in range(most(_tool("f", {})))])
    yield "allowed tools", lambda: chat(**_allowed(most(_tool("f", {}), CHOSEN)))
    yield "token ids", lambda: chat(logit_bias={str(index): 1 for index in range(most(1))})
    yield "models to route among", lambda: chat(routing={"models": ["m"] * most(1)})


def most(*items: Any) -> int:
    """How often these may be in a body together."""
    written = json.dumps(items)
    return (MOST_VALUES - 60) // sum(written.count(mark) for mark in ",{[")


def _image(data: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "image_url", "image_url": {"url": f"data:,{data}"}}]}


def _tool(name: str, parameters: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def _allowed(count: int) -> dict[str, Any]:
    chosen = [{**CHOSEN, "name": f"f{index}"} for index in range(count)]
    return {
        "tools": [_tool(f"f{index}", {}) for index in range(count)],
        "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": chosen}},
    }


def _nested(levels: int, width: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value, *([1] * (width - 1))]
    return {"a": value}


def _call(index: int) -> dict[str, Any]:
    return {"id": f"c{index}", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def _result(index: int) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"c{index}", "content": "x"}


def _called(index: int) -> list[dict[str, Any]]:
    return [{"role": "assistant", "tool_calls": [_call(index)]}, _result(index)]


def _parallel(count: int) -> list[dict[str, Any]]:
    made = {"role": "assistant", "tool_calls": [_call(index) for index in range(count)]}
    return [made, *(_result(index) for index in reversed(range(count)))]


async def slowest(gateway: InProcess, count: int, seed: int, shown: int = 5) -> list[Cost]:
    """The random bodies that cost most to read."""
    first = []
    for number in range(seed, seed + count):
        body = _random(number)
        first.append((max(_read(body, surface)[0] for surface in SURFACES), number))
    worst = sorted(first, reverse=True)[: shown * 4]
    again = [await cost(gateway, f"random, seed {number}", _random(number)) for _, number in worst]
    return sorted(again, key=lambda each: each.read_ms, reverse=True)[:shown]


def _random(seed: int) -> bytes:
    return random_body(Random(seed)).replace(b"lab/small", MODEL.encode())


async def show(random: int, seed: int) -> None:
    gateway = InProcess()
    await gateway.post(chat())  # what is made once, is made now
    print(f"{'body':<48}{'KB':>10}{'read ms':>10}{'whole ms':>10}{'us/KB':>10}  read")
    for name, make in crafted():
        _show(await cost(gateway, name, make()))
    print(f"the slowest to read of {random} random bodies:")
    for each in await slowest(gateway, random, seed):
        _show(each)


def _show(cost: Cost) -> None:
    size = f"{cost.size / 1024:,.1f}"
    times = f"{cost.read_ms:>10.2f}{cost.whole_ms:>10.2f}{cost.us_per_kb:>10.1f}"
    print(f"{cost.name:<48}{size:>10}{times}  {cost.outcome}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--random", type=int, default=2_000, help="how many random bodies")
    parser.add_argument("--seed", type=int, default=0, help="the first of their seeds")
    given = parser.parse_args()
    asyncio.run(show(given.random, given.seed))


if __name__ == "__main__":
    main()
