"""What it costs to run: `python -m bench.cost` writes the tables of docs/performance.md; `--measure` measures anew.

The table follows from prices.toml and figures.toml alone: the same files give the same bytes.
"""

import sys
import tomllib
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from bench.cost.arithmetic import (
    Container,
    Figures,
    Load,
    OnLambda,
    break_even,
    container_day,
    in_container,
    most_per_day,
    on_lambda,
)
from bench.page import page_with

FOLDER: Final = Path(__file__).parent
PRICES: Final = FOLDER / "prices.toml"
FIGURES: Final = FOLDER / "figures.toml"
PAGE: Final = Path(__file__).parents[2] / "docs" / "performance.md"
MAKER: Final = "bench.cost"

LOADS: Final = (Load("short: 1 s, whole", 1.0, 0), Load("long: 30 s, 1,500 chunks", 30.0, 1_500))
MEMORIES: Final = (512, 1_024, 1_769)
CONTAINERS: Final = (Container(0.25, 0.5), Container(0.5, 1.0), Container(1.0, 2.0))
COMPARED_MB: Final = 1_024
MILLION: Final = 1_000_000


def block() -> str:
    """Both tables and their sources, in Markdown."""
    entries: dict[str, dict[str, Any]] = tomllib.loads(PRICES.read_text("utf-8"))
    prices = {name: entry["price"] for name, entry in entries.items()}
    figures = Figures(**tomllib.loads(FIGURES.read_text("utf-8")))
    lines = [
        f"Measured of one request: {figures.request_cpu_s * 1e3:.2f} ms of a processor, "
        f"{figures.chunk_cpu_s * 1e6:.0f} µs for each chunk, {figures.write_units:.0f} write units in DynamoDB, "
        f"{figures.log_bytes:,.0f} bytes of logs; {figures.resident_mb:.0f} MB resident, "
        f"{figures.stream_mb * 1e3:.0f} KB more for each stream under way.",
        "",
        "Dollars for a million requests on Lambda:",
        "",
        "| requests | memory | compute | invocations | API Gateway | DynamoDB | logs | together |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for load in LOADS:
        for memory in MEMORIES:
            cost = on_lambda(load, figures, memory, prices)
            lines.append(f"| {load.name} | {memory:,} MB | {_parts(cost)} | **{cost.total * MILLION:,.2f}** |")
    lines += [
        "",
        f"One container on Fargate with a balancer in front, always on, beside Lambda with {COMPARED_MB:,} MB:",
        "",
        "| container | a day, idle | requests | a million more | serves a day, at most | cheaper from, a day |",
        "|---|---:|---|---:|---:|---:|",
    ]
    for size in CONTAINERS:
        for load in LOADS:
            even, most = break_even(load, figures, COMPARED_MB, size, prices), most_per_day(load, figures, size)
            shown = [
                f"{size.vcpu:g} vCPU, {size.gb:g} GB",
                f"${container_day(size, prices):.2f}",
                load.name,
                f"${in_container(load, figures, prices) * MILLION:,.2f}",
                f"{most:,.0f}",
                f"**{even:,.0f}**" if even <= most else f"never: {even:,.0f} are more than it serves",
            ]
            lines.append(f"| {' | '.join(shown)} |")
    lines += ["", "Prices, as of and as read:", ""]
    lines += [f"- `{name}`: ${e['price']:.10g}; {e['source']} ({e['of']}; {e['read']})" for name, e in entries.items()]
    return "\n".join(lines)


def _parts(cost: OnLambda) -> str:
    return " | ".join(f"{part * MILLION:,.2f}" for part in asdict(cost).values())


def page() -> str:
    """The page as it should be."""
    return page_with(MAKER, block(), PAGE.read_text("utf-8"))


def main(arguments: list[str]) -> int:
    if "--measure" in arguments:
        from bench.cost.measure import measured

        head = "# Measured by `python -m bench.cost --measure`; what they are stands in arithmetic.py.\n"
        lines = [f"{name} = {value:.6g}\n" for name, value in asdict(measured()).items()]
        FIGURES.write_text(head + "".join(lines), "utf-8")
    made = page()
    PAGE.write_text(made, "utf-8")
    print(block())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
