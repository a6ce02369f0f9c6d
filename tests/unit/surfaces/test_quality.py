"""Quality as callers list it, with what it rests on."""

import orjson

from core.surfaces.models import model_list
from core.surfaces.quality import NOTHING_SAID, quality_object
from core.workspace import Opinion
from tests.support.routing import make_model

MODEL = make_model("a/x", quality={"code": 0.8, "math": 0.6})
CATALOG = {"source": "a table", "date": "2026-11-30"}


def test_the_catalogs_scores_where_nobody_spoke() -> None:
    measured = {task: {"value": value, "basis": "measured", **CATALOG} for task, value in MODEL_SCORES.items()}
    assert quality_object(MODEL, NOTHING_SAID) == measured
    assert quality_object(MODEL, {("b/y", "code"): Opinion(50, 0)}) == measured


MODEL_SCORES = {"code": 0.8, "math": 0.6}


def test_what_was_said_moves_adds_or_is_not_enough() -> None:
    said = {
        ("a/x", "code"): Opinion(20, 0),
        ("a/x", "roleplay"): Opinion(10, 9_000),
        ("a/x", "vision"): Opinion(3, 3_000),
    }
    assert quality_object(MODEL, said) == {
        "code": {"value": 0.4, "basis": "opinions", **CATALOG, "measured": 0.8, "scores": 20},
        "math": {"value": 0.6, "basis": "measured", **CATALOG},
        "roleplay": {"value": 0.8333, "basis": "opinions", "scores": 10},
        "vision": {"value": None, "basis": "unknown", "scores": 3},
    }
    assert orjson.loads(model_list([MODEL], opinions=said))["data"][0]["quality"] == quality_object(MODEL, said)
