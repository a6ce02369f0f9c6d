"""How well tasks are told on prompts that were never trained on: by task, by language, and under rewording."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bench.routing.model import TASKS
from bench.routing.prompts import Prompt, read_prompts
from bench.routing.rewording import REWORDINGS
from core.routing.classify import Classified, classify
from core.routing.facts import Facts
from core.routing.weights import Weights

BINS: Final = 10


@dataclass(frozen=True, slots=True)
class Judged:
    """A prompt, and what it was taken for."""

    prompt: Prompt
    found: Classified

    @property
    def right(self) -> bool:
        return self.prompt.task == self.found.task


def judge(prompts: Sequence[Prompt], weights: Weights) -> list[Judged]:
    return [Judged(prompt, classify(Facts(prompt_tokens=0, text=prompt.text), weights)) for prompt in prompts]


def f1_by_task(judged: Sequence[Judged]) -> dict[str, float]:
    """The harmonic mean of precision and recall; of tasks that nobody labelled there is none."""
    right = Counter(each.prompt.task for each in judged if each.right)
    wanted = Counter(each.prompt.task for each in judged)
    found = Counter(each.found.task for each in judged)
    return {task: 2 * right[task] / (wanted[task] + found[task]) for task in TASKS if wanted[task]}


def macro_f1(judged: Sequence[Judged]) -> float:
    by_task = f1_by_task(judged)
    return sum(by_task.values()) / len(by_task)


def accuracy(judged: Sequence[Judged]) -> float:
    return sum(each.right for each in judged) / len(judged)


def accuracy_by(judged: Sequence[Judged], key: Callable[[Prompt], str]) -> dict[str, tuple[float, int]]:
    groups: dict[str, list[Judged]] = defaultdict(list)
    for each in judged:
        groups[key(each.prompt)].append(each)
    return {name: (accuracy(held), len(held)) for name, held in sorted(groups.items())}


def calibration_error(judged: Sequence[Judged]) -> float:
    """By how much confidence and truth differ, on average over bins of confidence."""
    bins: dict[int, list[Judged]] = defaultdict(list)
    for each in judged:
        bins[min(BINS - 1, int(each.found.confidence * BINS))].append(each)
    gaps = (
        abs(sum(each.found.confidence for each in held) - sum(each.right for each in held)) for held in bins.values()
    )
    return sum(gaps) / len(judged)


def unchanged_by_rewording(judged: Sequence[Judged], weights: Weights) -> dict[str, tuple[float, int]]:
    """For each rewording the share of tasks that it leaves, among the prompts whose text it changes."""
    shares: dict[str, tuple[float, int]] = {}
    for name, reword in REWORDINGS.items():
        pairs = [(each, reword(each.prompt.text, each.prompt.language)) for each in judged]
        shares[name] = _unchanged([(each, text) for each, text in pairs if text != each.prompt.text], weights)
    texts = {path: [prompt.text for prompt in prompts] for path, prompts in _by_source(read_prompts("paraphrased"))}
    for source, held in _by_source([each.prompt for each in judged]):
        if source in texts:
            known = {each.prompt: each for each in judged}
            pairs = [(known[prompt], text) for prompt, text in zip(held, texts[source], strict=True)]
            shares[f"paraphrase ({source})"] = _unchanged(pairs, weights)
    return shares


def _unchanged(pairs: Sequence[tuple[Judged, str]], weights: Weights) -> tuple[float, int]:
    kept = sum(classify(Facts(prompt_tokens=0, text=text), weights).task == each.found.task for each, text in pairs)
    return kept / len(pairs), len(pairs)


def _by_source(prompts: Sequence[Prompt]) -> Iterator[tuple[str, list[Prompt]]]:
    groups: dict[str, list[Prompt]] = defaultdict(list)
    for prompt in prompts:
        groups[prompt.source].append(prompt)
    yield from groups.items()


def complexity_error(judged: Sequence[Judged]) -> tuple[float, float]:
    """The mean distance to the label, and the correlation with it."""
    pairs = [(each.found.complexity, each.prompt.complexity) for each in judged]
    means = [sum(column) / len(pairs) for column in zip(*pairs, strict=True)]
    spreads = [math.sqrt(sum((pair[at] - means[at]) ** 2 for pair in pairs)) for at in (0, 1)]
    product = sum((found - means[0]) * (label - means[1]) for found, label in pairs)
    return sum(abs(found - label) for found, label in pairs) / len(pairs), product / (spreads[0] * spreads[1])


def majority_f1(train: Sequence[Prompt], held_out: Sequence[Prompt]) -> float:
    """What always saying the most frequent task would get."""
    most = Counter(prompt.task for prompt in train).most_common(1)[0][0]
    wanted = Counter(prompt.task for prompt in held_out)
    return 2 * wanted[most] / (wanted[most] + len(held_out)) / len(wanted)


def report(weights: Weights) -> Iterator[str]:
    """The figures as lines."""
    train, held_out = read_prompts("train"), read_prompts("held_out")
    judged = judge(held_out, weights)
    sources = len({prompt.source for prompt in train}), len({prompt.source for prompt in held_out})
    yield f"Tasks: {len(train)} prompts of {sources[0]} sources trained on, {len(held_out)} of {sources[1]} held out"
    yield f"  macro-F1 {macro_f1(judged):.3f} (goal .80; most frequent task {majority_f1(train, held_out):.3f})"
    yield f"  accuracy {accuracy(judged):.3f}, calibration error {calibration_error(judged):.3f}"
    yield "  F1 by task: " + _line({task: f"{value:.2f}" for task, value in f1_by_task(judged).items()})
    yield "  accuracy by language: " + _line(_shares(accuracy_by(judged, lambda prompt: prompt.language)))
    yield "  accuracy by source: " + _line(_shares(accuracy_by(judged, lambda prompt: prompt.source)))
    yield "  complexity: mean error {:.3f}, correlation {:.2f}".format(*complexity_error(judged))
    shares = unchanged_by_rewording(judged, weights)
    yield "  unchanged under rewording (goal .90): " + _line(_shares(shares))
    every = sum(share * count for share, count in shares.values()) / sum(count for _, count in shares.values())
    yield f"  unchanged over all rewordings: {every:.3f}"


def _shares(shares: Mapping[str, tuple[float, int]]) -> dict[str, str]:
    return {name: f"{share:.2f} of {count}" for name, (share, count) in shares.items()}


def _line(figures: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {figure}" for name, figure in figures.items())
