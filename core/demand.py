"""The most that a request may take of its limits, for each call that is made for it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from core.accounts.limits import Limited, counts
from core.catalog.model import Target
from core.chat import ChatRequest
from core.counters import MICROS, TOKENS
from core.money import PICO_PER_MICRO, Terms
from core.reservation import Amount
from core.routing.worst import Worst


@dataclass(frozen=True, slots=True)
class Demand:
    """Whose limits a request takes of, what one call may come to at the dearest host of its plan, and what the call may
    come to that asks once more for an answer without a document."""

    limited: tuple[Limited, ...]
    call: Amount
    again: Amount


def demand_of(
    limited: tuple[Limited, ...], worst: Callable[[], Worst], targets: Iterable[Target], terms: Terms
) -> Demand | None:
    """What a request with these limits asks for; None where there are none.

    Args:
        limited: Whose limits they are.
        worst: Tells the most that the request can use; asked only where more than requests is counted.
        targets: The hosts of its plan.
        terms: What its organisation pays on top of their prices.
    """
    if not limited:
        return None
    if not counts(limited, MICROS) and not counts(limited, TOKENS):
        return Demand(limited, Amount(), Amount())
    hosts = tuple(targets)
    whole = worst()
    once = replace(whole, calls=1)
    twice = replace(whole, calls=1, prompt_tokens=whole.longest_prompt)
    call = _most(once, hosts, terms)
    return Demand(limited, call, call if twice == once else _most(twice, hosts, terms))


def within(request: ChatRequest, most_output: int | None, target: Target) -> ChatRequest:
    """A request as it is sent where answers are bounded: with that bound, unless it has one of its own.

    Args:
        request: What the caller asks.
        most_output: The longest answer that is allowed, in tokens, None for any.
        target: Where it is sent.
    """
    if most_output is None or request.max_tokens is not None:
        return request
    limit = min(most_output, target.max_output_tokens)
    return replace(request, max_tokens=limit, written={**request.written, "max_tokens": limit})


def _most(worst: Worst, targets: Sequence[Target], terms: Terms) -> Amount:
    micros, tokens = 0, 0
    for target in targets:
        tokens = max(tokens, sum(worst.tokens(target.max_output_tokens)))
        # On its own account an organisation pays the host itself.
        prices = target.host.prices_at(worst.at_s) if target.owner is None else None
        if prices is not None:
            pico = worst.dearest(prices, target.max_output_tokens) * terms.factor + terms.guardrail_pico
            micros = max(micros, -int(-pico // PICO_PER_MICRO))
    return Amount(micros, tokens)
