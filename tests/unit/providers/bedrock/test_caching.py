"""Cache points: how many, and in which order."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.providers.bedrock.caching import MOST_POINTS, settle_points


def text(number: int) -> dict[str, Any]:
    return {"text": str(number)}


def point(ttl: str | None = None) -> dict[str, Any]:
    return {"cachePoint": {"type": "default"} if ttl is None else {"type": "default", "ttl": ttl}}


def test_of_too_many_the_last_ones_stay() -> None:
    first, second = [text(1), point(), text(2), point()], [text(3), point(), point(), point(), text(4)]
    settle_points([first, second], most=4)
    assert first == [text(1), text(2), point()]
    assert second == [text(3), point(), point(), point(), text(4)]


def test_a_point_before_one_of_an_hour_is_of_an_hour() -> None:
    blocks = [text(1), point(), text(2), point("1h"), text(3), point()]
    settle_points([blocks])
    assert blocks == [text(1), point("1h"), text(2), point("1h"), text(3), point()]


BLOCKS = st.lists(st.sampled_from([None, "plain", "1h"]), max_size=5)


@given(st.lists(BLOCKS, max_size=4))
def test_what_stays_is_what_the_service_takes(kinds: list[list[str | None]]) -> None:
    lists = [
        [text(0) if kind is None else point("1h" if kind == "1h" else None) for kind in blocks] for blocks in kinds
    ]
    texts = [sum("text" in block for block in blocks) for blocks in lists]
    settle_points(lists)
    points = [block["cachePoint"].get("ttl", "5m") for blocks in lists for block in blocks if "cachePoint" in block]
    asked = sum(kind is not None for blocks in kinds for kind in blocks)
    assert len(points) == min(asked, MOST_POINTS)
    assert points == sorted(points)  # an hour first
    assert [sum("text" in block for block in blocks) for blocks in lists] == texts
