"""Going through the whole catalog, and resolving names, without keeping what was made on the way."""

from collections.abc import Callable
from functools import partial

from core.catalog.compiled import Entry
from core.catalog.loader import Catalog, Models
from core.catalog.model import Model
from tests.support.routing import make_catalog, make_model

FOUND = [make_model(name, aliases=(f"{name}-alias",)) for name in ("a", "b", "c")]


def counted(made: list[str], model: Model) -> Model:
    made.append(model.id)
    return model


def lazy(made: list[str]) -> Catalog:
    def make(model: Model) -> Callable[[], Model]:
        return partial(counted, made, model)

    entries = [Entry(model.id, model.aliases, ["lab"], make(model)) for model in FOUND]
    plain = make_catalog(*FOUND)
    names = {name: place for place, model in enumerate(FOUND) for name in (*model.aliases, model.id)}
    return Catalog(Models(entries, frozenset({"lab"})), plain.vendors, names)


def test_a_scan_gives_every_model_and_keeps_none() -> None:
    made: list[str] = []
    catalog = lazy(made)
    assert [model.id for model in catalog.scan()] == ["a", "b", "c"]
    assert catalog.find("b") == FOUND[1]
    assert made == ["a", "b", "c", "b"]


def test_a_scan_takes_what_is_there_already() -> None:
    made: list[str] = []
    catalog = lazy(made)
    catalog.find("a")
    assert [model.id for model in catalog.scan()] == ["a", "b", "c"]
    assert made == ["a", "b", "c"]


def test_names_are_resolved_without_making_models() -> None:
    made: list[str] = []
    catalog = lazy(made)
    assert [catalog.id_of(name) for name in ("a-alias", "b", "none")] == ["a", "b", "none"]
    assert made == []


def test_a_catalog_of_models_that_are_there_works_alike() -> None:
    catalog = make_catalog(*FOUND)
    assert [model.id for model in catalog.scan()] == ["a", "b", "c"]
    assert [catalog.id_of(name) for name in ("a-alias", "b", "none")] == ["a", "b", "none"]
