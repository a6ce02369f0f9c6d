"""How good a model is expected to be at each task, as callers list it: what was measured, and what they said."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from core.catalog.model import Model, Score
from core.chat import Json
from core.workspace import Opinion

Opinions: TypeAlias = Mapping[tuple[str, str], Opinion]
"""What an organisation's callers said, by model and task."""

NOTHING_SAID: Final[Opinions] = MappingProxyType({})


def quality_object(model: Model, opinions: Opinions) -> dict[str, Json]:
    """The `quality` of a model, by task.

    `basis` says what `value` rests on: `measured` (the catalog's score alone), `opinions` (the scores of the
    organisation's callers, after what was measured if anything was) or `unknown` (too few of them).
    """
    if not opinions:
        return {task: _measured(score) for task, score in model.quality.items()}
    tasks = dict.fromkeys((*model.quality, *(task for name, task in opinions if name == model.id)))
    return {task: _entry(model.quality.get(task), opinions.get((model.id, task))) for task in tasks}


def _entry(score: Score | None, opinion: Opinion | None) -> dict[str, Json]:
    made: dict[str, Json] = {} if score is None else _measured(score)
    if opinion is None:
        return made
    expected = opinion.expected(None if score is None else score.value)
    made["value"] = None if expected is None else round(expected, 4)
    made["basis"] = "unknown" if expected is None else "opinions"
    if score is not None:
        made["measured"] = score.value
    made["scores"] = opinion.count
    return made


def _measured(score: Score) -> dict[str, Json]:
    return {"value": score.value, "basis": "measured", "source": score.source, "date": score.date}
