"""The `routing` object narrows; a member that nobody knows must not be passed over."""

import orjson
import pytest

from core.chat import Json
from core.decision import DataRules, HostRules, Objective, Preferences
from core.errors import InvalidRequest
from core.surfaces.openai_chat import parse_chat
from core.surfaces.surface import PLAIN, ROUTING, SURFACES, Surface


def preferred(routing: Json, surface: Surface = ROUTING) -> Preferences:
    body = {"model": "auto", "messages": [{"role": "user", "content": "x"}], "routing": routing}
    parsed = parse_chat(orjson.dumps(body), surface)
    assert "routing" not in parsed.request.written
    return parsed.preferences


def test_everything_that_can_be_preferred() -> None:
    written = {
        "policy": "fast",
        "optimize": "cost",
        "models": ["a", "b"],
        "exclude": ["c"],
        "providers": {"only": ["lab"], "ignore": ["shop"], "order": ["lab"]},
        "max_cost_micros": 0,
        "min_quality": 1,
        "first_token_ms": 500,
        "deadline_ms": 5_000,
        "fallback": False,
        "data": {"regions": ["eu"], "no_training": True, "zero_retention": False},
    }
    assert preferred(written) == Preferences(
        policy="fast",
        optimize=Objective.COST,
        models=("a", "b"),
        exclude=("c",),
        providers=HostRules(("lab",), ("shop",), ("lab",)),
        max_cost_micros=0,
        min_quality=1,
        first_token_ms=500,
        deadline_ms=5_000,
        fallback=False,
        data=DataRules(("eu",), True),
    )


@pytest.mark.parametrize(
    "routing",
    [
        None,
        {},
        {"policy": None, "data": None, "providers": {}},
        {"models": None, "exclude": [], "providers": {"only": None, "ignore": [], "order": []}},
    ],
    ids=str,
)
def test_nothing_preferred(routing: Json) -> None:
    assert preferred(routing) == Preferences()


@pytest.mark.parametrize(
    ("routing", "param"),
    [
        ("fast", "routing"),
        ({"policy": ""}, "routing.policy"),
        ({"optimize": "speed"}, "routing.optimize"),
        ({"models": "a"}, "routing.models"),
        ({"models": [1]}, "routing.models[0]"),
        ({"models": []}, "routing.models"),
        ({"providers": {"only": []}}, "routing.providers.only"),
        ({"data": {"regions": []}}, "routing.data.regions"),
        ({"exclude": [None]}, "routing.exclude[0]"),
        ({"providers": {"only": [""]}}, "routing.providers.only[0]"),
        ({"max_cost_micros": -1}, "routing.max_cost_micros"),
        ({"max_cost_micros": 1.5}, "routing.max_cost_micros"),
        ({"min_quality": 1.1}, "routing.min_quality"),
        ({"first_token_ms": 0}, "routing.first_token_ms"),
        ({"deadline_ms": 10**9}, "routing.deadline_ms"),
        ({"fallback": "no"}, "routing.fallback"),
        ({"data": {"no_training": 1}}, "routing.data.no_training"),
    ],
    ids=str,
)
def test_wrong_preferences_are_refused_by_their_path(routing: Json, param: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        preferred(routing)
    assert (raised.value.status, raised.value.param) == (400, param)


def test_a_bound_of_nothing_is_refused_with_the_way_out() -> None:
    with pytest.raises(InvalidRequest) as raised:
        preferred({"models": []})
    assert raised.value.code == "invalid_value"
    assert "Leave it out" in raised.value.message


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: surface.name)
@pytest.mark.parametrize(
    ("routing", "param"),
    [({"optimise": "cost"}, "routing.optimise"), ({"data": {"no_trainin": True}}, "routing.data.no_trainin")],
)
def test_a_mistyped_bound_is_refused_on_both_surfaces(routing: Json, param: str, surface: Surface) -> None:
    with pytest.raises(InvalidRequest) as raised:
        preferred(routing, surface)
    assert (raised.value.status, raised.value.code, raised.value.param) == (422, "unknown_field", param)


def test_the_extensions_are_those_of_both_surfaces() -> None:
    assert preferred({"optimize": "latency"}, PLAIN).optimize is Objective.LATENCY
