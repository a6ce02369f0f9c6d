"""How often a small rewording of a held-out prompt leaves the pick as it is, with the catalog that ships."""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from bench.routing.prompts import read_prompts
from bench.routing.rewording import REWORDINGS
from bench.routing.traffic import Asked, ask, decide
from core.decision import Objective, Preferences


def reworded() -> dict[str, list[tuple[str, str]]]:
    """For each rewording the prompts whose text it changes, before and after."""
    held_out, paraphrased = read_prompts("held_out"), read_prompts("paraphrased")
    pairs: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for name, reword in REWORDINGS.items():
        for prompt in held_out:
            text = reword(prompt.text, prompt.language)
            if text != prompt.text:
                pairs[name].append((prompt.text, text))
    for source in dict.fromkeys(prompt.source for prompt in paraphrased):
        before, after = ([each.text for each in part if each.source == source] for part in (held_out, paraphrased))
        pairs["paraphrase"] += zip(before, after, strict=True)
    return pairs


def unchanged(objective: Objective) -> dict[str, tuple[int, int]]:
    """For each rewording how many picks it leaves, and of how many prompts."""
    pairs = reworded()
    preferences = Preferences(optimize=objective)
    texts = dict.fromkeys(text for held in pairs.values() for pair in held for text in pair)
    picks = {text: decide(_asked(text), preferences).pick for text in texts}
    return {
        name: (sum(picks[before] == picks[after] for before, after in held), len(held)) for name, held in pairs.items()
    }


def share(found: dict[str, tuple[int, int]]) -> float:
    """The share over all rewordings."""
    return sum(kept for kept, _ in found.values()) / sum(count for _, count in found.values())


def report() -> Iterator[str]:
    """The figures as lines."""
    yield "Picks unchanged under rewording of held-out prompts (goal .90 over all):"
    for objective in Objective:
        found = unchanged(objective)
        told = ", ".join(f"{name} {kept / count:.2f} of {count}" for name, (kept, count) in found.items())
        yield f"  {objective.value}: {share(found):.3f} ({told})"


@cache
def _asked(text: str) -> Asked:
    return ask(text)
