"""Writes the table and the picture of docs/routing.md: `python -m bench.routing.tradeoff`; `--check` only compares.

Both follow from the catalog that ships, the weights and the held-out prompts; the same data gives the same bytes.
"""

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from bench.drawing import INK
from bench.page import page_with as page_for
from bench.routing.picture import Mark, picture
from bench.routing.traffic import PER_DAY, Outcome, by_floor, by_model, by_objective, known_tasks, traffic
from core.decision import Objective

DOCS: Final = Path(__file__).parents[2] / "docs"
PAGE, PICTURE = DOCS / "routing.md", DOCS / "routing.svg"
MAKER: Final = "bench.routing.tradeoff"

FLOORS: Final = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
WORDS: Final[Mapping[Objective, str]] = {
    Objective.COST: '`optimize: "cost"`',
    Objective.LATENCY: '`optimize: "latency"`',
    Objective.BALANCED: '`optimize: "balanced"`, the default',
    Objective.QUALITY: '`optimize: "quality"`',
}


class Made:
    """All numbers of the day."""

    def __init__(self) -> None:
        day = traffic()
        self.requests = len(day)
        self.models = by_model(day)
        self.objectives = by_objective(day)
        self.floors = [*by_floor(day, FLOORS)]
        self.best = max(self.models, key=lambda name: self.models[name].quality)
        self.cheapest = min(self.models, key=lambda name: self.models[name].dollars)

    def rows(self) -> Iterator[tuple[str, Outcome]]:
        """The table's rows, by what they cost."""
        rows = [(words, self.objectives[objective]) for objective, words in WORDS.items()]
        rows.append((f"always the cheapest, `{self.cheapest}`", self.models[self.cheapest]))
        rows.append((f"always the best, `{self.best}`", self.models[self.best]))
        yield from sorted(rows, key=lambda row: (round(row[1].dollars, 2), row[1].quality))

    def table(self) -> str:
        """The table in Markdown, with what it is of."""
        tasks = known_tasks()
        lines = [
            f"A day of {PER_DAY:,} requests like the {self.requests} held-out prompts of the evaluation whose tasks "
            f"are {', '.join(tasks[:-1])} or {tasks[-1]}:",
            "",
            "| who is asked | cost of the day | expected quality | models picked |",
            "|---|---:|---:|---:|",
        ]
        lines += [
            f"| {words} | ${each.dollars:,.2f} | {each.quality:.3f} | {each.models} |" for words, each in self.rows()
        ]
        return "\n".join(lines)

    def picture(self) -> str:
        """The picture."""
        found = self.objectives
        marks = [
            Mark("always the best", self.models[self.best], "below", INK),
            Mark("always the cheapest", self.models[self.cheapest], "right", INK),
            Mark("quality", found[Objective.QUALITY], "above"),
            Mark("balanced", found[Objective.BALANCED], "above"),
            Mark("cost", found[Objective.COST], "left"),
        ]
        return picture(self.models, self.floors, marks)


@cache
def made() -> Made:
    """The numbers, reckoned once."""
    return Made()


def page_with(table: str, page: str) -> str:
    """The page with this table where its marks are."""
    return page_for(MAKER, table, page)


def report() -> Iterator[str]:
    """The table as lines."""
    yield f"A mixed day, {PER_DAY:,} requests like {made().requests} held-out prompts (expected, not measured):"
    for words, each in made().rows():
        yield f"  {words}: ${each.dollars:,.2f}, quality {each.quality:.3f}, {each.models} models"


def main(arguments: list[str]) -> int:
    page = page_with(made().table(), PAGE.read_text("utf-8"))
    if "--check" in arguments:
        is_made = page == PAGE.read_text("utf-8") and made().picture() == PICTURE.read_text("utf-8")
        print(
            "as made" if is_made else "docs/routing.md or docs/routing.svg is not what this makes: `make routing-docs`"
        )
        return 0 if is_made else 1
    PAGE.write_text(page, "utf-8")
    PICTURE.write_text(made().picture(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
