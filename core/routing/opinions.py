"""Lays what an organisation's callers said of answers over the scores of an index, for policies that want it so.

An organisation of which nothing is known uses the index itself, at no cost.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from core.routing.bits import bits_of, places
from core.routing.index import SCORE_SCALE, Index
from core.routing.indexing import filled
from core.workspace import Opinion

Opinions: TypeAlias = Mapping[tuple[str, str], Opinion]
"""What was said, by model and task."""


@dataclass(frozen=True, slots=True)
class _Laid:
    index: Index
    opinions: Opinions
    made: Index


class OpinionIndexes:
    """The indexes of at most `most` organisations, made again when an index or what was said is another."""

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._laid: dict[str, _Laid] = {}

    def of(self, org: str, index: Index, opinions: Opinions) -> Index:
        """The index with the organisation's opinions laid over its scores."""
        if not opinions:
            return index
        laid = self._laid.pop(org, None)
        if laid is None or laid.index is not index or laid.opinions != opinions:
            laid = _Laid(index, opinions, with_opinions(index, opinions))
            if len(self._laid) >= self._most:
                del self._laid[next(iter(self._laid))]
        self._laid[org] = laid
        return laid.made


def with_opinions(index: Index, opinions: Opinions) -> Index:
    """The index, with other scores where there are opinions; models that are not in it are passed over."""
    changed: dict[str, dict[int, int]] = {}
    for (model, task), opinion in opinions.items():
        start, count = index.spans.get(model, (0, 0))
        expected = opinion.expected(_measured(index, start, task))
        if count and expected is not None:
            rows = dict.fromkeys(range(start, start + count), round(expected * SCORE_SCALE))
            changed.setdefault(task, {}).update(rows)
    columns = {task: _known(index, task) | rows for task, rows in changed.items()}
    return replace(
        index,
        scored={**index.scored, **{task: bits_of(known, index.size) for task, known in columns.items()}},
        scores={**index.scores, **{task: filled(known, index.size) for task, known in columns.items()}},
    )


def _measured(index: Index, row: int, task: str) -> float | None:
    is_known = index.scored.get(task, 0) >> row & 1
    return index.scores[task].values[row] / SCORE_SCALE if is_known else None


def _known(index: Index, task: str) -> dict[int, int]:
    return {row: index.scores[task].values[row] for row in places(index.scored.get(task, 0))}
