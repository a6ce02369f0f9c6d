"""What a history looks like once the nulls of known members are taken out of what stands inside its messages."""

from core.chat import Json


def without_nulls_below(messages: list[Json]) -> list[Json]:
    """The messages; each keeps its own nulls, which only codecs read."""
    return [{name: _clean(value) for name, value in message.items()} for message in messages]


def _clean(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _clean(member) for name, member in value.items() if member is not None}
    return [_clean(item) for item in value] if isinstance(value, list) else value
