"""Two published yardsticks for picking a model from the prompt alone, with random, length and oracle beside ours.

They measure what the classifier and small regressions know, without catalog and policies.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bench.routing.gap import COMPLEXITY, Predictor, measures
from bench.routing.published import VARIABLE, Nine, Pair, digest, folder, read_nine, read_pairs
from bench.routing.transfer import joined

Array = npt.NDArray[Any]

BINS: Final = 10
DRAWS: Final = 200
MMLU_LABELS: Final = 1_500
FOLDS: Final = 5

# What is to be reached: without in-domain labels, and with them.
GOALS: Final = {"mmlu": (0.60, 0.603), "gsm8k": (0.60, 0.622), "mt_bench": (0.70, None)}
NINE_GOAL: Final = 0.615

# As published: with arena data only, and with in-domain labels.
PUBLISHED: Final = {"mmlu": (0.524, 0.603), "gsm8k": (0.475, 0.622), "mt_bench": (0.610, 0.802)}

# Tasks of the nine-model set whose prompts are of the other yardstick's benchmarks.
SHARED_TASKS: Final = frozenset({"mmlu", "gsm8k", "agentverse-mgsm"})
SAME_BEGINNING: Final = 80

OWN_SHARE: Final = 0.25
SAVINGS: Final = (0.0, 0.02, 0.05, 0.1, 0.2)

# Parameters in billions, for a cost where the set has no prices: a call costs as much as the model is large.
SIZES: Final = {"70b": 70, "51b": 51, "49b": 49, "9b": 9, "8b": 8, "7b": 7}


def apgr(scores: Array, pair: Pair, rows: Array | None = None) -> float:
    """The mean share of the gap that is recovered when prompts go to the strong model in the order of their scores."""
    chosen = np.arange(len(pair.prompts)) if rows is None else rows
    order = chosen[np.argsort(-scores[chosen], kind="stable")]
    gained = np.concatenate([[0.0], np.cumsum(pair.gap[order])])
    points = gained[[round(len(order) * share / BINS) for share in range(BINS + 1)]] / gained[-1]
    return float((points[1:] + points[:-1]).mean() / 2)


def spread(scores: Array, pair: Pair) -> float:
    """The bootstrap's standard deviation of `apgr`."""
    draw = np.random.default_rng(7)
    size = len(pair.prompts)
    return float(np.std([apgr(scores, pair, draw.integers(0, size, size)) for _ in range(DRAWS)]))


def ranks(scores: Array) -> Array:
    """Scores as even steps from 0 to 1."""
    result: Array = np.argsort(np.argsort(scores, kind="stable"), kind="stable") / len(scores)
    return result


def lengths(prompts: Sequence[str]) -> Array:
    return np.array([float(len(prompt)) for prompt in prompts])


def complexities(prompts: Sequence[str]) -> Array:
    """What the shipped classifier says."""
    return np.array([measures(prompt)[COMPLEXITY] for prompt in prompts])


def without_labels(pairs: Sequence[Pair], train: Nine) -> Callable[[Sequence[str]], Array]:
    """A router that saw no label and no prompt of the benchmarks, only other tasks' scores of other models.

    It joins the ranks by length, by the classifier's complexity, by how often small models fail, by that within a task,
    and by how much large models gain over small ones.
    """
    seen = {prompt[:SAME_BEGINNING] for pair in pairs for prompt in pair.prompts}
    rows = [
        row
        for row, (prompt, task) in enumerate(zip(train.prompts, train.tasks, strict=True))
        if task not in SHARED_TASKS and prompt.strip()[:SAME_BEGINNING] not in seen
    ]
    large = np.array([_size(model) > 9 for model in train.models])
    scores = train.scores[rows]
    fails, gains = -scores[:, ~large].mean(axis=1), scores[:, large].mean(axis=1) - scores[:, ~large].mean(axis=1)
    within, tasks = fails.copy(), np.array(train.tasks)[rows]
    for task in set(train.tasks):
        if (tasks == task).any():
            within[tasks == task] -= fails[tasks == task].mean()
    predict = Predictor([train.prompts[row] for row in rows], np.stack([fails, within, gains], axis=1), 300.0, 100.0)

    def route(prompts: Sequence[str]) -> Array:
        by_fails, by_within, by_gains = predict(prompts).T
        parts = (lengths(prompts), lengths(prompts), complexities(prompts), by_fails, by_within, by_gains)
        joined: Array = np.sum([ranks(part) for part in parts], axis=0)
        return joined

    return route


def with_labels(pair: Pair) -> tuple[Pair, Array]:
    """The prompts that were not trained on, with their scores: one split for MMLU, folds for what is small."""
    numbers = np.array([digest(prompt, "split") for prompt in pair.prompts])
    order = np.argsort(numbers, kind="stable")
    if len(order) > 4 * MMLU_LABELS:
        train, test = order[:MMLU_LABELS], order[MMLU_LABELS:]
        kept = _part(pair, test)
        return kept, Predictor(_part(pair, train).prompts, pair.gap[train])(kept.prompts)
    scores = np.zeros(len(order))
    for fold in range(FOLDS):
        test = order[fold::FOLDS]
        train = np.setdiff1d(order, test)
        scores[test] = Predictor(_part(pair, train).prompts, pair.gap[train])(_part(pair, test).prompts)
    return pair, scores


def _part(pair: Pair, rows: Array) -> Pair:
    return Pair(pair.name, [pair.prompts[row] for row in rows], pair.weak[rows], pair.strong[rows])


def _size(model: str) -> int:
    return next(size for name, size in SIZES.items() if f"-{name}" in model)


def pair_report(pairs: Sequence[Pair], train: Nine) -> Iterator[str]:
    yield "Yardstick A: a strong and a weak model, APGR (bootstrap standard deviation)"
    route = without_labels(pairs, train)
    draw = np.random.default_rng(7)
    for pair, elsewhere, hindsight in joined(pairs):
        by_length = lengths(pair.prompts)
        random = float(np.mean([apgr(draw.random(len(by_length)), pair) for _ in range(20)]))
        found = route(pair.prompts)
        complexity = complexities(pair.prompts)
        yield f"  {pair.name}: {len(pair.prompts)} prompts"
        yield f"    random {random:.3f}, length {apgr(by_length, pair):.3f}, oracle {apgr(pair.gap, pair):.3f}"
        (arena, labelled), (goal, labelled_goal) = PUBLISHED[pair.name], GOALS[pair.name]
        yield (
            f"    no in-domain labels: ours {apgr(found, pair):.3f} ({spread(found, pair):.3f}), goal {goal:.2f},"
            f" complexity alone {apgr(complexity, pair):.3f}; best published {arena:.3f}"
        )
        yield (
            f"    a join of three cues: chosen on the other benchmarks {apgr(elsewhere, pair):.3f}"
            f" ({spread(elsewhere, pair):.3f}), in hindsight {apgr(hindsight, pair):.3f}"
        )
        if pair.name != "mt_bench":
            kept, scores = with_labels(pair)
            yield (
                f"    in-domain labels, {len(kept.prompts)} prompts held out: ours {apgr(scores, kept):.3f}"
                f" ({spread(scores, kept):.3f}), goal {labelled_goal:.3f},"
                f" length there {apgr(lengths(kept.prompts), kept):.3f}; best published {labelled:.3f}"
            )


def by_tasks(train: Nine, prompts: Sequence[str]) -> Array:
    """Expected scores: each task's probability times what each model scores on it, and a little of the prompt's own."""
    tasks = sorted(set(train.tasks))
    labels = np.array([[float(task == each) for each in tasks] for task in train.tasks])
    means = np.stack([train.scores[labels[:, at] > 0].mean(axis=0) for at in range(len(tasks))])
    predicted = Predictor(train.prompts, np.hstack([labels, train.scores - labels @ means]), 300.0, 3.0)(prompts)
    chances = np.clip(predicted[:, : len(tasks)], 0.0, 1.0)
    result: Array = chances @ means + OWN_SHARE * predicted[:, len(tasks) :]
    return result


def nine_report(train: Nine, test: Nine) -> Iterator[str]:
    rows = np.arange(len(test.prompts))
    best = int(train.scores.mean(axis=0).argmax())
    of_task = np.array(train.tasks)
    by_task = {task: int(train.scores[of_task == task].mean(axis=0).argmax()) for task in sorted(set(train.tasks))}
    labelled = np.array([by_task[task] for task in test.tasks])
    sizes = np.array([_size(model) for model in train.models], dtype=float)
    small = int(np.where(sizes < 10, train.scores.mean(axis=0), -1).argmax())
    split = np.where(lengths(test.prompts) > np.median(lengths(train.prompts)), best, small)
    single = test.scores[:, best].mean()
    yield f"Yardstick B: nine models, {len(test.prompts)} test prompts that do not stand in training; labels: its own"
    yield (
        f"  random {test.scores.mean():.3f}, length {test.scores[rows, split].mean():.3f},"
        f" best single ({train.models[best]}) {single:.3f},"
        f" perfect task label {test.scores[rows, labelled].mean():.3f}, oracle {test.scores.max(axis=1).mean():.3f}"
    )
    expected = by_tasks(train, test.prompts)
    draw = np.random.default_rng(7)
    for saving in SAVINGS:
        chosen = (expected - saving * sizes / sizes.max()).argmax(axis=1)
        picked = test.scores[rows, chosen]
        deviation = np.std([picked[draw.integers(0, len(rows), len(rows))].mean() for _ in range(DRAWS)])
        yield (
            f"  ours, where a full size is worth {saving:.2f} of quality: {picked.mean():.3f} ({deviation:.3f})"
            f" at {sizes[chosen].mean() / sizes[best]:.2f} of the best single's size"
        )
    yield f"  goals: {NINE_GOAL:.3f}, and {single:.3f} at .56 (size in place of cost, since the set has no prices)"


def report() -> Iterator[str]:
    """The figures as lines, or where the tables were looked for in vain."""
    place: Path | None = folder()
    if place is None:
        yield f"NOT RUN: the yardsticks' tables are not here. Name their folder in {VARIABLE}."
        return
    train, test = read_nine(place)
    yield from pair_report(read_pairs(place), train)
    yield from nine_report(train, test)
