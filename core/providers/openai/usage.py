"""Usage of every OpenAI dialect, made canonical: cached tokens inside the input, reasoning inside the output."""

from collections.abc import Mapping
from typing import Final

from core.chat import Json, Usage
from core.providers.answer_labels import count_of, label

# Kept for the caller, without a price of their own.
_INPUT_EXTRAS: Final = ("text_tokens",)
_OUTPUT_EXTRAS: Final = ("text_tokens", "accepted_prediction_tokens", "rejected_prediction_tokens")


class UsageReader:
    """Reads the reports of one stream. Each is about everything so far; what one leaves out, an earlier one may say."""

    __slots__ = ("_last", "_said", "_tier")

    def __init__(self) -> None:
        self._said: dict[str, Json] = {}
        self._tier: str | None = None
        self._last: Usage | None = None

    def read(self, report: Mapping[str, Json], tier: Json) -> Usage | None:
        """The usage as it stands after this report; None when that is nothing new.

        Args:
            report: The host's `usage` object; empty to tell a tier alone.
            tier: The answer's `service_tier`.
        """
        for name, value in report.items():
            if value is not None:
                self._said[name] = value
        self._tier = label(tier) or label(self._said.get("service_tier")) or self._tier
        usage = usage_of(self._said, self._tier) if self._said else None
        if usage is None or usage == self._last:
            return None
        self._last = usage
        return usage


def usage_of(said: Mapping[str, Json], tier: str | None) -> Usage | None:
    """One usage object; None when it counts nothing at all.

    Dialects (wire reference, 10.1 and 15, read 2026-11-30): DeepSeek's hits and misses, Kimi's `cached_tokens` at the
    top, xAI's output without its reasoning. The last shows when only all three together make the total.
    """
    read = _details(said, "prompt_tokens_details")
    made = _details(said, "completion_tokens_details")
    hits, misses = count_of(said, "prompt_cache_hit_tokens"), count_of(said, "prompt_cache_miss_tokens")
    prompt = count_of(said, "prompt_tokens")
    if prompt is None and (hits is not None or misses is not None):
        prompt = (hits or 0) + (misses or 0)
    completion = count_of(said, "completion_tokens")
    if prompt is None and completion is None:
        return None
    reasoning = count_of(made, "reasoning_tokens")
    output = completion or 0
    if reasoning and count_of(said, "total_tokens") == (prompt or 0) + output + reasoning:
        output += reasoning
    read_all = prompt or 0
    reads = (count_of(read, "cached_tokens"), hits, count_of(said, "cached_tokens"))
    cached = min(next((count for count in reads if count), 0), read_all)
    audio = min(count_of(read, "audio_tokens") or 0, read_all)
    return Usage(
        input_tokens=read_all,
        cached_tokens=cached,
        cache_write_tokens=min(count_of(read, "cache_write_tokens") or 0, read_all - cached),
        input_audio_tokens=audio,
        input_image_tokens=min(count_of(read, "image_tokens") or 0, read_all - audio),
        output_tokens=output,
        reasoning_tokens=None if reasoning is None else min(reasoning, output),
        output_audio_tokens=min(count_of(made, "audio_tokens") or 0, output),
        service_tier=tier,
        extra=_extra(read, made),
    )


def _extra(read: Mapping[str, Json], made: Mapping[str, Json]) -> dict[str, Json]:
    extra = {
        "prompt_tokens_details": _counts(read, _INPUT_EXTRAS),
        "completion_tokens_details": _counts(made, _OUTPUT_EXTRAS),
    }
    return {name: counts for name, counts in extra.items() if counts}


def _counts(details: Mapping[str, Json], names: tuple[str, ...]) -> dict[str, int]:
    return {name: count for name in names if (count := count_of(details, name)) is not None}


def _details(said: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    details = said.get(name)
    return details if isinstance(details, dict) else {}
