"""Headers that tell of limits."""

import pytest

from core.reservation import Window
from core.surfaces.headers import duration, limit_headers


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0, "0s"), (0.2, "1s"), (1, "1s"), (59.5, "1m0s"), (360, "6m0s"), (3_600, "1h0m0s"), (2_678_399, "743h59m59s")],
)
def test_times_are_written_as_openai_does(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_what_is_not_limited_has_no_header() -> None:
    assert limit_headers(None, None) == {}
    assert limit_headers(None, Window(400, 12, 7.0)) == {
        "x-ratelimit-limit-tokens": "400",
        "x-ratelimit-remaining-tokens": "12",
        "x-ratelimit-reset-tokens": "7s",
    }
