"""How requests grow: with their prompt, their conversation, their stream, the catalog, and those beside them."""

import asyncio
import tracemalloc
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import Any, TypeAlias

import httpx

from bench.growth.measuring import Sample, Series, at_start, best_s, peak_bytes
from bench.in_process import InProcess, request_body
from bench.prompts import TOOLS, conversation, text
from bench.routing_plan import made_catalog, readings, wanted
from bench.streams import STREAMS
from core.catalog.compiled import compile_catalog
from core.catalog.loader import load_catalog
from core.catalog.model import Target
from core.providers.base import Prepared
from core.providers.refusals import refusal_traits
from core.providers.registry import provider
from core.routing.auto import plan_auto
from core.routing.classify import classify
from core.routing.conversations import this_turn
from core.routing.facts import facts_of
from core.routing.indexing import build_index
from core.routing.weights import shipped_weights
from core.surfaces.models import model_list
from core.surfaces.openai_chat import parse_chat
from core.surfaces.surface import PLAIN

Steps: TypeAlias = dict[str, Callable[[], object]]
Run: TypeAlias = Callable[[Coroutine[Any, Any, Any]], Any]
"""Runs a coroutine to its end, always on the same loop."""


def grown(dimension: str, unit: str, sizes: Sequence[int], steps: Callable[[int], Steps]) -> list[Series]:
    """Every step at every size."""
    found: dict[str, list[Sample]] = {}
    for size in sizes:
        for what, work in steps(size).items():
            found.setdefault(what, []).append(Sample(size, best_s(work), peak_bytes(work)))
    return [Series(dimension, what, unit, samples) for what, samples in found.items()]


def catalogs(sizes: Sequence[int]) -> list[Series]:
    """The catalog: compiled files as they ship, and what is made of them."""

    def steps(models: int) -> Steps:
        catalog = made_catalog(models, 1)
        compiled = [("made.jsonl", compile_catalog(catalog.vendors.values(), catalog.models, {}).decode())]
        index = build_index(catalog, refusal_traits)
        asked = [wanted(reading) for reading in readings(8)]
        return {
            "load": at_start(lambda: list(load_catalog(compiled).models)),
            "lay out for choosing": at_start(lambda: build_index(catalog, refusal_traits)),
            "choose a model, 8 times": lambda: [plan_auto(index, one) for one in asked],
            "answer GET /models": lambda: model_list(catalog.models),
        }

    return grown("catalog", "models", sizes, steps)


def prompts(sizes: Sequence[int], run: Run) -> list[Series]:
    """The prompt, in one message."""
    return grown("prompt", "bytes", sizes, lambda size: _request_steps(request_body(text(size), model="auto"), run))


def conversations(sizes: Sequence[int], run: Run) -> list[Series]:
    """The conversation, every second turn of it with a tool."""

    def steps(turns: int) -> Steps:
        body = request_body(messages=conversation(turns), tools=TOOLS, model="auto")
        request = parse_chat(body, PLAIN).request
        return {**_request_steps(body, run), "tell conversations apart": lambda: this_turn("org", request.messages)}

    return grown("conversation", "turns", sizes, steps)


def _request_steps(body: bytes, run: Run) -> Steps:
    gateway = InProcess()
    gateway.upstream.answers_whole()
    request = parse_chat(body, PLAIN).request
    run(gateway.gateway.connect())
    facts, weights = facts_of(request), shipped_weights()
    catalog = gateway.gateway.service.parts.catalog
    steps: Steps = {
        "parse": lambda: parse_chat(body, PLAIN),
        "facts, tokens": lambda: facts_of(request),
        "classify": lambda: classify(facts, weights),
    }
    for name in STREAMS:
        model = catalog.find(f"bench/{name}")
        assert model is not None
        (target,) = catalog.targets(model)
        steps[f"encode for {name}"] = _encoding(request, target)
    steps["whole request"] = lambda: run(gateway.post(body))
    return steps


def _encoding(request: Any, target: Target) -> Callable[[], object]:
    codec = provider(target.vendor.format)
    return lambda: codec.encode(request, target, Prepared())


def streams(sizes: Sequence[int], run: Run) -> list[Series]:
    """The stream, in every format; the bytes of the upstream are there before."""

    def steps(chunks: int) -> Steps:
        made: Steps = {}
        for name in STREAMS:
            gateway = InProcess()
            gateway.upstream.streams(name, chunks)
            body = request_body(model=f"bench/{name}", stream=True)
            made[f"stream from {name}"] = _posting(run, gateway, body)
        return made

    return grown("stream", "chunks", sizes, steps)


def _posting(run: Run, gateway: InProcess, body: bytes) -> Callable[[], object]:
    return lambda: run(gateway.post(body))


class _Halting(httpx.AsyncByteStream):
    """Half of a stream, and the other half once all are that far."""

    def __init__(self, pieces: Sequence[bytes], hall: "_Hall") -> None:
        self._pieces = pieces
        self._hall = hall

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for place, piece in enumerate(self._pieces):
            if place == len(self._pieces) // 2:
                await self._hall.wait()
            await asyncio.sleep(0)
            yield piece


class _Hall(httpx.AsyncBaseTransport):
    """An upstream whose streams wait for each other."""

    def __init__(self, streams: int) -> None:
        self._missing = streams
        self._content_type, make = STREAMS["openai"]
        self._pieces = make(40)
        self.full, self.opened = asyncio.Event(), asyncio.Event()

    async def wait(self) -> None:
        self._missing -= 1
        if self._missing == 0:
            self.full.set()
        await self.opened.wait()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        headers = {"content-type": self._content_type}
        return httpx.Response(200, headers=headers, stream=_Halting(self._pieces, self))


def parallel(sizes: Sequence[int], run: Run) -> list[Series]:
    """Streams at the same time: the time of all, and the memory of all while each is half done."""
    samples = [Sample(count, best_s(_running(run, count)), run(_at_once(count, weighed=True))) for count in sizes]
    return [Series("parallel streams", "40 chunks each, all half done at once", "streams", samples)]


def _running(run: Run, count: int) -> Callable[[], object]:
    return lambda: run(_at_once(count))


async def _at_once(count: int, *, weighed: bool = False) -> int:
    """So many streams; the bytes that they hold when all are half done, if they are weighed, which takes time."""
    hall = _Hall(count)
    gateway = InProcess(transport=hall)
    await gateway.gateway.connect()
    body = request_body(stream=True, model="bench/openai")
    if weighed:
        tracemalloc.start()
    streams = [asyncio.ensure_future(gateway.post(body)) for _ in range(count)]
    await hall.full.wait()
    size = 0
    if weighed:
        size = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
    hall.opened.set()
    await asyncio.gather(*streams)
    return size
