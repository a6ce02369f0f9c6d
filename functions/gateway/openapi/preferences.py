"""The `routing` object of a request as schemas. It is closed on both surfaces: a mistyped bound would not hold."""

from core.decision import Objective
from functions.gateway.openapi.shapes import (
    LARGEST_COUNT,
    Schema,
    array,
    flag,
    nullable,
    number,
    record,
    ref,
    text,
    whole,
    words,
)

_LONGEST_MS = 86_400_000


def preference_schemas() -> dict[str, Schema]:
    """The components that describe preferences."""
    return {
        "RoutingPreferences": _closed(
            {
                "policy": text("One of the policies that the key may use.", least=1),
                "optimize": words(
                    *(objective.value for objective in Objective), about="What the choice is to be best at."
                ),
                "models": _names("Only these models.", least=1),
                "exclude": _names("Not these models."),
                "providers": ref("HostPreferences", "Which hosts may serve."),
                "max_cost_micros": whole(
                    "Cap on the worst-case charge of this request, in micro-dollars.", low=0, high=LARGEST_COUNT
                ),
                "min_quality": number(
                    "Floor on the expected quality for the task. It binds `auto` alone: a model that is named is used "
                    "whatever its quality.",
                    low=0,
                    high=1,
                ),
                "first_token_ms": whole(
                    "Shortens the time in which an attempt must bring its first token.", low=1, high=_LONGEST_MS
                ),
                "deadline_ms": whole("Shortens the time for the whole request.", low=1, high=_LONGEST_MS),
                "fallback": flag("`false`: one attempt only."),
                "data": ref("DataPreferences", "What hosts must promise about data."),
            },
            "Narrows what the policy of the key allows, and never widens it.",
        ),
        "HostPreferences": _closed(
            {
                "only": _names("Only these.", least=1),
                "ignore": _names("Not these."),
                "order": _names("These first, in this order."),
            },
            "Hosts by the operator's names for them.",
        ),
        "DataPreferences": _closed(
            {
                "regions": _names("One of these regions.", least=1),
                "no_training": flag("The host does not train on what it is sent."),
                "zero_retention": flag("The host keeps nothing of it."),
            },
            "Promises that a host must make.",
        ),
    }


def _names(about: str, *, least: int | None = None) -> Schema:
    return array(text(least=1), about, least=least)


def _closed(members: dict[str, Schema], about: str) -> Schema:
    shapes = {name: nullable(shape) for name, shape in members.items()}
    return record(shapes, about=about, additionalProperties=False)
