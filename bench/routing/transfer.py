"""How far a join of cues can come without labels of a benchmark: chosen on the other benchmarks, and in hindsight.

A join is the sum of the ranks of one to three measures of a prompt, each up or down. Those of the first kind saw
labels, but none of the benchmark itself; those of the second were picked by the very labels that judge them, so that
nobody can claim them: they bound what choosing better could give.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bench.routing.gap import measures
from bench.routing.published import Pair

Array = npt.NDArray[Any]

MOST_JOINED: Final = 3
MOST_COUNTED: Final = 1_500
"""A benchmark counts by the root of its prompts, but no more than this many: else one would decide alone."""


def joined(pairs: Sequence[Pair]) -> Iterator[tuple[Pair, Array, Array]]:
    """For each benchmark the scores by the join chosen on the others, and by the best in hindsight."""
    cues = [_cues(pair.prompts) for pair in pairs]
    columns = cues[0].shape[1]
    joins = [join for size in range(1, MOST_JOINED + 1) for join in combinations(range(columns), size)]
    joins = [join for join in joins if len({column % (columns // 2) for column in join}) == len(join)]
    told = [_told(found, pair.gap, joins) for found, pair in zip(cues, pairs, strict=True)]
    for place, pair in enumerate(pairs):
        elsewhere = np.sum([each for other, each in enumerate(told) if other != place], axis=0)
        chosen, best = (joins[int(by.argmax())] for by in (elsewhere, told[place]))
        yield pair, cues[place][:, chosen].sum(axis=1), cues[place][:, best].sum(axis=1)


def _cues(prompts: Sequence[str]) -> Array:
    """The ranks of every measure, centred, up and down; equal values have equal ranks."""
    ups = []
    for column in np.array([measures(prompt) for prompt in prompts]).T:
        _, place, counts = np.unique(column, return_inverse=True, return_counts=True)
        ranks = (np.cumsum(counts) - counts / 2)[place] / len(column)
        ups.append(ranks - ranks.mean())
    up = np.stack(ups, axis=1)
    return np.hstack([up, -up])


def _told(cues: Array, gap: Array, joins: Sequence[tuple[int, ...]]) -> Array:
    """How surely each join tells the gap, in standard deviations of chance."""
    wanted = (gap - gap.mean()) / gap.std()
    square, product = cues.T @ cues / len(gap), cues.T @ wanted / len(gap)
    weight = min(len(gap), MOST_COUNTED) ** 0.5
    variances = (float(square[np.ix_(join, join)].sum()) for join in joins)
    return np.array(
        [
            weight * float(product[[*join]].sum()) / (variance + 1e-9) ** 0.5
            for join, variance in zip(joins, variances, strict=True)
        ]
    )
