"""Predicts from a prompt alone how models will do on it: a ridge regression over few measures and hashed words."""

import math
import re
import zlib
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from core.routing.classify import classify
from core.routing.facts import Facts
from core.routing.features import code_signs, maths_signs
from core.routing.weights import shipped_weights
from core.routing.window import sampled

Array = npt.NDArray[Any]

WIDTH: Final = 1 << 11
MOST_WORDS: Final = 400
WORD: Final = re.compile(r"\w+")
NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
OPTION: Final = re.compile(r"^[A-J][.)]", re.MULTILINE)
TASKS: Final = ("math", "code", "reasoning", "qa", "writing", "chat", "analysis", "roleplay", "extraction")
COMPLEXITY: Final = -1 - len(TASKS)
"""Where among the measures the classifier's complexity stands."""


@cache
def measures(prompt: str) -> tuple[float, ...]:
    """About thirty numbers: sizes, shares of kinds of characters, and what the shipped classifier says."""
    words, size = prompt.split(), len(prompt) + 1
    found = classify(Facts(prompt_tokens=0, text=sampled(prompt)), shipped_weights())
    return (
        math.log(size),
        math.log(len(words) + 1),
        size / (len(words) + 1),
        sum(map(str.isdigit, prompt)) / size,
        sum(map(str.isupper, prompt)) / size,
        math.sqrt(len(NUMBER.findall(prompt))),
        math.log1p(code_signs(prompt)),
        math.log1p(maths_signs(prompt)),
        math.sqrt(prompt.count("\n")),
        math.sqrt(prompt.count(".")),
        100 * prompt.count(",") / size,
        math.sqrt(prompt.count("$")),
        *map(float, map(prompt.count, "?%")),
        float(max(map(len, words), default=0)),
        len({word.lower() for word in words}) / (len(words) + 1),
        float(len(OPTION.findall(prompt))),
        found.complexity,
        *(found.probabilities[task] for task in TASKS),
    )


def hashed(prompts: Sequence[str]) -> Array:
    """Words and pairs of words, hashed with a sign; each row has length one."""
    rows = np.zeros((len(prompts), WIDTH), dtype=np.float32)
    for row, prompt in zip(rows, prompts, strict=True):
        words = WORD.findall(prompt.lower())[:MOST_WORDS]
        for name in {*words, *map(" ".join, pairwise(words))}:
            number = zlib.crc32(name.encode())
            row[number % WIDTH] += 1 if number & 1 << 20 else -1
        row /= np.linalg.norm(row) + 1e-9
    return rows


class Predictor:
    """A regression from prompts to numbers. `hold_measures` and `hold_words` say how far each group is held back."""

    def __init__(self, prompts: Sequence[str], wanted: Array, hold_measures: float = 300.0, hold_words: float = 10.0):
        measured = np.array([measures(prompt) for prompt in prompts])
        self._middle, self._spread = measured.mean(axis=0), measured.std(axis=0) + 1e-6
        self._scales = hold_measures**-0.5, hold_words**-0.5
        self._mean = wanted.mean(axis=0)
        rows = self._rows(prompts)
        square = rows.T @ rows + np.eye(rows.shape[1])
        self._slopes = np.linalg.solve(square, rows.T @ (wanted - self._mean))

    def __call__(self, prompts: Sequence[str]) -> Array:
        result: Array = self._rows(prompts) @ self._slopes + self._mean
        return result

    def _rows(self, prompts: Sequence[str]) -> Array:
        measured = (np.array([measures(prompt) for prompt in prompts]) - self._middle) / self._spread
        result: Array = np.hstack([measured * self._scales[0], hashed(prompts) * self._scales[1]])
        return result
