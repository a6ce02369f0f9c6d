"""How time and memory grow with everything that can grow: `python -m bench.growth [--quick]`.

Prints a table; a whole run writes it and its picture into docs/performance.md and docs/growth.svg, a quick one leaves
them alone. The exit code is 1 when something grows faster than in step with its size.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from bench.growth import requests, stores
from bench.growth.measuring import Series
from bench.growth.picture import picture
from bench.growth.stores import Run
from bench.page import page_with

DOCS: Final = Path(__file__).parents[2] / "docs"
PAGE: Final = DOCS / "performance.md"
PICTURE: Final = DOCS / "growth.svg"
MAKER: Final = "bench.growth"

LINEAR: Final = 1.2
"""What still counts as in step: what outgrows the processor's caches costs more for each byte."""

WORTH_MS: Final = 1.0
"""What takes less at its largest is not judged: the machine's own unrest is larger than that."""


def measured(run: Run, *, quick: bool) -> Iterator[Series]:
    """All series, one dimension after the other."""

    def some(sizes: tuple[int, ...]) -> tuple[int, ...]:
        return sizes[:-1] if quick else sizes

    yield from requests.catalogs(some((60, 200, 600, 2_000, 10_000)))
    yield from requests.prompts(some((1_000, 10_000, 100_000, 1_000_000, 5_000_000)), run)
    yield from requests.conversations(some((1, 10, 50, 150, 500)), run)
    yield from requests.streams(some((10, 100, 1_000, 10_000, 100_000)), run)
    yield from requests.parallel(some((1, 8, 32, 128, 512)), run)
    yield from stores.sqlite(some((10, 1_000, 30_000, 1_000_000)), run)
    yield from stores.dynamodb(some((10, 100, 1_000, 3_000)), run)


def superlinear(series: Sequence[Series]) -> list[str]:
    """What grows faster than in step with its size, and how fast."""
    found = []
    for each in series:
        last = each.samples[-1]
        if last.seconds * 1e3 >= WORTH_MS and (each.time_exponent or 0) > LINEAR:
            found.append(f"{each.dimension}, {each.what}: time by the power of {each.time_exponent:.2f}")
        if (each.memory_exponent or 0) > LINEAR:
            found.append(f"{each.dimension}, {each.what}: memory by the power of {each.memory_exponent:.2f}")
    return found


def table(series: Sequence[Series]) -> str:
    """The table in Markdown."""
    lines = [
        "| what grows | what is done | from, to | time at the largest | exponent | memory | exponent |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for each in series:
        first, last = each.samples[0], each.samples[-1]
        shown = [
            each.dimension,
            each.what,
            f"{first.size:,} to {last.size:,} {each.unit}",
            f"{last.seconds * 1e3:,.2f} ms" if last.seconds else "",
            _power(each.time_exponent) if last.seconds else "",
            f"{last.bytes / 1e6:,.2f} MB" if last.bytes else "",
            _power(each.memory_exponent) if last.bytes else "",
        ]
        lines.append(f"| {' | '.join(shown)} |")
    return "\n".join(lines)


def _power(exponent: float | None) -> str:
    return "" if exponent is None else f"{max(0.0, round(exponent, 2)):.2f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="without the largest size of each, and writing nothing")
    given = parser.parse_args()
    began = time.perf_counter()
    series: list[Series] = []
    with asyncio.Runner() as runner:
        for each in measured(runner.run, quick=given.quick):
            series.append(each)
            print(_line(each), flush=True)
    print(f"{time.perf_counter() - began:.0f} s")
    if not given.quick:
        block = f"{table(series)}\n\n![How time and memory grow]({PICTURE.name})"
        PAGE.write_text(page_with(MAKER, block, PAGE.read_text("utf-8")), "utf-8")
        PICTURE.write_text(picture(series), "utf-8")
    too_fast = superlinear(series)
    print("\n".join(too_fast) or "nothing grows faster than in step with its size")
    return 1 if too_fast else 0


def _line(series: Series) -> str:
    last = series.samples[-1]
    memory = "" if last.bytes is None else f"{last.bytes / 1e6:10.2f} MB ^ {_power(series.memory_exponent)}"
    taken = f"{last.seconds * 1e3:10.2f} ms ^ {_power(series.time_exponent)}"
    return f"{series.dimension:<20}{series.what:<32}{last.size:>10,} {taken}{memory}"


if __name__ == "__main__":
    sys.exit(main())
