"""What an answer is expected to cost at each host, before anybody was asked."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.chat import ChatRequest
from core.money import PICO_PER_MICRO
from core.routing.index import MOST_TOKENS, Index
from core.routing.lanes import Sums, weighted_sum
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


def ask_of(request: ChatRequest, reading: Reading, at_s: float) -> Ask:
    """Put a request into numbers; prices are those of a Unix time in seconds."""
    usual = usual_answer(reading)
    return Ask(
        prompt_tokens=min(reading.prompt_tokens, MOST_TOKENS),
        answer_tokens=usual if request.max_tokens is None else min(usual, request.max_tokens),
        max_tokens=request.max_tokens,
        choices=request.n,
        mode=thinking_mode(request),
        service_tier=request.service_tier,
        at_s=at_s,
    )


class Costs:
    """The expected cost of an answer at every host, at list prices.

    Args:
        index: Where the hosts are.
        ask: What is asked.
    """

    __slots__ = ("_ask", "_index", "_reasoning", "_rough", "_special")

    def __init__(self, index: Index, ask: Ask) -> None:
        self._index = index
        self._ask = ask
        self._special = index.special(ask.prompt_tokens, ask.service_tier)
        self._rough: Sums | None = None
        self._reasoning = index.reasoning[ask.mode]

    def rough(self) -> Sums:
        """The costs in pico-dollars, without limits, context tiers and the like; 0 where no price is known."""
        if self._rough is None:
            ask, index = self._ask, self._index
            self._rough = weighted_sum(
                [
                    (ask.prompt_tokens, index.input),
                    (ask.choices * ask.answer_tokens, index.output),
                    (ask.choices, index.thought[ask.mode]),
                ]
            )
        return self._rough

    @property
    def are_usual(self) -> bool:
        """Whether all hosts are asked at their usual rates, but for those that have others at other times."""
        return self._special is self._index.changing

    def micros(self, rows: Sequence[int]) -> dict[int, float]:
        """The cost at each of these hosts in micro-dollars, without those whose price is unknown."""
        ask, index = self._ask, self._index
        priced = [row for row in rows if index.is_priced[row]]
        if ask.max_tokens is None and (self._rough is not None or 4 * len(priced) > index.size):
            pico = self.rough().values
            found = {row: pico[row] / PICO_PER_MICRO for row in priced}
        else:
            found = self._one_by_one(priced)
        for row in self._special.keys() & found.keys():
            micros = self._special_micros(row)
            if micros is None:
                del found[row]
            else:
                found[row] = micros
        return found

    def _one_by_one(self, rows: Sequence[int]) -> dict[int, float]:
        prompt, output = self._ask.prompt_tokens, self._output_tokens
        read, written = self._index.input.values, self._index.output.values
        return {row: (read[row] * prompt + written[row] * output(row)) / PICO_PER_MICRO for row in rows}

    def _special_micros(self, row: int) -> float | None:
        ask = self._ask
        prices = self._special[row].prices_at(ask.at_s)
        if prices is None:
            return None
        tier = ask.service_tier or ""
        own = prices.service_prices.get(tier, prices)
        rates = own.rates(ask.prompt_tokens)
        tokens = rates.input * ask.prompt_tokens + rates.output * self._output_tokens(row)
        return (tokens + own.beside(tokens)) * float(prices.service_tiers.get(tier, 1)) / PICO_PER_MICRO

    def _output_tokens(self, row: int) -> int:
        """The expected output of all choices, by a model that thinks as much as this one does."""
        ask = self._ask
        one = ask.answer_tokens + self._reasoning[row]
        return ask.choices * (one if ask.max_tokens is None else min(one, ask.max_tokens))
