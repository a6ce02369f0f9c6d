"""Turns public evaluations into a quality from 0 to 1 per task; a model that was not evaluated for a task has none.

LiveBench gives the share of its tasks that a model solved. LMArena gives ratings: the quality is twice the chance that
people prefer the model's answer to that of the best-rated model, so that the best has 1. One task has one source, since
two scales cannot be compared.
"""

import csv
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

from core.catalog.model import Score

# Which LiveBench tasks stand for one of ours. Agentic coding is a tool loop on a repository; its instruction-following
# tasks are about rewriting and making up text, so that they say how well a model writes to order.
LIVEBENCH_TASKS: Final[Mapping[str, tuple[str, ...]]] = {
    "code": ("code_generation", "code_completion", "javascript", "typescript", "python"),
    "math": ("AMPS_Hard", "integrals_with_game", "math_comp", "olympiad"),
    "reasoning": ("theory_of_mind", "zebra_puzzle", "spatial", "logic_with_navigation"),
    "analysis": ("consecutive_events", "tablejoin", "tablereformat"),
    "tool_use": ("javascript", "typescript", "python"),
    "summarization": ("summarize",),
    "writing": ("paraphrase", "simplify", "story_generation"),
}
LMARENA_TASKS: Final[Mapping[str, str]] = {"chat": "full"}
_DIGITS: Final = 3


@dataclass(frozen=True, slots=True)
class LiveBench:
    """A table of per-task results, in percent."""

    rows: Mapping[str, Mapping[str, str]]
    name: str
    date: str

    @classmethod
    def read(cls, table: Path, name: str, date: str) -> "LiveBench":
        """Read the table from a CSV file with a column `model`."""
        with table.open(encoding="utf-8", newline="") as lines:
            return cls({row["model"]: row for row in csv.DictReader(lines)}, name, date)

    def scores(self, model: str) -> Mapping[str, Score]:
        """The qualities of a model, by the table's name for it.

        Raises:
            KeyError: The table does not have it.
        """
        row = self.rows[model]
        return {
            task: Score(
                round(fmean(float(row[column]) for column in columns) / 100, _DIGITS),
                f"{self.name}, as {model}",
                self.date,
            )
            for task, columns in LIVEBENCH_TASKS.items()
            if all(row[column] for column in columns)
        }


@dataclass(frozen=True, slots=True)
class LmArena:
    """Ratings per category."""

    categories: Mapping[str, Mapping[str, Mapping[str, float]]]
    name: str
    date: str

    @classmethod
    def read(cls, ratings: Path, name: str, date: str) -> "LmArena":
        """Read the ratings from a JSON file, compressed with gzip."""
        return cls(json.loads(gzip.decompress(ratings.read_bytes())), name, date)

    def scores(self, model: str) -> Mapping[str, Score]:
        """The qualities of a model, by the ratings' name for it.

        Raises:
            KeyError: No category has it.
        """
        rated = {task: category for task, category in LMARENA_TASKS.items() if model in self.categories[category]}
        if not rated:
            raise KeyError(model)
        return {
            task: Score(
                round(_against_the_best(self.categories[category], model), _DIGITS),
                f"{self.name}, as {model}",
                self.date,
            )
            for task, category in rated.items()
        }


def _against_the_best(category: Mapping[str, Mapping[str, float]], model: str) -> float:
    best = max(entry["rating"] for entry in category.values())
    preferred = 1 / (1 + 10 ** ((best - category[model]["rating"]) / 400))
    return float(2 * preferred)
