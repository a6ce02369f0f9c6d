"""How far estimated token counts are from real ones, of the prompts by source, language and task.

The real counts are data: `token_counts.tsv` was made with three current vocabularies, which are not needed here.
"""

import csv
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.routing.prompts import read_prompts
from core.tokens import estimated_text_tokens, most_text_tokens

COUNTS: Final = Path(__file__).with_name("token_counts.tsv")
LEAST: Final = 40
"""Texts of fewer tokens are not counted: there an error of two tokens is a large share, and costs nothing."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A text's language, what we estimate and at most expect, and what each vocabulary makes of it."""

    language: str
    estimated: int
    most: int
    real: tuple[int, ...]

    @property
    def error(self) -> float:
        """The distance to the mean of the real counts, as a share of it."""
        mean = sum(self.real) / len(self.real)
        return abs(self.estimated - mean) / mean


def groups() -> dict[tuple[str, str, str], str]:
    """The prompts of one source, language and task as one text."""
    texts: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for prompt in [*read_prompts("train"), *read_prompts("held_out")]:
        texts[prompt.source, prompt.language, prompt.task].append(prompt.text)
    return {key: "\n".join(held) for key, held in texts.items()}


def counted() -> list[Counted]:
    """The texts that are as they were when they were counted, from `LEAST` tokens on."""
    found: list[Counted] = []
    texts = groups()
    with COUNTS.open(encoding="utf-8", newline="") as file:
        for source, language, task, digest, *real in csv.reader(file, delimiter="\t"):
            text = texts.get((source, language, task), "")
            counts = tuple(map(int, real))
            if zlib.crc32(text.encode()) == int(digest) and sum(counts) >= LEAST * len(counts):
                found.append(Counted(language, estimated_text_tokens(text), most_text_tokens(text), counts))
    return found


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def report() -> Iterator[str]:
    """The figures as lines."""
    found = counted()
    errors = [each.error for each in found]
    yield (
        f"Tokens: {len(found)} texts of {LEAST} tokens and more: error {quantile(errors, 0.5):.3f} at the median,"
        f" {quantile(errors, 0.9):.3f} at the 90th percentile (goal .15)"
    )
    by_language: dict[str, list[float]] = defaultdict(list)
    for each in found:
        by_language[each.language].append(each.error)
    yield "  90th percentile by language: " + ", ".join(
        f"{language} {quantile(held, 0.9):.2f} of {len(held)}" for language, held in sorted(by_language.items())
    )
