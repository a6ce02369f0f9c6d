"""What was measured, as rows: for the terminal, for the page, and as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, pairwise
from statistics import median, quantiles

from bench.gateway.plan import Found
from bench.gateway.targets import DIRECT
from bench.gateway.wire import Timing
from bench.gateway.workloads import Workload

COLUMNS = (
    "added p50",
    "p95",
    "p99 ms",
    "first token p50",
    "p95",
    "p99 ms",
    "requests/s, 1",
    "8",
    "32",
    "chunks/s, 8",
    "gap p99 ms",
    "CPU µs/request, 1",
    "8",
    "CPU µs/chunk",
    "MB",
)


@dataclass(frozen=True, slots=True)
class Row:
    """One target with one workload.

    `added_ms` is what it adds to the whole answer, `first_token_ms` to its first token, each at the 50th, 95th and
    99th percentile of the differences to the direct calls beside it; of the direct call itself they are its own times.
    `per_second` has requests a second by connections. Processor time is the target's own, with one request at a time
    where that was measured, in microseconds; `cpu_busy_us` is the same with eight at a time, `cpu_chunk_us` that of a
    whole stream, shared by its chunks.
    `gap_p99_ms` is the time between two reads of a paced stream, at the 99th percentile.
    """

    workload: str
    target: str
    added_ms: tuple[float, float, float]
    first_token_ms: tuple[float, float, float] | None
    per_second: dict[int, float]
    chunks_per_second: float | None
    cpu_us: float
    cpu_busy_us: float | None
    cpu_chunk_us: float | None
    gap_p99_ms: float | None
    resident_mb: float

    def cells(self) -> tuple[str, ...]:
        """The row as text, by the columns."""
        tokens = ("", "", "") if self.first_token_ms is None else [f"{each:.2f}" for each in self.first_token_ms]
        return (
            *(f"{each:.2f}" for each in self.added_ms),
            *tokens,
            *(_count(self.per_second.get(connections)) for connections in (1, 8, 32)),
            _count(self.chunks_per_second),
            "" if self.gap_p99_ms is None else f"{self.gap_p99_ms:.1f}",
            _count(self.cpu_us),
            _count(self.cpu_busy_us),
            "" if self.cpu_chunk_us is None else f"{self.cpu_chunk_us:.1f}",
            f"{self.resident_mb:.0f}",
        )

    def plain(self) -> dict[str, object]:
        """The row as JSON has it."""
        return asdict(self)


def row_of(found: Found) -> Row:
    """What was found as a row."""
    workload = found.workload
    pairs = [*zip(found.timings, found.direct, strict=True)]
    is_direct = found.name == DIRECT
    added = [(one.total - (0.0 if is_direct else other.total)) * 1e3 for one, other in pairs]
    first = [(one.first_token - (0.0 if is_direct else other.first_token)) * 1e3 for one, other in pairs]
    per_second = {count: median(load.per_second for load in loads) for count, loads in sorted(found.loads.items())}
    cpu_us = median(load.cpu_us for load in found.loads[min(found.loads)])
    return Row(
        workload=workload.name,
        target=found.name,
        added_ms=_percentiles(added),
        first_token_ms=_percentiles(first) if workload.chunks else None,
        per_second=per_second,
        chunks_per_second=per_second[8] * workload.chunks if workload.chunks and 8 in per_second else None,
        cpu_us=cpu_us,
        cpu_busy_us=median(load.cpu_us for load in found.loads[8]) if 8 in found.loads else None,
        cpu_chunk_us=cpu_us / workload.chunks if workload.chunks else None,
        gap_p99_ms=_gap_p99_ms(workload, found.timings),
        resident_mb=found.resident_mb,
    )


def _percentiles(values: Sequence[float]) -> tuple[float, float, float]:
    if len(values) < 2:
        return values[0], values[0], values[0]
    cuts = quantiles(values, n=100, method="inclusive")
    return cuts[49], cuts[94], cuts[98]


def _gap_p99_ms(workload: Workload, timings: Sequence[Timing]) -> float | None:
    gaps = [(later - earlier) * 1e3 for each in timings for earlier, later in pairwise(each.reads)]
    return _percentiles(gaps)[2] if workload.is_paced and len(gaps) > 1 else None


def _count(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


def markdown(rows: Sequence[Row]) -> Iterator[str]:
    """The rows as a table for each workload, of the columns that it has."""
    for workload, found in groupby(rows, key=lambda row: row.workload):
        cells = {row.target: row.cells() for row in found}
        columns = [place for place in range(len(COLUMNS)) if any(each[place] for each in cells.values())]
        yield from ("", f"**{workload}**", "")
        yield f"| | {' | '.join(COLUMNS[place] for place in columns)} |"
        yield "|---|" + "---:|" * len(columns)
        for target, each in cells.items():
            yield f"| {target} | {' | '.join(each[place] for place in columns)} |"
