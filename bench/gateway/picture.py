"""Draws what stands beside what: a panel for each figure, a bar for each target."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from bench.drawing import GREY, RUST, document, words
from bench.gateway.report import Row
from bench.gateway.targets import DIRECT
from bench.gateway.workloads import BURST, WHOLE

WIDTH: Final = 900
NAMES: Final = 216
BAR, STEP, HEAD = 14, 20, 40
ROOM: Final = 70
"""Pixels for the number behind the longest bar."""

Figure = Callable[[Row], float | None]


def picture(rows: Sequence[Row]) -> str:
    """The whole document."""
    whole = [row for row in rows if row.workload == WHOLE.name and row.target != DIRECT]
    streams = [row for row in rows if row.workload == BURST.name and row.target != DIRECT]
    panels: list[tuple[str, Sequence[Row], Figure, str]] = [
        ("Added by a 1 KB request, milliseconds (p50)", whole, lambda row: row.added_ms[0], "{:.2f}"),
        ("Processor time of a 1 KB request, microseconds", whole, lambda row: row.cpu_us, "{:,.0f}"),
        ("1 KB requests a second, 8 connections, one core", whole, lambda row: row.per_second.get(8), "{:,.0f}"),
        ("Added to the first token, milliseconds (p50)", streams, _first_token, "{:.2f}"),
        ("Chunks a second, 8 connections, one core", streams, lambda row: row.chunks_per_second, "{:,.0f}"),
    ]
    bars = sum(figure(row) is not None for _, found, figure, _ in panels for row in found)
    height = HEAD * len(panels) + STEP * bars + HEAD // 2
    return document("What the gateway adds, beside others", WIDTH, height, _panels(panels))


def _first_token(row: Row) -> float | None:
    return None if row.first_token_ms is None else row.first_token_ms[0]


def _panels(panels: Sequence[tuple[str, Sequence[Row], Figure, str]]) -> Iterator[str]:
    top = 0
    for title, rows, figure, form in panels:
        values = [(row.target, value) for row in rows if (value := figure(row)) is not None]
        most = max((value for _, value in values), default=1.0)
        yield words("16", f"{top + HEAD - 14}", title, more='font-weight="600"')
        for number, (name, value) in enumerate(values):
            yield from _bar(top + HEAD + number * STEP, name, value, value / most, form)
        top += HEAD + STEP * len(values)


def _bar(y: int, name: str, value: float, share: float, form: str) -> Iterator[str]:
    length = max(1.0, share * (WIDTH - NAMES - ROOM))
    colour = RUST if name.startswith("Headrace") else GREY
    yield words(f"{NAMES - 8}", f"{y + BAR - 2}", name, "end")
    yield f'<rect x="{NAMES}" y="{y}" width="{length:.1f}" height="{BAR}" fill="{colour}"/>'
    yield words(f"{NAMES + length + 6:.1f}", f"{y + BAR - 2}", form.format(value))
