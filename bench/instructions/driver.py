"""What is counted: requests and streams through the whole gateway, each in a fork of one warmed process.

It runs under Cachegrind, which counts a fork's instructions on top of those before the fork. So the fork that does
nothing is what all others are compared with. Writes one JSON object to the file that it is given: each fork's process
id by the name of its case.
"""

import asyncio
import gc
import os
import sys
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson

from bench.in_process import InProcess, request_body
from bench.instructions.cases import FEW, GROWTH, IDLE, MANY, REQUESTS
from bench.prompts import TOOLS, conversation, text
from bench.routing_plan import made_catalog, readings, wanted
from bench.streams import STREAMS
from core.providers.refusals import refusal_traits
from core.routing.auto import plan_auto
from core.routing.indexing import build_index

Work: TypeAlias = Callable[[], Coroutine[Any, Any, None]]

_WARM: Final = 15
_ASKED: Final = {
    "request, named": request_body(text(1_000)),
    "request, auto": request_body(text(1_000), model="auto"),
    "request, tool loop": request_body(messages=conversation(2)[:-2], tools=TOOLS),
}
_GATEWAY: Final = InProcess(logs=True)


async def _ask(body: bytes, times: int = 1) -> None:
    _GATEWAY.upstream.answers_whole()
    for _ in range(times):
        answer = await _GATEWAY.post(body)
        if answer.status != 200:
            raise RuntimeError(answer.end.decode())


async def _stream(name: str, chunks: int) -> None:
    _GATEWAY.upstream.streams(name, chunks)
    answer = await _GATEWAY.post(request_body(text(1_000), model=f"bench/{name}", stream=True))
    if not answer.end.endswith(b"data: [DONE]\n\n"):
        raise RuntimeError(answer.end.decode())


async def _plan(models: int) -> None:
    index = build_index(made_catalog(models, 1), refusal_traits)
    for reading in readings(8):
        plan_auto(index, wanted(reading))


_GROWING: Final[dict[str, Callable[[int], Coroutine[Any, Any, None]]]] = {
    "prompt": lambda size: _ask(request_body(text(size), model="auto")),
    "conversation": lambda turns: _ask(request_body(messages=conversation(turns), tools=TOOLS, model="auto")),
    "stream": lambda chunks: _stream("openai", chunks),
    "catalog": _plan,
}


def cases() -> dict[str, Work]:
    """What each fork does, by the name of the case."""
    made: dict[str, Work] = {IDLE: partial(asyncio.sleep, 0)}
    made |= {name: partial(_ask, body, REQUESTS) for name, body in _ASKED.items()}
    made |= {f"{name} {chunks}": partial(_stream, name, chunks) for name in STREAMS for chunks in (FEW, MANY)}
    made |= {f"{name} {size}": partial(_GROWING[name], size) for name, sizes in GROWTH.items() for size in sizes}
    return made


async def warm() -> None:
    """Run every path until the interpreter has specialised it."""
    for body in _ASKED.values():
        await _ask(body, _WARM)
    for name in STREAMS:
        await _stream(name, _WARM * 4)


def main() -> None:
    loop = asyncio.new_event_loop()
    loop.run_until_complete(warm())
    gc.collect()
    gc.freeze()
    pids = {name: _forked(loop, work) for name, work in cases().items()}
    Path(sys.argv[1]).write_bytes(orjson.dumps(pids))


def _forked(loop: asyncio.AbstractEventLoop, work: Work) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            loop.run_until_complete(work())
            code = 0
        finally:
            os._exit(code)
    if os.waitpid(pid, 0)[1] != 0:
        raise RuntimeError("a fork failed; what it says stands above")
    return pid


if __name__ == "__main__":
    main()
