"""Usage in Anthropic's words, made canonical: cache reads and writes inside the input, thinking inside the output."""

from typing import Final

from core.chat import Json, Usage
from core.providers.answer_labels import count_of, label
from core.providers.base import Outgoing

_HOUR_ASKED: Final = b'"cache_control":{"type":"ephemeral","ttl":"1h"}'


class UsageReader:
    """Reads the reports of one stream. Each is about everything so far; what one leaves out, an earlier one says.

    Args:
        sent: The call; it tells for how long a cache was asked, where the host does not.
    """

    __slots__ = ("_last", "_said", "_sent")

    def __init__(self, sent: Outgoing) -> None:
        self._sent = sent
        self._said: dict[str, Json] = {}
        self._last: Usage | None = None

    def read(self, report: Json) -> Usage | None:
        """The usage as it stands after this report; None when that is nothing new.

        Args:
            report: The host's `usage` object.
        """
        if not isinstance(report, dict):
            return None
        self._said.update((name, value) for name, value in report.items() if value is not None)
        usage = self._usage()
        if usage is None or usage == self._last:
            return None
        self._last = usage
        return usage

    def _usage(self) -> Usage | None:
        said = self._said
        fresh, output = count_of(said, "input_tokens"), count_of(said, "output_tokens")
        if fresh is None and output is None:
            return None
        cached = count_of(said, "cache_read_input_tokens") or 0
        short, long = self._written()
        details = said.get("output_tokens_details")
        thinking = count_of(details, "thinking_tokens") if isinstance(details, dict) else None
        return Usage(
            input_tokens=(fresh or 0) + cached + short + long,
            cached_tokens=cached,
            cache_write_5m_tokens=short,
            cache_write_1h_tokens=long,
            output_tokens=output or 0,
            reasoning_tokens=None if thinking is None else min(thinking, output or 0),
            service_tier=self._tier(),
        )

    def _written(self) -> tuple[int, int]:
        """Tokens written to a cache of five minutes and of an hour. The total is newer than its parts may be."""
        parts = self._said.get("cache_creation")
        parts = parts if isinstance(parts, dict) else {}
        short, long = count_of(parts, "ephemeral_5m_input_tokens"), count_of(parts, "ephemeral_1h_input_tokens")
        total = count_of(self._said, "cache_creation_input_tokens")
        if total is None:
            return short or 0, long or 0
        if short is None and long is None:
            long = total if total and _HOUR_ASKED in self._sent.body else 0
        long = min(long or 0, total)
        return total - long, long

    def _tier(self) -> str | None:
        """What the price hangs on: the speed, where it is not the usual one, else the tier."""
        if self._said.get("speed") == "fast":
            return "fast"
        return label(self._said.get("service_tier"))
