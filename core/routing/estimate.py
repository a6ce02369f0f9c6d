"""What an answer is expected to cost at each host, before anybody was asked: at list prices, in micro-dollars."""

from dataclasses import dataclass
from fractions import Fraction

from core.chat import ChatRequest
from core.money import PICO_PER_MICRO
from core.routing.index import Index
from core.routing.reading import Reading, usual_answer
from core.routing.thought import ThinkingMode, thinking_mode


@dataclass(frozen=True, slots=True)
class Ask:
    """What a request asks of any model, in numbers.

    `answer_tokens` is the usual answer without thinking, never more than `max_tokens`. `at_s` is the Unix time whose
    prices hold.
    """

    prompt_tokens: int
    answer_tokens: int
    max_tokens: int | None
    choices: int
    mode: ThinkingMode
    service_tier: str | None
    at_s: float

    @property
    def room(self) -> int | None:
        """How much a model may think and still have room for half of a usual answer; None without a limit."""
        return None if self.max_tokens is None else self.max_tokens - self.answer_tokens // 2

    def output_tokens(self, reasoning: int) -> int:
        """The expected output of all choices, by a model that thinks so much."""
        one = self.answer_tokens + reasoning
        return self.choices * (one if self.max_tokens is None else min(one, self.max_tokens))


def ask_of(request: ChatRequest, reading: Reading, at_s: float) -> Ask:
    """Put a request into numbers; prices are those of a Unix time in seconds."""
    usual = usual_answer(reading)
    return Ask(
        prompt_tokens=reading.prompt_tokens,
        answer_tokens=usual if request.max_tokens is None else min(usual, request.max_tokens),
        max_tokens=request.max_tokens,
        choices=request.n,
        mode=thinking_mode(request),
        service_tier=request.service_tier,
        at_s=at_s,
    )


def expected_micros(index: Index, row: int, ask: Ask, reasoning: int) -> float | None:
    """The expected cost at a host, None while its price is unknown.

    Args:
        index: Where the row is.
        row: The host.
        ask: What is asked.
        reasoning: What the model is expected to think, in tokens.
    """
    output = ask.output_tokens(reasoning)
    host = index.irregular.get(row)
    if host is None:
        if not index.is_priced[row]:
            return None
        return (index.input.values[row] * ask.prompt_tokens + index.output.values[row] * output) / PICO_PER_MICRO
    prices = host.prices_at(ask.at_s)
    if prices is None:
        return None
    tier = ask.service_tier or ""
    rates = prices.service_prices.get(tier, prices).rates(ask.prompt_tokens)
    pico = rates.input * ask.prompt_tokens + rates.output * output
    return float(pico * prices.service_tiers.get(tier, Fraction(1))) / PICO_PER_MICRO
