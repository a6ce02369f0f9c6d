"""How long it takes to choose a model for `auto`: catalogs of several sizes, objectives, and what may slow it down.

Run `python -m bench.routing_plan`. Each figure is the best and the median of many runs, in milliseconds of processor
time, from facts and task probabilities that are there to the finished plan and decision. Requests differ, so that
nothing is served from a cache but what a gateway would have cached too.
"""

import gc
import random
import statistics
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import cycle
from typing import Final

from core.catalog.loader import Catalog, load_catalog
from core.catalog.model import (
    Abilities,
    Auth,
    Format,
    Host,
    Model,
    Promises,
    Score,
    StructuredOutput,
    Thinking,
    Vendor,
)
from core.chat import ChatRequest, ResponseFormat
from core.decision import BUILT_IN_POLICY, DataRules, HostRules, Objective, Preferences
from core.money import Prices, Rates, Terms, pico_per_token
from core.providers.refusals import refusal_traits
from core.routing.auto import Wanted, plan_auto
from core.routing.board import HealthView
from core.routing.health import HostHealth
from core.routing.index import Index
from core.routing.indexing import build_index
from core.routing.policy import narrow
from core.routing.reading import Reading
from core.routing.worst import worst_of

RUNS: Final = 240
NOW: Final = 1_800_000_000.0
TASKS: Final = ("chat", "code", "math", "reasoning", "analysis", "summarization", "tool_use", "writing")
VENDORS: Final = tuple(f"vendor-{number}" for number in range(12))


def made_catalog(models: int, hosts: int) -> Catalog:
    """A catalog of different models: prices, windows, abilities and scores are drawn, always the same."""
    draw = random.Random(7)
    made = [_model(draw, number, hosts) for number in range(models)]
    vendors = {name: Vendor(name, Format.OPENAI, "http://127.0.0.1:9/v1", Auth.NONE) for name in VENDORS}
    return Catalog(made, vendors, {model.id: place for place, model in enumerate(made)})


def _model(draw: random.Random, number: int, hosts: int) -> Model:
    thinking = draw.choice((Thinking.NONE, Thinking.OPTIONAL, Thinking.ALWAYS))
    return Model(
        id=f"made/m{number}",
        name=f"M {number}",
        owner="made",
        hosts=tuple(_host(draw, number, place) for place in range(hosts)),
        context_tokens=draw.choice((32_768, 131_072, 200_000, 1_000_000)),
        max_output_tokens=draw.choice((8_192, 32_768, 65_536)),
        abilities=Abilities(
            tools=draw.random() < 0.9,
            vision=draw.random() < 0.5,
            json_mode=True,
            structured_output=draw.choice(tuple(StructuredOutput)),
            thinking=thinking,
            reasoning_tokens=None if thinking is Thinking.NONE else draw.choice((128, 2_048, 6_144)),
        ),
        quality={task: Score(round(draw.random(), 3), "drawn", "2026-11-30") for task in TASKS if draw.random() < 0.8},
    )


def _host(draw: random.Random, number: int, place: int) -> Host:
    price = Decimal(draw.randrange(5, 2_000)) / 100
    rates = Rates(pico_per_token(price), pico_per_token(price * 4))
    return Host(
        vendor=VENDORS[(number + place) % len(VENDORS)],
        upstream_model=f"m{number}",
        prices=Prices(rates) if draw.random() < 0.97 else None,
        promises=Promises(draw.choice((None, "us", "eu")), no_training=draw.random() < 0.7),
    )


def readings(count: int = 64) -> list[Reading]:
    """What was read of so many different requests."""
    draw = random.Random(11)
    made: list[Reading] = []
    for _ in range(count):
        chances = {task: draw.random() ** 4 for task in TASKS}
        total = sum(chances.values())
        tasks = {task: chance / total for task, chance in chances.items()}
        task = max(tasks, key=tasks.__getitem__)
        made.append(Reading(draw.randrange(20, 20_000), tasks, task, tasks[task], draw.random()))
    return made


REQUEST: Final = ChatRequest("auto", (), {})
PLAIN: Final = Preferences()


def wanted(reading: Reading, preferences: Preferences = PLAIN, request: ChatRequest = REQUEST) -> Wanted:
    effective = narrow(BUILT_IN_POLICY, preferences)
    cap = effective.max_cost_micros
    worst = None
    if cap is not None:
        worst = worst_of(
            request,
            reading.prompt_tokens,
            cap_micros=cap,
            terms=Terms(),
            max_tokens_default=BUILT_IN_POLICY.max_tokens_default,
            reasks=False,
            at_s=NOW,
        )
    return Wanted(request, reading, effective, None, None, worst, HealthView(NOW), NOW)


def _with_health(index: Index, one: Wanted) -> Wanted:
    """A fifth of the hosts was called, ten of them are out of use."""
    known = {host: HostHealth(calls=9, ttft_ms=300.0 + place % 97) for place, host in enumerate(index.hosts[::5])}
    cooling = dict.fromkeys(index.hosts[:10], HostHealth(cooldowns=1, cooling_until=NOW + 60))
    return replace(one, view=HealthView(NOW, {**known, **cooling}, frozenset(cooling)))


def measured(index: Index, requests: Sequence[Wanted]) -> tuple[float, float]:
    """Best and median milliseconds of a plan; the best is that of the slowest kind of request."""
    times: dict[int, list[float]] = {}
    turns = cycle(enumerate(requests))
    gc.collect()
    for _ in range(RUNS):
        place, one = next(turns)
        begin = time.thread_time()
        plan_auto(index, one)
        times.setdefault(place, []).append((time.thread_time() - begin) * 1000)
    return max(map(min, times.values())), statistics.median(each for kind in times.values() for each in kind)


def cases(index: Index) -> dict[str, list[Wanted]]:
    """The requests to plan, by what they are to show."""
    read = readings(16)
    schema = replace(REQUEST, response_format=ResponseFormat("json_schema", name="x", schema={}), max_tokens=2_000)
    narrowing = Preferences(
        exclude=("made/m1", "made/m2"),
        providers=HostRules(ignore=VENDORS[:1], order=VENDORS[3:5]),
        min_quality=0.01,
        data=DataRules(no_training=True),
    )
    made = {each.value: [wanted(one, Preferences(optimize=each)) for one in read] for each in Objective}
    made["balanced, some health"] = [_with_health(index, wanted(one)) for one in read]
    made["latency, some health"] = [
        _with_health(index, wanted(one, Preferences(optimize=Objective.LATENCY))) for one in read
    ]
    made["balanced, schema, limit and narrowing"] = [wanted(one, narrowing, schema) for one in read]
    made["balanced, cost cap"] = [wanted(one, Preferences(max_cost_micros=50_000)) for one in read]
    return made


def allocated_mb(work: Callable[[], object]) -> float:
    gc.collect()
    tracemalloc.start()
    kept = work()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return size / 1_000_000


def reference_ms() -> float:
    """A loop that any machine can run, to tell how fast this one is at the moment."""
    times: list[float] = []
    for _ in range(50):
        begin = time.thread_time()
        for number in range(20_000):
            _ = number * 3 // 2
        times.append((time.thread_time() - begin) * 1000)
    return min(times)


def main() -> None:
    print(f"20,000 turns of an integer loop take {reference_ms():.2f} ms here and now")
    shipped = load_catalog()
    catalogs = {
        "what ships": shipped,
        "60 models, 1 host each": made_catalog(60, 1),
        "60 models, 3 hosts each": made_catalog(60, 3),
        "1,000 models, 2 hosts each": made_catalog(1_000, 2),
        "10,000 models, 1 host each": made_catalog(10_000, 1),
    }
    for name, catalog in catalogs.items():
        begin = time.perf_counter()
        index = build_index(catalog, refusal_traits)
        built = (time.perf_counter() - begin) * 1000
        size = allocated_mb(lambda catalog=catalog: build_index(catalog, refusal_traits))  # type: ignore[misc]  # a default binds
        print(f"{name}: {index.size:,} hosts, index built in {built:.1f} ms, {size:.2f} MB")
        for case, requests in cases(index).items():
            best, median = measured(index, requests)
            print(f"  {case:40} {best:8.3f} ms the slowest request at its best {median:8.3f} ms median")


if __name__ == "__main__":
    main()
