"""What the gateway is to reach, on one core and beside the passthrough of the same run, and whether it did."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.gateway.report import Row
from bench.gateway.targets import GATEWAY, PASSTHROUGH
from bench.gateway.workloads import BURST, WHOLE


@dataclass(frozen=True, slots=True)
class Goal:
    """One goal: what was reached, and the bound that it is to stay below, or above."""

    name: str
    reached: float
    bound: float
    unit: str
    at_most: bool

    @property
    def is_met(self) -> bool:
        """Whether it was reached."""
        return self.reached <= self.bound if self.at_most else self.reached >= self.bound

    def cells(self) -> tuple[str, str, str, str]:
        """The goal as text."""
        bound = f"{'at most' if self.at_most else 'at least'} {self.bound:g}{self.unit}"
        return self.name, bound, f"{self.reached:.2f}{self.unit}", "met" if self.is_met else "not met"


def goals(rows: Sequence[Row]) -> list[Goal]:
    """All goals."""
    found: Mapping[tuple[str, str], Row] = {(row.workload, row.target): row for row in rows}
    ours, theirs = found[WHOLE.name, GATEWAY], found[WHOLE.name, PASSTHROUGH]
    stream, their_stream = found[BURST.name, GATEWAY], found[BURST.name, PASSTHROUGH]
    p50, _, p99 = ours.added_ms
    first_token = stream.first_token_ms or (0.0, 0.0, 0.0)
    chunks = (stream.chunks_per_second or 0.0) / (their_stream.chunks_per_second or 1.0)
    of_theirs = " of the passthrough's"
    return [
        Goal("CPU of a 1 KB request", ours.cpu_us / theirs.cpu_us, 0.6, of_theirs, at_most=True),
        Goal("added by a 1 KB request, p50", p50, 0.8, " ms", at_most=True),
        Goal("added by a 1 KB request, p99", p99, 2.5, " ms", at_most=True),
        *(
            Goal(f"requests/s at {count}", ours.per_second[count] / theirs.per_second[count], 2.5, of_theirs, False)
            for count in (8, 32)
        ),
        Goal("chunks/s at 8", chunks, 1.0, of_theirs, at_most=False),
        Goal("added to the first token, p50", first_token[0], 1.5, " ms", at_most=True),
    ]
