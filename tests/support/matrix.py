"""The scenario matrix as data: which capability is shown for which format, by how many tests, and why not.

It is printed by `make matrix` from the tests that ran, and kept in docs/matrix.md for the tests that there are.
"""

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from core.catalog.model import Format

TESTS: Final = Path(__file__).parents[1]
DOCUMENT: Final = TESTS.parent / "docs" / "matrix.md"
NAMES: Final[Mapping[Format, str]] = {
    Format.OPENAI: "OpenAI",
    Format.ANTHROPIC: "Anthropic",
    Format.GEMINI: "Gemini",
    Format.BEDROCK: "Bedrock",
}

Cell: TypeAlias = tuple[str, str]
"""A format's value, and a capability."""

_HEAD: Final = """# Scenario matrix

What is shown for every wire format, by golden transcripts and by tests through the whole gateway. `make matrix` runs
them and prints how many there are for each cell; a cell is empty only where a note says why. It cuts the transcripts at
every byte, as `make soak` does; the gate does so beside every line's end, and at every tenth byte between.
"""


@dataclass(frozen=True)
class Plan:
    """What has to be shown, and the reasons for empty cells."""

    capabilities: Sequence[str]
    reasons: Mapping[Cell, str]


def read_plan(path: Path = TESTS / "matrix.toml") -> Plan:
    """The plan of the file."""
    read = tomllib.loads(path.read_text("utf-8"))
    reasons = {(wire, what): why for wire, cells in read["reasons"].items() for what, why in cells.items()}
    return Plan(tuple(read["capabilities"]), reasons)


@dataclass
class Matrix:
    """Counts of tests by cell, as they come in."""

    plan: Plan = field(default_factory=read_plan)
    passed: Counter[Cell] = field(default_factory=Counter)
    failed: Counter[Cell] = field(default_factory=Counter)

    def add(self, cells: Iterable[Cell], *, is_good: bool) -> None:
        """Take a test that shows these cells."""
        (self.passed if is_good else self.failed).update(set(cells))

    def problems(self) -> list[str]:
        """What is wrong with it: cells that failed or are empty, and reasons and names that do not belong there."""
        known = {(wire.value, what) for wire in Format for what in self.plan.capabilities}
        shown = self.passed.keys() | self.failed.keys()
        found = [f"{' '.join(cell)}: {count} tests failed" for cell, count in sorted(self.failed.items())]
        wrong = {
            "nothing shows it, and no reason is given": known - shown - self.plan.reasons.keys(),
            "is shown, and a reason why not is given": shown & self.plan.reasons.keys(),
            "is not in matrix.toml": (shown | self.plan.reasons.keys()) - known,
        }
        return found + [f"{' '.join(cell)}: {why}" for why, cells in wrong.items() for cell in sorted(cells)]

    def table(self, *, counts: bool) -> list[str]:
        """The table in Markdown, with its notes; `counts` tells whether numbers of tests stand in it."""
        notes: dict[str, int] = {}
        rows = [["", *NAMES.values()], ["---"] * (len(NAMES) + 1)]
        rows += (
            [what, *(self._text((wire.value, what), notes, counts=counts) for wire in NAMES)]
            for what in self.plan.capabilities
        )
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        padded = ((text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in rows)
        lines = [f"| {' | '.join(row)} |" for row in padded]
        return [*lines, "", *(f"{number}. {note}" for note, number in notes.items())]

    def _text(self, cell: Cell, notes: dict[str, int], *, counts: bool) -> str:
        if cell in self.failed:
            return f"FAILED {self.failed[cell]}"
        if cell in self.passed:
            return str(self.passed[cell]) if counts else "yes"
        if cell not in self.plan.reasons:
            return "EMPTY"
        return f"no ({notes.setdefault(self.plan.reasons[cell], len(notes) + 1)})"


def document(matrix: Matrix) -> str:
    """The matrix for docs/."""
    return "\n".join([_HEAD, *matrix.table(counts=False)]) + "\n"
