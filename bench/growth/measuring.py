"""Time and memory of one piece of work, and how they grow with its size."""

import gc
import math
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

ENOUGH_S: Final = 0.15
PLENTY_S: Final = 1.0
MOST_RUNS: Final = 50


@dataclass(frozen=True, slots=True)
class Sample:
    """What one size took: the best time of several in seconds, and bytes of memory, None where they say nothing."""

    size: int
    seconds: float
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """One thing that is done at growing sizes; `unit` says what sizes count."""

    dimension: str
    what: str
    unit: str
    samples: Sequence[Sample]

    @property
    def time_exponent(self) -> float | None:
        """How time grows; see `exponent`."""
        return exponent([(each.size, each.seconds) for each in self.samples])

    @property
    def memory_exponent(self) -> float | None:
        """How memory grows; see `exponent`."""
        return exponent([(each.size, float(each.bytes)) for each in self.samples if each.bytes])


def exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """The slope of a straight line through the last three points on logarithmic axes; None if there are too few.

    1 is in step with the size, 2 its square. What costs the same at every size hides growth at small ones, so only
    the largest count.
    """
    last = [(math.log(size), math.log(value)) for size, value in points[-3:] if value > 0]
    if len(last) < 2:
        return None
    across, up = (sum(each[place] for each in last) / len(last) for place in (0, 1))
    return sum((x - across) * (y - up) for x, y in last) / sum((x - across) ** 2 for x, _ in last)


def best_s(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """The least time of several runs, in seconds: of the processor unless another clock is given."""
    best = math.inf
    gc.collect()
    gc.freeze()  # as the gateway does with what its start left behind
    began = time.perf_counter()
    for run in range(MOST_RUNS):
        start = clock()
        work()
        best = min(best, clock() - start)
        if time.perf_counter() - began > (ENOUGH_S if run else PLENTY_S):
            break
    gc.unfreeze()
    return best


def at_start(work: Callable[[], object]) -> Callable[[], object]:
    """Work that is done when the gateway starts, without looking for garbage as there (functions/gateway/starting)."""

    def quietly() -> object:
        gc.disable()
        try:
            return work()
        finally:
            gc.enable()

    return quietly


def peak_bytes(work: Callable[[], object]) -> int:
    """The most memory that Python held for it at one moment, in bytes."""
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return max(1, peak - before)
