"""Reads the labelled prompts; each file is one source, written with one kind of person in mind."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent / "labelled"
GRADES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class Prompt:
    source: str
    task: str
    language: str
    complexity: float
    text: str


def read_prompts(part: str) -> list[Prompt]:
    """The prompts of `train` or `held_out`, in the order of files and lines."""
    return [prompt for path in sorted((FOLDER / part).glob("*.txt")) for prompt in _read(path)]


def _read(path: Path) -> Iterator[Prompt]:
    task = language = ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("= "):
            task, language = line[2:].split()
        else:
            grade, text = line.split(" ", 1)
            yield Prompt(path.stem, task, language, GRADES[int(grade)], _unescaped(text))


def _unescaped(text: str) -> str:
    return "\\".join(part.replace("\\n", "\n").replace("\\t", "\t") for part in text.split("\\\\"))
