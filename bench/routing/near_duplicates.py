"""Finds prompts that say nearly the same: `python -m bench.routing.near_duplicates`; held-out ones must stand alone."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from bench.routing.prompts import Prompt, read_prompts

LENGTH: Final = 5
ALIKE: Final = 0.5
"""From this share of common pieces (of all pieces of both) on, two prompts count as one."""


def pieces(text: str) -> frozenset[str]:
    """All runs of five characters, without case, spaces and marks."""
    plain = "".join(letter for letter in text.lower() if letter.isalnum())
    return frozenset(plain[at : at + LENGTH] for at in range(max(1, len(plain) - LENGTH + 1)))


def near_duplicates(prompts: Sequence[Prompt]) -> Iterator[tuple[Prompt, Prompt]]:
    """Pairs that have at least `ALIKE` of their pieces in common."""
    held = [pieces(prompt.text) for prompt in prompts]
    holders: dict[str, list[int]] = defaultdict(list)
    for number, found in enumerate(held):
        for piece in found:
            holders[piece].append(number)
    common: dict[tuple[int, int], int] = defaultdict(int)
    for numbers in holders.values():
        for pair in combinations(numbers, 2):
            common[pair] += 1
    for (one, other), count in sorted(common.items()):
        if count >= ALIKE * (len(held[one]) + len(held[other]) - count):
            yield prompts[one], prompts[other]


def crossing() -> list[tuple[Prompt, Prompt]]:
    """The pairs of which one is trained on and the other held out."""
    train, held_out = read_prompts("train"), read_prompts("held_out")
    sources = {prompt.source for prompt in held_out}
    pairs = near_duplicates([*train, *held_out])
    return [(one, other) for one, other in pairs if (one.source in sources) != (other.source in sources)]


def main() -> None:
    prompts = [*read_prompts("train"), *read_prompts("held_out")]
    for one, other in near_duplicates(prompts):
        print(f"{one.source}: {one.text[:70]!r}\n  {other.source}: {other.text[:70]!r}")
    crossed = len(crossing())
    print(f"{len(prompts)} prompts, {crossed} pairs across training and held-out")
    if crossed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
