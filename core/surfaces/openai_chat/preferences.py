"""The `routing` object of a request: types and ranges. What a policy allows is not known here."""

from typing import Final

from core.chat import Json
from core.decision import DataRules, HostRules, Objective, Preferences
from core.surfaces.openai_chat.checks import At, array, boolean, integer, named, number, one_of, record, wrong

_LONGEST_MS: Final = 86_400_000
_NAMES: Final = array(named)


def _some_names(value: Json, at: At) -> tuple[str, ...]:
    found: tuple[str, ...] = _NAMES(value, at)
    if not found:
        raise wrong(at, "must not be empty. Leave it out for no bound.")
    return found


# A mistyped bound that were let pass would not hold: unknown members are refused on both surfaces.
_HOSTS: Final = record({"only": _some_names, "ignore": _NAMES, "order": _NAMES}, refuse=True)
_DATA: Final = record({"regions": _some_names, "no_training": boolean, "zero_retention": boolean}, refuse=True)
_ROUTING: Final = record(
    {
        "policy": named,
        "optimize": one_of(*(objective.value for objective in Objective)),
        "models": _some_names,
        "exclude": _NAMES,
        "providers": _HOSTS,
        "max_cost_micros": integer(0),
        "min_quality": number(0, 1),
        "first_token_ms": integer(1, _LONGEST_MS),
        "deadline_ms": integer(1, _LONGEST_MS),
        "fallback": boolean,
        "data": _DATA,
    },
    refuse=True,
)


def preferences(value: Json, at: At) -> Preferences:
    """What the request prefers.

    Raises:
        InvalidRequest: A member has a wrong type or value.
        Unprocessable: A member is unknown. The object is ours and is sent to nobody, so that this holds on the plain
            surface too, where unknown fields pass elsewhere.
    """
    got = _ROUTING(value, at)
    optimize = got.get("optimize")
    return Preferences(
        policy=got.get("policy"),
        optimize=None if optimize is None else Objective(optimize),
        models=got.get("models"),
        exclude=got.get("exclude", ()),
        providers=HostRules(**got.get("providers", {})),
        max_cost_micros=got.get("max_cost_micros"),
        min_quality=got.get("min_quality"),
        first_token_ms=got.get("first_token_ms"),
        deadline_ms=got.get("deadline_ms"),
        fallback=got.get("fallback"),
        data=DataRules(**got.get("data", {})),
    )
