"""Counts the instructions of a request and of a chunk, and how they grow, by running the driver under Cachegrind.

Instructions, not seconds: they come out the same on a busy machine and on a quiet one, to a few in a million. They
depend on the interpreter's version and on how it was compiled, so the figures that are kept are those of one `build`.
"""

import os
import platform
import re
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Final

import orjson

from bench.instructions.cases import FEW, GROWTH, IDLE, MANY, REQUESTS

FIGURES: Final = Path(__file__).with_name("figures.toml")
TOLERANCE: Final = 0.10
_ROOT: Final = Path(__file__).parents[2]
_SUMMARY: Final = re.compile(r"^summary: (\d+)$", re.MULTILINE)
_LONGEST_S: Final = 600


@dataclass(frozen=True, slots=True)
class Counts:
    """Instructions of each case, without what the process did before."""

    cases: Mapping[str, int]

    def paths(self) -> dict[str, int]:
        """What one request and one chunk cost, by the name of the path."""
        found = {name: count // REQUESTS for name, count in self.cases.items() if name.startswith("request")}
        for name in (name.removesuffix(f" {FEW}") for name in self.cases if name.endswith(f" {FEW}")):
            more = self.cases[f"{name} {MANY}"] - self.cases[f"{name} {FEW}"]
            found[f"chunk, {name}"] = more // (MANY - FEW)
        return found

    def growth(self) -> dict[str, float]:
        """How much dearer the next step gets with each step in size: at 1.0 it is linear, at 4.0 quadratic."""
        found: dict[str, float] = {}
        for name, sizes in GROWTH.items():
            small, middle, large = (self.cases[f"{name} {size}"] for size in sizes)
            steps = (sizes[2] - sizes[1]) / (sizes[1] - sizes[0])
            found[name] = (large - middle) / (middle - small) / steps
        return found


def build() -> str:
    """What counts depend on: the interpreter's version, the architecture and the compilation."""
    optimised = "optimised" if "--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or "") else "plain"
    version = ".".join(platform.python_version_tuple()[:2])
    return f"Python {version}, {platform.machine()}, {platform.python_compiler()}, {optimised}"


def kept() -> Mapping[str, int] | None:
    """The figures for this build, by the name of the path; None where there are none."""
    found: dict[str, dict[str, int]] = tomllib.loads(FIGURES.read_text("utf-8"))
    return found.get(build())


def differences(before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, float]:
    """How much dearer (or cheaper, below zero) each path became; a path that is new or gone is infinitely dearer."""
    names = before.keys() | now.keys()
    return {
        name: now[name] / before[name] - 1 if name in before and name in now else float("inf") for name in sorted(names)
    }


def is_countable() -> bool:
    """Whether the tool is there."""
    return which("valgrind") is not None


def count() -> Counts:
    """Run the driver under Cachegrind.

    Raises:
        RuntimeError: It failed, with what it said.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "-q", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={folder}/%p"]
        ran = subprocess.run(
            [*command, sys.executable, "-m", "bench.instructions.driver", f"{folder}/pids"],
            cwd=_ROOT,
            # The order of sets follows the hashes of strings; everything else that may differ is left out.
            env={"PATH": os.environ["PATH"], "PYTHONHASHSEED": "0", "PYTHONPATH": str(_ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
            timeout=_LONGEST_S,
        )
        if ran.returncode != 0:
            raise RuntimeError(ran.stderr.decode("utf-8", "replace")[-2_000:])
        pids = orjson.loads((Path(folder) / "pids").read_bytes())
        totals = {name: _total(Path(folder) / str(pid)) for name, pid in pids.items()}
    return Counts({name: total - totals[IDLE] for name, total in totals.items() if name != IDLE})


def _total(path: Path) -> int:
    found = _SUMMARY.search(path.read_text("utf-8", "replace"))
    if found is None:
        raise ValueError(f"{path.name} has no sum")
    return int(found[1])
