"""The most that a request can be charged, for caps in money: whatever was estimated low is counted high."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from core.catalog.model import Host
from core.chat import AudioPart, ChatRequest, ImagePart
from core.money import PICO_PER_MICRO, Prices, Rates, Terms
from core.routing.bits import bits_of, places, union
from core.routing.index import MOST_TOKENS, Index
from core.routing.lanes import weighted_sum

_REASK_TOKENS: Final = 64  # the words that ask again, and what a host puts around them
_FIXED_TOKENS: Final = 100  # what a host adds to any prompt

# A host may write any prompt to its cache unasked; the other classes come with what a request holds or asks for.
_ALWAYS_READ: Final = ("input", "cache_write")
_EVER_READ: Final = (*_ALWAYS_READ, "cache_write_5m", "cache_write_1h", "input_audio", "input_image")
_EVER_WRITTEN: Final = ("output", "reasoning", "output_audio")
_CACHE_FIELDS: Final = ("prompt_cache_options", "prompt_cache_retention")

# Whoever asks for these is never served in a dearer one. Elsewhere the host's own setting decides, or the tier has
# another name there: OpenAI serves `fast` as `priority` (its API reference, read 2026-11-30).
_PLAIN_TIERS: Final = ("default", "flex")


def read_rate(rates: Rates, *, unusual: bool) -> int:
    """The dearest rate that a token of the prompt can meet."""
    return max(getattr(rates, name) or 0 for name in (_EVER_READ if unusual else _ALWAYS_READ))


def written_rate(rates: Rates) -> int:
    """The dearest rate that a token of the answer can meet."""
    return max(getattr(rates, name) or 0 for name in _EVER_WRITTEN)


@dataclass(frozen=True, slots=True)
class Worst:
    """The most that a request can use, and what it may cost.

    `output_tokens` bounds one answer. `calls` is 2 where the answer may be asked for again. `is_unusual` tells of
    caching, images or sound, which have rates of their own. `service_tier` is what the request asks for, "" for
    nothing. `limit` is in pico-dollars of the host's price, None for no cap. At `free_vendors` it costs nothing,
    whatever they ask: they are called on the organisation's own key alone.
    """

    prompt_tokens: int
    output_tokens: int
    choices: int
    calls: int
    is_unusual: bool
    service_tier: str
    at_s: float
    limit: Fraction | None
    free_vendors: frozenset[str] = frozenset()

    @property
    def longest_prompt(self) -> int:
        """The longest prompt of a call, in tokens: that of a re-ask has the first answer in it."""
        return self.prompt_tokens + (self.calls - 1) * (self.output_tokens + _REASK_TOKENS)

    def allows(self, prices: Prices, output_limit: int) -> bool:
        """Whether the worst case stays within the cap, where an answer has at most `output_limit` tokens."""
        return self.limit is None or self.dearest(prices, output_limit) <= self.limit

    def dearest(self, prices: Prices, output_limit: int) -> Fraction:
        """What the worst case costs at these prices, in pico-dollars of the host, in the dearest tier of service."""
        calls = self._calls(output_limit)
        return max(
            factor * sum(self._call(own, prompt, answer) for prompt, answer in calls)
            for own, factor in self._tiers(prices)
        )

    def _tiers(self, prices: Prices) -> Iterator[tuple[Prices, Fraction]]:
        """The price lists that the host may go by, each with what it is multiplied by; the usual one always."""
        yield prices, Fraction(1)
        every = (*prices.service_tiers, *prices.service_prices)
        for name in (self.service_tier,) if self.service_tier in _PLAIN_TIERS else every:
            own = prices.service_prices.get(name, prices)
            yield own, own.service_tiers.get(name, Fraction(1))

    def tokens(self, output_limit: int) -> tuple[int, int]:
        """What is read and what is written in all, where an answer has at most `output_limit` tokens."""
        prompts, answers = zip(*self._calls(output_limit), strict=True)
        return sum(prompts), sum(answers)

    def _calls(self, output_limit: int) -> tuple[tuple[int, int], ...]:
        """What each call reads and writes: one that asks again reads the first answer too."""
        answer = min(self.output_tokens, output_limit)
        again = (self.prompt_tokens + answer + _REASK_TOKENS, self.choices * answer)
        return ((self.prompt_tokens, self.choices * answer), again)[: self.calls]

    def _call(self, prices: Prices, prompt: int, answer: int) -> int:
        """What one call costs at the dearest of the lists that its prompt can meet."""
        lists = (prices.base, *(tier.rates for tier in prices.tiers if tier.threshold <= prompt))
        tokens = max(read_rate(each, unusual=self.is_unusual) * prompt + written_rate(each) * answer for each in lists)
        return tokens + prices.beside(tokens)

    def pico(self, input_rate: int, output_rate: int, output_limit: int) -> int:
        """What that costs at these rates."""
        prompt, answer = self.tokens(output_limit)
        return input_rate * prompt + output_rate * answer


def worst_of(
    request: ChatRequest,
    prompt_tokens: int,
    *,
    cap_micros: int | None,
    terms: Terms,
    max_tokens_default: int,
    reasks: bool,
    at_s: float,
    free_vendors: frozenset[str] = frozenset(),
) -> Worst:
    """The most that a request can use.

    Args:
        request: What the caller asks.
        prompt_tokens: What it sends comes to at most.
        cap_micros: The most that it may be charged, in micro-dollars; None for no cap.
        terms: What its organisation pays on top of a host's price.
        max_tokens_default: The bound of an answer whose request sets none, in tokens.
        reasks: Whether an answer without a document is asked for once more.
        at_s: The Unix time whose prices hold, in seconds.
        free_vendors: Those that are called on the organisation's own key alone.
    """
    wants_json = request.response_format is not None and request.response_format.type != "text"
    left = (cap_micros or 0) * PICO_PER_MICRO - terms.guardrail_pico
    return Worst(
        prompt_tokens=min(prompt_tokens + _FIXED_TOKENS, MOST_TOKENS),
        output_tokens=max_tokens_default if request.max_tokens is None else request.max_tokens,
        choices=request.n,
        calls=2 if reasks and wants_json and not request.stream else 1,
        is_unusual=any(name in request.written for name in _CACHE_FIELDS) or _has_unusual_parts(request),
        service_tier=request.service_tier or "",
        at_s=at_s,
        limit=left / terms.factor if terms.factor and cap_micros is not None else None,
        free_vendors=free_vendors,
    )


def free_rows(index: Index, worst: Worst) -> int:
    """The rows that cost nothing here."""
    return union(index.vendors.get(name, 0) for name in worst.free_vendors)


def within_cap(index: Index, worst: Worst) -> int:
    """The rows of known price whose worst case is within the cap, at whatever vendor."""
    if worst.limit is None:
        return index.priced
    limit = int(worst.limit)  # costs at the columns' rates are whole numbers
    inputs = index.worst_unusual_input if worst.is_unusual else index.worst_input
    prompt, answer = worst.tokens(index.outputs.most)
    dear = weighted_sum([(prompt, inputs), (answer, index.worst_output)]).at_least(limit + 1)
    # Those have room for less than the longest answer, so that the sum says too much.
    shorter = dear & index.priced & ~index.outputs.rows(worst.output_tokens)
    special = {**index.special(worst.longest_prompt, worst.service_tier), **index.serviced}
    allowed = [
        row
        for row in places(shorter)
        if worst.pico(inputs.values[row], index.worst_output.values[row], index.output_limits[row]) <= limit
    ]
    within = index.priced & ~dear | bits_of(allowed, index.size)
    return within & ~bits_of(special, index.size) | bits_of(_exactly(index, worst, special), index.size)


def _exactly(index: Index, worst: Worst, special: Mapping[int, Host]) -> Iterator[int]:
    for row, host in special.items():
        prices = host.prices_at(worst.at_s)
        if prices is not None and worst.allows(prices, index.output_limits[row]):
            yield row


def _has_unusual_parts(request: ChatRequest) -> bool:
    return "audio" in request.modalities or any(
        isinstance(part, ImagePart | AudioPart) or getattr(part, "breakpoint", None) is not None
        for message in request.messages
        if not isinstance(message.content, str)
        for part in message.parts
    )
