"""Gemini's usage made canonical: cached tokens inside the input, thoughts inside the output.

Wire reference, sections 10 and 15, read 2026-11-30.
"""

from collections.abc import Mapping
from typing import Final

from core.chat import Json, Usage
from core.providers.answer_labels import count_of, label

_OPENAI_WORDS: Final[Mapping[str, str]] = {
    "standard": "default",
    "ON_DEMAND": "default",
    "ON_DEMAND_FLEX": "flex",
    "ON_DEMAND_OFFPEAK": "offpeak",
    "ON_DEMAND_PRIORITY": "priority",
    "PROVISIONED_THROUGHPUT": "scale",
}
_UNKNOWN: Final = frozenset({"unspecified", "TRAFFIC_TYPE_UNSPECIFIED"})


class UsageReader:
    """Reads the reports of one stream. Each is about everything so far; what one leaves out, an earlier one may say.

    Args:
        tier: The service tier that the answer's headers name, or None.
    """

    __slots__ = ("_last", "_report", "_said", "tier")

    def __init__(self, tier: str | None) -> None:
        self.tier = _tier(tier)
        self._said: dict[str, Json] = {}
        self._last: Usage | None = None
        self._report: Json = None

    def read(self, report: Json) -> Usage | None:
        """The usage as it stands after this report; None when that is nothing new."""
        if not isinstance(report, dict) or report == self._report:
            return None
        self._report = report
        self._said |= {name: value for name, value in report.items() if value is not None}
        self.tier = _tier(self._said.get("trafficType")) or _tier(self._said.get("serviceTier")) or self.tier
        usage = usage_of(self._said, self.tier)
        if usage is None or usage == self._last:
            return None
        self._last = usage
        return usage


def usage_of(said: Mapping[str, Json], tier: str | None) -> Usage | None:
    """One `usageMetadata`; None when it counts nothing at all."""
    prompt, answer = count_of(said, "promptTokenCount"), count_of(said, "candidatesTokenCount")
    thoughts, results = count_of(said, "thoughtsTokenCount"), count_of(said, "toolUsePromptTokenCount")
    if prompt is None and answer is None and thoughts is None:
        return None
    tokens_in, tokens_out = (prompt or 0) + (results or 0), answer or 0
    # Thoughts are counted apart, unless the total says that they are part of the answer.
    apart = count_of(said, "totalTokenCount") != tokens_in + tokens_out or (thoughts or 0) > tokens_out
    read, made = _modalities(said, "promptTokensDetails"), _modalities(said, "candidatesTokensDetails")
    cached = _modalities(said, "cacheTokensDetails")
    # What was cached is counted, and priced, as that.
    audio = min(max(0, read.get("AUDIO", 0) - cached.get("AUDIO", 0)), tokens_in)
    image = max(0, read.get("IMAGE", 0) - cached.get("IMAGE", 0))
    output = tokens_out + (thoughts or 0) * apart
    return Usage(
        input_tokens=tokens_in,
        cached_tokens=min(count_of(said, "cachedContentTokenCount") or 0, tokens_in),
        input_audio_tokens=audio,
        input_image_tokens=min(image, tokens_in - audio),
        output_tokens=output,
        reasoning_tokens=thoughts or 0,
        output_audio_tokens=min(made.get("AUDIO", 0), output),
        service_tier=tier,
        extra=_extra(read, made),
    )


def _extra(read: Mapping[str, int], made: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """The counts without a price of their own, by OpenAI's names."""
    sides = {"prompt_tokens_details": read, "completion_tokens_details": made}
    return {name: {"text_tokens": counts["TEXT"]} for name, counts in sides.items() if "TEXT" in counts}


def _modalities(said: Mapping[str, Json], name: str) -> dict[str, int]:
    entries = said.get(name)
    counts: dict[str, int] = {}
    if not isinstance(entries, list):
        return counts
    for entry in entries:
        count = count_of(entry, "tokenCount") if isinstance(entry, dict) else None
        if count is not None and isinstance(entry.get("modality"), str):
            counts[entry["modality"]] = count
    return counts


def _tier(word: Json) -> str | None:
    known = label(word)
    return None if known is None or known in _UNKNOWN else _OPENAI_WORDS.get(known, known)
