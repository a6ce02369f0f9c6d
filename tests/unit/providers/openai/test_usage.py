"""Usage of every dialect."""

from typing import Any

import pytest

from core.chat import Usage
from core.providers.openai.usage import UsageReader, usage_of


@pytest.mark.parametrize(
    ("said", "usage"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}, Usage(9, output_tokens=2)),
        ({"prompt_tokens": 9}, Usage(9)),
        ({"completion_tokens": 2}, Usage(output_tokens=2)),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 50,
                "prompt_tokens_details": {
                    "cached_tokens": 40,
                    "cache_write_tokens": 20,
                    "audio_tokens": 5,
                    "image_tokens": 6,
                    "text_tokens": 89,
                },
                "completion_tokens_details": {"reasoning_tokens": 30, "audio_tokens": 4, "text_tokens": 16},
            },
            Usage(
                100,
                cached_tokens=40,
                cache_write_tokens=20,
                input_audio_tokens=5,
                input_image_tokens=6,
                output_tokens=50,
                reasoning_tokens=30,
                output_audio_tokens=4,
                extra={
                    "prompt_tokens_details": {"text_tokens": 89},
                    "completion_tokens_details": {"text_tokens": 16},
                },
            ),
        ),
        # DeepSeek
        (
            {"prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36, "completion_tokens": 1},
            Usage(100, cached_tokens=64, output_tokens=1),
        ),
        ({"prompt_cache_miss_tokens": 36}, Usage(36)),
        ({"prompt_cache_hit_tokens": 36}, Usage(36, cached_tokens=36)),
        # Kimi
        ({"prompt_tokens": 9, "completion_tokens": 1, "cached_tokens": 4}, Usage(9, cached_tokens=4, output_tokens=1)),
        # xAI: reasoning beside the completion, recorded
        (
            {
                "prompt_tokens": 19,
                "completion_tokens": 6,
                "total_tokens": 198,
                "completion_tokens_details": {"reasoning_tokens": 173},
            },
            Usage(19, output_tokens=179, reasoning_tokens=173),
        ),
        # the same when it is inside
        (
            {
                "prompt_tokens": 19,
                "completion_tokens": 179,
                "total_tokens": 198,
                "completion_tokens_details": {"reasoning_tokens": 173},
            },
            Usage(19, output_tokens=179, reasoning_tokens=173),
        ),
        # no total to tell: OpenAI's rule holds
        (
            {"prompt_tokens": 19, "completion_tokens": 6, "completion_tokens_details": {"reasoning_tokens": 3}},
            Usage(19, output_tokens=6, reasoning_tokens=3),
        ),
        ({"prompt_tokens": 9.0, "completion_tokens": 2}, Usage(9, output_tokens=2)),
        ({"prompt_tokens": "9", "completion_tokens": 2}, Usage(9, output_tokens=2)),
        ({"prompt_tokens": True, "completion_tokens": 2.5}, None),
        ({"prompt_tokens": -1}, None),
        ({"prompt_tokens": 2**53, "completion_tokens": "9" * 40}, None),
        # parts inside their totals
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 4,
                "prompt_tokens_details": {
                    "cached_tokens": 7,
                    "cache_write_tokens": 9,
                    "audio_tokens": 8,
                    "image_tokens": 8,
                },
                "completion_tokens_details": {"reasoning_tokens": 5, "audio_tokens": 6},
            },
            Usage(
                9,
                cached_tokens=7,
                cache_write_tokens=2,
                input_audio_tokens=8,
                input_image_tokens=1,
                output_tokens=4,
                reasoning_tokens=4,
                output_audio_tokens=4,
            ),
        ),
        ({"prompt_tokens": 9, "prompt_tokens_details": None, "completion_tokens_details": []}, Usage(9)),
        ({"total_tokens": 11}, None),
        ({}, None),
    ],
)
def test_usage_is_canonical(said: dict[str, Any], usage: Usage | None) -> None:
    assert usage_of(said, None) == usage


def test_reports_are_about_everything_so_far() -> None:
    reader = UsageReader()
    assert reader.read({"prompt_tokens": 9, "completion_tokens": 1}, None) == Usage(9, output_tokens=1)
    assert reader.read({"prompt_tokens": 9, "completion_tokens": 1}, None) is None
    assert reader.read({"completion_tokens": 4}, None) == Usage(9, output_tokens=4)
    assert reader.read({"prompt_tokens": None, "completion_tokens": 5}, None) == Usage(9, output_tokens=5)


def test_the_tier_is_the_answers_then_the_reports() -> None:
    assert UsageReader().read({"prompt_tokens": 1, "service_tier": "flex"}, None) == Usage(1, service_tier="flex")
    assert UsageReader().read({"prompt_tokens": 1, "service_tier": "flex"}, "priority") == Usage(
        1, service_tier="priority"
    )
    assert UsageReader().read({"prompt_tokens": 1}, {"odd": 1}) == Usage(1)
    assert UsageReader().read({}, "priority") is None
