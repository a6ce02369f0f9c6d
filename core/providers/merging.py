"""Merges members into a request body, object by object; it knows no format."""

from collections.abc import Mapping

from core.chat import Json


def merged(body: Mapping[str, Json], members: Mapping[str, Json]) -> dict[str, Json]:
    """The body with more members; objects on both sides are merged, else the new member wins."""
    both = dict(body)
    for name, value in members.items():
        if isinstance(value, Mapping):
            old = both.get(name)
            value = merged(old if isinstance(old, Mapping) else {}, value)
        both[name] = value
    return both
