"""How long facts and classifier take, and what they hold in memory; each time is the best of many runs."""

import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial

from core.catalog.loader import load_catalog
from core.chat import ChatRequest, Message, Role
from core.providers.refusals import refusal_traits
from core.routing.classify import classify
from core.routing.facts import facts_of
from core.routing.indexing import build_index
from core.routing.weights import SHIPPED, Weights, read_weights

SENTENCE = "The pilot ran from February to April in two warehouses, and picking errors fell by half. "
CHINESE = "公司决定从下季度开始缩减差旅预算三成、优先使用视频会议。"
SIZES = (
    ("1 KB", "Summarise this in five lines. " + SENTENCE * 11),
    ("1 MB", "Summarise this in five lines. " + SENTENCE * 11_500),
    ("1 MB Chinese", "请用五句话总结下面的内容。" + CHINESE * 12_500),
)


def best_ms(work: Callable[[], object], runs: int = 200) -> float:
    times: list[float] = []
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        times.append((time.perf_counter() - begin) * 1000)
    return min(times)


def request(text: str) -> ChatRequest:
    return ChatRequest(model="auto", messages=(Message(Role.USER, text, {}),), written={})


def held_mb(make: Callable[[], object]) -> float:
    """What Python allocated for something."""
    tracemalloc.start()
    kept = make()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return size / 1_000_000


def catalog() -> object:
    """The catalog that ships with every model made, and its layout for choosing."""
    found = load_catalog()
    return found, list(found.models), build_index(found, refusal_traits)


def report(weights: Weights) -> Iterator[str]:
    """The figures as lines."""
    load = best_ms(lambda: read_weights(SHIPPED.read_bytes()), 20)
    size = SHIPPED.stat().st_size / 1_000_000
    held = held_mb(lambda: read_weights(SHIPPED.read_bytes()))
    yield f"Speed: weights of {size:.2f} MB load in {load:.1f} ms"
    yield f"  in memory: weights {held:.1f} MB and catalog {held_mb(catalog):.1f} MB (goal 15 together)"
    for name, text in SIZES:
        asked = request(text)
        facts = facts_of(asked)
        reading = best_ms(partial(facts_of, asked))
        classifying = best_ms(partial(classify, facts, weights))
        yield f"  {name} prompt: facts {reading:.2f} ms + classifier {classifying:.2f} ms (goal 5 for 1 MB)"
