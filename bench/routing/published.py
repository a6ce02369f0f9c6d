"""The published tables that routing is measured with; read from outside the project, never copied into it."""

import csv
import gzip
import os
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

VARIABLE: Final = "HEADRACE_ROUTING_DATA"
BESIDE: Final = Path(__file__).parents[3] / "shared" / "routing"
PAIRS, NINE = "routellm_evals.csv.gz", "llmrouter_dc.csv.gz"


@dataclass(frozen=True, slots=True)
class Pair:
    """One benchmark of the two-model table: prompts, and what the weak and the strong model scored on each."""

    name: str
    prompts: list[str]
    weak: Array
    strong: Array

    @property
    def gap(self) -> Array:
        result: Array = self.strong - self.weak
        return result


@dataclass(frozen=True, slots=True)
class Nine:
    """One part of the nine-model set: prompts, their tasks, and a row of scores for each."""

    models: tuple[str, ...]
    prompts: list[str]
    tasks: list[str]
    scores: Array


def folder() -> Path | None:
    """Where the tables are, or None."""
    found = Path(os.environ.get(VARIABLE) or BESIDE)
    return found if (found / PAIRS).is_file() and (found / NINE).is_file() else None


def digest(prompt: str, salt: str = "") -> int:
    """A number that splits prompts the same way on every machine."""
    return zlib.crc32(f"{salt}{prompt}".encode())


def read_pairs(place: Path) -> list[Pair]:
    """The two-model table, without the rows marked as contaminated."""
    rows = [row for row in _rows(place / PAIRS) if row["contaminated"] == "False"]
    names = dict.fromkeys(row["benchmark"] for row in rows)
    return [_pair(name, [row for row in rows if row["benchmark"] == name]) for name in names]


def _pair(name: str, rows: list[dict[str, str]]) -> Pair:
    weak, strong = (
        np.array([float(row[column]) for row in rows]) for column in ("weak_mixtral8x7b", "strong_gpt4_1106")
    )
    return Pair(name, [row["prompt"] for row in rows], weak, strong)


def read_nine(place: Path) -> tuple[Nine, Nine]:
    """The nine-model set: training, and the test prompts that do not stand in training too."""
    rows = list(_rows(place / NINE))
    train = [row for row in rows if row["split"] == "train"]
    known = {row["prompt"] for row in train}
    test = [row for row in rows if row["split"] == "test" and row["prompt"] not in known]
    return _nine(train), _nine(test)


def _nine(rows: list[dict[str, str]]) -> Nine:
    columns = [name for name in rows[0] if name.startswith("score|")]
    scores = np.array([[float(row[column] or 0) for column in columns] for row in rows])
    models = tuple(column.removeprefix("score|") for column in columns)
    return Nine(models, [row["prompt"] for row in rows], [row["task"] for row in rows], scores)


def _rows(path: Path) -> Iterator[dict[str, str]]:
    csv.field_size_limit(sys.maxsize)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)
