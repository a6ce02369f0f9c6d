"""Trains the task classifier and writes its weights into the gateway: `python -m bench.routing.train`.

With `--check` it writes nothing and tells whether the file there is what this recipe makes.
"""

import argparse
import hashlib
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench.routing.cues import FILE as CUES
from bench.routing.cues import read_cues
from bench.routing.model import TASKS, Example, Recipe, probabilities, train
from bench.routing.prompts import FOLDER, Prompt, read_prompts
from bench.routing.rewording import lower_case, mistyped, polite
from core.routing.weights import SHIPPED, Weights, write_weights

RECIPE: Final = Recipe()
FOLDS: Final = 4
TEMPERATURES: Final = tuple(0.5 + 0.05 * step for step in range(51))

# Instructions that say nothing about the task; the model learns to look past them.
EMPTY_INSTRUCTIONS: Final = (
    "You are a helpful assistant.",
    "You are a helpful, harmless and honest assistant. Answer in the user's language.",
    "Be concise.",
    "You are the assistant of a web shop. Always be friendly and never mention competitors.",
    "Answer in markdown. Today is Tuesday.",
    "Du bist ein hilfreicher Assistent.",
    "Tu es un assistant utile et poli.",
    "Eres un asistente útil.",
    "你是一个有用的助手。",
    "You are an expert assistant with broad knowledge. Think before you answer.",
)


def digest(folder: Path = FOLDER) -> str:
    """What tells one state of the training data from another."""
    held = hashlib.sha256(CUES.read_bytes())
    for path in sorted((folder / "train").glob("*.txt")):
        held.update(path.read_bytes())
    return held.hexdigest()


def examples(prompts: Sequence[Prompt]) -> list[Example]:
    """Each prompt as it is, and reworded; those count less."""
    made: list[Example] = []
    for number, prompt in enumerate(prompts):
        made.append(Example(prompt, prompt.text))
        made.append(Example(prompt, mistyped(lower_case(prompt.text, ""), ""), 0.4))
        if number % 2:
            opening = EMPTY_INSTRUCTIONS[number // 2 % len(EMPTY_INSTRUCTIONS)]
            made.append(Example(prompt, f"{opening}\n{prompt.text}", 0.4))
        else:
            made.append(Example(prompt, polite(prompt.text, prompt.language), 0.4))
    return made


def out_of_source(prompts: Sequence[Prompt], recipe: Recipe = RECIPE) -> list[tuple[Prompt, Weights]]:
    """Each prompt with weights that were trained without its source."""
    sources = sorted({prompt.source for prompt in prompts})
    found: list[tuple[Prompt, Weights]] = []
    for fold in range(FOLDS):
        held = set(sources[fold::FOLDS])
        weights = train(examples([each for each in prompts if each.source not in held]), read_cues(), recipe, "")
        found += [(each, weights) for each in prompts if each.source in held]
    return found


def temperature(judged: Sequence[tuple[Prompt, Weights]]) -> float:
    """What to divide scores by so that probabilities mean what they say on sources that were never seen."""

    def surprise(value: float) -> float:
        return -sum(
            math.log(probabilities(weights, each.text, value)[TASKS.index(each.task)] + 1e-12)
            for each, weights in judged
        )

    return min(TEMPERATURES, key=surprise)


def trained(prompts: Sequence[Prompt]) -> Weights:
    """The weights that ship."""
    weights = train(examples(prompts), read_cues(), RECIPE, digest())
    return replace(weights, temperature=round(temperature(out_of_source(prompts)), 2))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    made = write_weights(trained(read_prompts("train")))
    if not check:
        SHIPPED.write_bytes(made)
        print(f"{SHIPPED.name}: {len(made):,} bytes")
    elif SHIPPED.read_bytes() != made:
        raise SystemExit(f"{SHIPPED.name} is not what the recipe makes of the data")


if __name__ == "__main__":
    main()
