"""Prices times usage, in whole pico-dollars, rounded once to the micro-dollars that a caller is charged.

A price of one US dollar per million tokens is 1,000,000 pico-dollars a token; the cheapest cached token costs about
two thousand. Nothing here is a float.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from core.chat import Usage

PICO_PER_MICRO = 1_000_000


def pico_per_token(usd_per_million: Decimal) -> int:
    """Turn a list price in US dollars per million tokens into pico-dollars per token.

    Raises:
        ValueError: The price is negative, not a number, or finer than a pico-dollar a token.
    """
    return _whole_pico(usd_per_million, decimal_places=6)


def pico_per_request(usd: Decimal) -> int:
    """Turn a list price in US dollars for a request into pico-dollars.

    Raises:
        ValueError: The price is negative, not a number, or finer than a pico-dollar.
    """
    return _whole_pico(usd, decimal_places=12)


def _whole_pico(price: Decimal, *, decimal_places: int) -> int:
    if not price.is_finite() or price < 0:
        raise ValueError("a price is a number that is not negative")
    pico = price * 10**decimal_places
    if pico != pico.to_integral_value():
        raise ValueError(f"a price has at most {decimal_places} decimal places")
    return int(pico)


@dataclass(frozen=True, slots=True)
class Rates:
    """Pico-dollars per token for each class of token.

    A class whose rate is None is charged like the class that it is part of: cached and written input and audio and
    images like input, one-hour and five-minute cache writes like untimed ones, audio output like output. `reasoning`
    likewise falls back to output.
    """

    input: int
    output: int
    cached: int | None = None
    cache_write: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    input_audio: int | None = None
    input_image: int | None = None
    reasoning: int | None = None
    output_audio: int | None = None


@dataclass(frozen=True, slots=True)
class ContextTier:
    """Rates for the whole request once its input passes `threshold` tokens (cached and written tokens included)."""

    threshold: int
    operator: Literal[">", ">="]
    rates: Rates

    def applies(self, input_tokens: int) -> bool:
        """Whether a request with that much input is in this tier."""
        return input_tokens > self.threshold or (self.operator == ">=" and input_tokens == self.threshold)


@dataclass(frozen=True, slots=True)
class Prices:
    """What a host asks for a model: base rates, context tiers by rising threshold, and what a service tier changes.

    `per_request` is asked for every call beside its tokens, and a call costs `minimum` at least, both in pico-dollars
    (fees of searching models; floors such as Groq's ten seconds of sound; sources read 2026-12-01). `service_tiers` are
    multipliers of everything; `service_prices` whole price lists, for the service tiers whose classes of token share no
    multiplier.
    """

    base: Rates
    tiers: tuple[ContextTier, ...] = ()
    service_tiers: Mapping[str, Fraction] = field(default_factory=dict)
    service_prices: Mapping[str, "Prices"] = field(default_factory=dict)
    per_request: int = 0
    minimum: int = 0

    def rates(self, input_tokens: int) -> Rates:
        """The rates of a request with that much input."""
        chosen = self.base
        for tier in self.tiers:
            if tier.applies(input_tokens):
                chosen = tier.rates
        return chosen

    def beside(self, tokens: int) -> int:
        """What a call costs beside its tokens, which come to so many pico-dollars: the fee, or what a minimum lacks."""
        return max(self.per_request, self.minimum - tokens)


@dataclass(frozen=True, slots=True)
class Cost:
    """A host's price for one call, in pico-dollars (exact; a service tier may leave a fraction).

    `request` is what it asks for the call itself, whatever its tokens come to.
    """

    input: Fraction
    output: Fraction
    request: Fraction = Fraction(0)

    @property
    def total(self) -> Fraction:
        """All parts together."""
        return self.input + self.output + self.request

    def __add__(self, other: "Cost") -> "Cost":
        """Both calls together."""
        return Cost(self.input + other.input, self.output + other.output, self.request + other.request)


NO_COST = Cost(Fraction(0), Fraction(0))


def price(usage: Usage, prices: Prices) -> Cost:
    """What a host charges for a call, exactly.

    Each token is counted in one class: reads and writes of a cache, audio and images are taken out of the input,
    reasoning and audio out of the output (wire reference, section 10.2, read 2026-11-30). A host that reports more
    parts than its total is charged for the parts. Where it reports no token at all, nothing was bought: neither a fee
    nor a minimum is due.
    """
    prices = prices.service_prices.get(usage.service_tier or "", prices)
    rates = prices.rates(usage.input_tokens)
    write = _or(rates.cache_write, rates.input)
    input_parts = (
        (usage.cached_tokens, _or(rates.cached, rates.input)),
        (usage.cache_write_tokens, write),
        (usage.cache_write_5m_tokens, _or(rates.cache_write_5m, write)),
        (usage.cache_write_1h_tokens, _or(rates.cache_write_1h, write)),
        (usage.input_audio_tokens, _or(rates.input_audio, rates.input)),
        (usage.input_image_tokens, _or(rates.input_image, rates.input)),
    )
    output_parts = (
        (usage.reasoning_tokens or 0, _or(rates.reasoning, rates.output)),
        (usage.output_audio_tokens, _or(rates.output_audio, rates.output)),
    )
    factor = prices.service_tiers.get(usage.service_tier or "")
    read = _sum(usage.input_tokens, rates.input, input_parts)
    written = _sum(usage.output_tokens, rates.output, output_parts)
    is_used = usage.total_tokens or any(tokens for tokens, _ in (*input_parts, *output_parts))
    beside = prices.beside(read + written) if is_used else 0
    if factor is None:
        return Cost(Fraction(read), Fraction(written), Fraction(beside))
    return Cost(factor * read, factor * written, factor * beside)


_NOTHING = Fraction(0)


@dataclass(frozen=True, slots=True)
class Terms:
    """What an organisation pays on top of a host's price.

    `markup` and `discount` are exact shares (0.05 is `Fraction(1, 20)`), `guardrail_pico` pico-dollars for checks.
    `provider_cost` is False where the caller pays the provider directly (own key) or pays nothing (free plan).
    """

    markup: Fraction = Fraction(0)
    discount: Fraction = Fraction(0)
    guardrail_pico: int = 0
    provider_cost: bool = True

    @property
    def factor(self) -> Fraction:
        """What a host's price is multiplied by; 0 where nothing of it is charged, whatever it is."""
        return _factor(self.markup, self.discount) if self.provider_cost else _NOTHING


@dataclass(frozen=True, slots=True)
class Charge:
    """What a request is charged, in whole micro-dollars; the parts add up to the total."""

    total: int
    input: int
    output: int
    guardrail: int = 0
    request: int = 0


def charge(costs: Sequence[Cost], terms: Terms) -> Charge:
    """The charge for a request: its calls' costs, markup, discount and checks, rounded once, half up.

    The rounded parts are reconciled to the rounded total by largest remainder (ties: input, output, guardrail,
    request).
    """
    first, *others = costs or (NO_COST,)
    cost = sum(others, first)
    factor = terms.factor
    # In whole numbers over one denominator: exact as fractions are, at a tenth of their price.
    over = math.lcm(cost.input.denominator, cost.output.denominator, cost.request.denominator) * factor.denominator
    read, written, asked = (
        part.numerator * (over // (part.denominator * factor.denominator)) * factor.numerator
        for part in (cost.input, cost.output, cost.request)
    )
    exact = (read, written, terms.guardrail_pico * over, asked)
    micro = over * PICO_PER_MICRO
    total = (2 * sum(exact) + micro) // (2 * micro)
    parts = [part // micro for part in exact]
    by_remainder = sorted(range(len(exact)), key=lambda index: (-(exact[index] % micro), index))
    for index in by_remainder[: total - sum(parts)]:
        parts[index] += 1
    return Charge(total, *parts)


@lru_cache(maxsize=1024)
def _factor(markup: Fraction, discount: Fraction) -> Fraction:
    return (1 + markup) * (1 - discount)


def dollars(micros: int) -> float:
    """Micro-dollars as US dollars, for people and JSON; the integer stays the truth."""
    return micros / 1_000_000


def _sum(total: int, rate: int, parts: tuple[tuple[int, int], ...]) -> int:
    plain = max(0, total - sum(tokens for tokens, _ in parts))
    return plain * rate + sum(tokens * part_rate for tokens, part_rate in parts)


def _or(rate: int | None, fallback: int) -> int:
    return fallback if rate is None else rate
