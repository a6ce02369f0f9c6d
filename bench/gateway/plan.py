"""What is measured of which target, and for how long: bounded in count and in time, whole or quick."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from bench.gateway.measure import Load, Target, paired, under_load
from bench.gateway.targets import AUTO, DIRECT, DYNAMODB, DYNAMODB_LIMITED, GATEWAY, LAMBDA, LIMITED, PASSTHROUGH, RELAY
from bench.gateway.wire import Timing
from bench.gateway.workloads import BURST, LARGE, PACED, TOOLS, WHOLE, Workload

EVERY: Final = (DIRECT, RELAY, PASSTHROUGH, GATEWAY, AUTO, LIMITED, DYNAMODB, DYNAMODB_LIMITED, LAMBDA)
FEW: Final = (DIRECT, RELAY, PASSTHROUGH, GATEWAY, LAMBDA)


@dataclass(frozen=True, slots=True)
class Part:
    """One workload's part of a run.

    `pairs` is how often each target answers beside a direct call, `loads` under how many connections it is put, each
    for `seconds` in each of `rounds`.
    """

    workload: Workload
    names: Sequence[str]
    pairs: int
    loads: Sequence[int]
    seconds: float
    rounds: int


WHOLE_RUN: Final = (
    Part(WHOLE, EVERY, 600, (1, 8, 32), 0.8, 4),
    Part(BURST, EVERY, 300, (1, 8), 0.8, 4),
    Part(PACED, FEW, 8, (16,), 1.0, 1),
    Part(TOOLS, FEW, 200, (1,), 0.6, 2),
    Part(LARGE, FEW, 60, (1,), 0.6, 2),
)
QUICK_RUN: Final = (
    Part(WHOLE, EVERY, 60, (1, 8, 32), 0.2, 1),
    Part(BURST, EVERY, 30, (1, 8), 0.2, 1),
    Part(PACED, FEW, 1, (16,), 0.2, 1),
    Part(TOOLS, FEW, 20, (1,), 0.2, 1),
    Part(LARGE, FEW, 10, (1,), 0.2, 1),
)


@dataclass(slots=True)
class Found:
    """What was measured of one target with one workload: timings in pairs with `direct`, and loads by connections."""

    workload: Workload
    name: str
    timings: Sequence[Timing]
    direct: Sequence[Timing]
    loads: dict[int, list[Load]] = field(default_factory=dict)
    resident_mb: float = 0.0


def steps(parts: Sequence[Part], targets: Sequence[Target]) -> int:
    """How many steps a run has."""
    return sum(part.pairs + part.rounds * len(_loads(part, targets)) for part in parts)


async def run(part: Part, targets: Sequence[Target], draw: random.Random, advance: Callable[[], None]) -> list[Found]:
    """Measure one part."""
    wanted = [target for target in targets if target.name in part.names]
    timings = await paired(wanted, part.workload, part.pairs, draw, advance)
    found = {name: Found(part.workload, name, each, timings[DIRECT]) for name, each in timings.items()}
    loads = _loads(part, targets)
    for _ in range(part.rounds):
        draw.shuffle(loads)
        for target, connections in loads:
            load = await under_load(target, part.workload, connections, part.seconds)
            found[target.name].loads.setdefault(connections, []).append(load)
            advance()
    for target in wanted:
        found[target.name].resident_mb = target.server.resident_mb()
    return [*found.values()]


def _loads(part: Part, targets: Sequence[Target]) -> list[tuple[Target, int]]:
    """The loads of a part; where a target takes no more, one connection stands for many."""
    wanted = [target for target in targets if target.name in part.names]
    return [
        (target, connections)
        for target in wanted
        for connections in sorted({min(asked, target.most_connections) for asked in part.loads})
    ]
