"""Reads what `-X importtime` prints."""

import re
from collections import Counter
from collections.abc import Iterable

_LINE = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)")


def fastest(runs: Iterable[str]) -> Counter[str]:
    """Microseconds that each module took by itself, in the run where it took least: the machine does other things."""
    best: Counter[str] = Counter()
    for printed in runs:
        for own, module in _LINE.findall(printed):
            best[module] = min(best.get(module, int(own)), int(own))
    return best


def by_package(modules: Counter[str]) -> Counter[str]:
    """The same for each top-level package."""
    packages: Counter[str] = Counter()
    for module, own in modules.items():
        packages[module.partition(".")[0]] += own
    return packages
