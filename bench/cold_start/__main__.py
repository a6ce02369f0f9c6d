"""Builds the package for this machine and measures its start, beside bare Python and FastAPI alone."""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench.cold_start.answering import first_answers
from bench.cold_start.imports import by_package, fastest
from bench.cold_start.package import package_for
from infra.scripts.build import find_compiler
from tests.support.ministack import REGION, running_ministack

CHILD = Path(__file__).with_name("child.py")
DYNAMODB = {
    "HEADRACE_STORE": "dynamodb",
    "HEADRACE_CONFIG_TABLE": "config",
    "HEADRACE_LEDGER_TABLE": "ledger",
    "AWS_DEFAULT_REGION": "eu-central-1",
}
TOP = 15


def run(interpreter: Path, package: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the package on its path and nothing else of this machine."""
    # The last as `bootstrap` sets it.
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(package),
        **DYNAMODB,
        "PYDANTIC_DISABLE_PLUGINS": "__all__",
    }
    command = [str(interpreter), "-S", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)


def measured(interpreter: Path, package: Path, what: str, runs: int) -> dict[str, float]:
    """The medians of what the child tells."""
    told: list[dict[str, Any]] = [json.loads(run(interpreter, package, str(CHILD), what).stdout) for _ in range(runs)]
    return {name: median(each[name] for each in told) for name in told[0]}


def bare(interpreter: Path, package: Path, runs: int) -> float:
    """Milliseconds from the start of Python to its end, with nothing to do."""
    return median(timed(lambda: run(interpreter, package, "-c", "pass")) for _ in range(runs))


def timed(work: Callable[[], object]) -> float:
    """Milliseconds that something takes."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def stores(folder: Path) -> Iterator[dict[str, str]]:
    """The settings of each store, which is there until the next is asked for."""
    yield {"HEADRACE_STORE": "sqlite", "HEADRACE_SQLITE_PATH": str(folder / "headrace.db")}
    with running_ministack(folder) as ministack:
        config, ledger = ministack.tables(ministack.client())
        tables = {"HEADRACE_CONFIG_TABLE": config, "HEADRACE_LEDGER_TABLE": ledger}
        aws = {
            "AWS_ENDPOINT_URL_DYNAMODB": ministack.endpoint,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
        }
        os.environ.update(aws)  # this process makes the key
        yield {"HEADRACE_STORE": "dynamodb", **tables, **aws}


def show(interpreter: Path, package: Path, folder: Path, runs: int) -> None:
    """Measure and print."""
    version = run(interpreter, package, "-V").stdout.strip()
    print(f"{version}, median of {runs} runs, package with bytecode, this machine's own processor\n")
    print(f"python, nothing else: {bare(interpreter, package, runs):.0f} ms from start to end")
    print(f"{'import':<22} {'ms':>6} {'CPU ms':>7} {'modules':>8} {'MB':>5}")
    for name, what in (("fastapi alone", "fastapi"), ("handler, prepared", "handler")):
        told = measured(interpreter, package, what, runs)
        print(f"{name:<22} {told['ms']:6.0f} {told['cpu_ms']:7.0f} {told['modules']:8.0f} {told['mb']:5.0f}")
    print("\nfrom the start of the process to its first answer, on the emulator")
    for store in stores(folder):
        health, chat = asyncio.run(first_answers(package, interpreter, folder, store, runs))
        for name, answers in (("/healthz", health), ("chat completion", chat)):
            ms, cpu_ms = median(each.ms for each in answers), median(each.cpu_ms for each in answers)
            print(f"{name:<22} {ms:6.0f} {cpu_ms:7.0f}  {store['HEADRACE_STORE']}")
    print()
    modules = fastest(run(interpreter, package, "-X", "importtime", str(CHILD), "handler").stderr for _ in range(runs))
    print(
        f"of {sum(modules.values()) / 1000:.0f} ms in {len(modules)} imports (-X importtime, the fastest of the runs):"
    )
    packages = by_package(modules).most_common(TOP)
    for (module, own), (package_name, whole) in zip(modules.most_common(TOP), packages, strict=True):
        print(f"{own / 1000:6.1f} {module:<40} {whole / 1000:6.1f} {package_name}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.cold_start", description=__doc__)
    parser.add_argument("--runs", type=int, default=9, help="how often each is measured")
    parser.add_argument("--python", type=Path, help="the interpreter; Lambda's version where there is one, else this")
    given = parser.parse_args(arguments)
    interpreter = given.python or find_compiler() or Path(sys.base_prefix, "bin/python3")
    with tempfile.TemporaryDirectory() as folder:
        package = package_for(interpreter, Path(folder))
        show(interpreter, package, Path(folder), given.runs)


if __name__ == "__main__":
    main()
