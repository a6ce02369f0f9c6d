"""Trains the task classifier: two groups of features, one linear model; the same data gives the same bytes."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bench.routing.prompts import Prompt
from core.routing.features import features
from core.routing.weights import LANE, ZERO, Weights

Array = npt.NDArray[Any]

TASKS: Final = (
    "chat", "qa", "code", "math", "reasoning", "analysis",
    "summarization", "extraction", "classification", "translation", "writing", "roleplay",
)  # fmt: skip
OUTPUTS: Final = (*TASKS, "complexity")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What may be tuned: how rare a word may be, how far weights are held back, how long to train."""

    least_seen: int = 2
    most_words: int = 9_000
    hold_shape: float = 3e-4
    hold_words: float = 6e-5
    batch: int = 256
    passes: int = 14
    step: float = 0.06


@dataclass(frozen=True, slots=True)
class Example:
    """A text with what it is, and how much it counts."""

    prompt: Prompt
    text: str
    weight: float = 1.0


class Matrix:
    """Rows of (column, value), summed in a fixed order."""

    def __init__(self, rows: Sequence[Sequence[int]], values: Sequence[Sequence[float]], columns: int) -> None:
        self.columns = columns
        self._starts = np.cumsum([0, *(len(row) for row in rows)])[:-1]
        self._flat = np.array([column for row in rows for column in row], dtype=np.int64)
        self._row = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        self._value = np.array([value for row in values for value in row])[:, None]
        self._order = np.argsort(self._flat, kind="stable")
        self._present, self._firsts = np.unique(self._flat[self._order], return_index=True)

    def times(self, weights: Array) -> Array:
        product: Array = np.add.reduceat(weights[self._flat] * self._value, self._starts, axis=0)
        return product

    def back(self, errors: Array) -> Array:
        gathered = (errors[self._row] * self._value)[self._order]
        result: Array = np.zeros((self.columns, errors.shape[1]))
        result[self._present] = np.add.reduceat(gathered, self._firsts, axis=0)
        return result


def train(examples: Sequence[Example], cues: Mapping[str, str], recipe: Recipe, digest: str) -> Weights:
    """A model of these examples, not yet calibrated."""
    # Sorted, since sets have no order, and sums of floats depend on theirs.
    named = [tuple(map(sorted, features(example.text, cues))) for example in examples]
    shapes = _frequent((shape for shape, _ in named), 3, 10_000)
    words = _frequent((lexical for _, lexical in named), recipe.least_seen * 2, recipe.most_words)
    index = {name: at for at, name in enumerate([*shapes, *words])}
    of_shape = [[index[name] for name in shape if name in index] for shape, _ in named]
    of_words = [[index[name] for name in lexical if name in index] for _, lexical in named]
    # The last column is the bias.
    columns = [[*shape, *lexical, len(index)] for shape, lexical in zip(of_shape, of_words, strict=True)]
    values = [
        [*([1.0] * len(shape)), *([(len(lexical) or 1) ** -0.5] * len(lexical)), 1.0]
        for shape, lexical in zip(of_shape, of_words, strict=True)
    ]
    held = np.full((len(index) + 1, 1), recipe.hold_words)
    held[: len(shapes)] = recipe.hold_shape
    held[-1] = 0.0
    weights = _descend(examples, columns, values, held, recipe)
    return _quantised(weights, shapes, words, cues, digest)


def _frequent(rows: Iterable[Iterable[str]], least: int, most: int) -> list[str]:
    seen = Counter(name for row in rows for name in row)
    kept = sorted(seen.items(), key=lambda item: (-item[1], item[0]))[:most]
    return sorted(name for name, count in kept if count >= least)


def _descend(
    examples: Sequence[Example], columns: list[list[int]], values: list[list[float]], held: Array, recipe: Recipe
) -> Array:
    """Adam over batches in a fixed order: cross entropy for the tasks, squares for the complexity."""
    truth = np.zeros((len(examples), len(OUTPUTS)))
    for row, example in enumerate(examples):
        truth[row, TASKS.index(example.prompt.task)] = 1.0
        truth[row, -1] = example.prompt.complexity
    shares = _balanced(examples)
    batches = []
    count = -(-len(examples) // recipe.batch)
    for first in range(count):
        rows = range(first, len(examples), count)
        matrix = Matrix([columns[row] for row in rows], [values[row] for row in rows], len(held))
        batches.append((matrix, truth[first::count], shares[first::count] * count))
    weights = np.zeros((len(held), len(OUTPUTS)))
    slope, spread = np.zeros_like(weights), np.zeros_like(weights)
    turns = count * recipe.passes
    for turn in range(1, turns + 1):
        matrix, wanted, share = batches[turn % count]
        gradient = matrix.back((_outputs(matrix.times(weights)) - wanted) * share) + held * weights
        slope = 0.9 * slope + 0.1 * gradient
        spread = 0.99 * spread + 0.01 * gradient * gradient
        pace = recipe.step * (1 - turn / (turns + 1))
        weights -= pace * (slope / (1 - 0.9**turn)) / (np.sqrt(spread / (1 - 0.99**turn)) + 1e-4)
    return weights


def _outputs(scores: Array) -> Array:
    tasks = np.exp(scores[:, :-1] - scores[:, :-1].max(axis=1, keepdims=True))
    return np.hstack([tasks / tasks.sum(axis=1, keepdims=True), scores[:, -1:]])


def _balanced(examples: Sequence[Example]) -> Array:
    """What each example counts: tasks evenly between their own number and one and the same."""
    counts = Counter(example.prompt.task for example in examples)
    shares = np.array([example.weight * counts[example.prompt.task] ** -0.5 for example in examples])
    result: Array = (shares / shares.sum())[:, None]
    return result


def _quantised(
    weights: Array, shapes: Sequence[str], words: Sequence[str], cues: Mapping[str, str], digest: str
) -> Weights:
    of_shape, of_words, bias = weights[: len(shapes)], weights[len(shapes) : -1], weights[-1]
    shape_scales, word_scales = _scales(of_shape), _scales(of_words)
    whole = np.vstack([np.rint(of_shape / shape_scales), np.rint(of_words / word_scales)]).astype(int) + ZERO
    rows = {
        name: sum(int(value) << (LANE * lane) for lane, value in enumerate(row))
        for name, row in zip([*shapes, *words], whole, strict=True)
        if any(value != ZERO for value in row)
    }
    return Weights(
        outputs=OUTPUTS,
        rows=rows,
        cues=dict(cues),
        bias=tuple(round(float(value), 4) for value in bias),
        shape_scales=tuple(float(value) for value in shape_scales),
        word_scales=tuple(float(value) for value in word_scales),
        temperature=1.0,
        digest=digest,
    )


def _scales(weights: Array) -> Array:
    """The step of one for each output, of few digits so that it prints alike everywhere."""
    largest = np.abs(weights).max(axis=0) if len(weights) else np.ones(weights.shape[1])
    return np.array([float(f"{max(value, 1e-6) / 127:.3g}") * 1.01 for value in largest])


def probabilities(weights: Weights, text: str, temperature: float) -> list[float]:
    scores = weights.scores(*features(text, weights.cues))[:-1]
    most = max(scores)
    raised = [math.exp((score - most) / temperature) for score in scores]
    return [value / sum(raised) for value in raised]
