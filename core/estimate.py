"""The usage of an answer whose host told none: an estimate, marked as one, never beyond what could have been used."""

from fractions import Fraction

from core.catalog.model import Target
from core.chat import ChatRequest, Usage
from core.decision import Decision
from core.money import PICO_PER_MICRO, price
from core.routing.facts import prompt_tokens
from core.seen import Seen
from core.tokens import estimated_tokens


def estimated_usage(request: ChatRequest, seen: Seen, target: Target) -> Usage:
    """What an answer at `target` used, by what was asked and what went by."""
    limit = request.max_tokens or target.max_output_tokens
    return Usage(
        input_tokens=min(prompt_tokens(request), target.context_tokens),
        output_tokens=min(estimated_tokens(seen.text_bytes), limit * request.n),
        estimated=True,
    )


def likely_pico(request: ChatRequest, decision: Decision, target: Target, at_s: float) -> Fraction | None:
    """What a host that begins to answer probably asks for it, in pico-dollars; None while its price is unknown.

    Args:
        request: What is answered.
        decision: What its model's answer was expected to cost; where that was not asked, the input alone counts.
        target: The host.
        at_s: Unix time in seconds whose prices hold.
    """
    expected = next((each for each in decision.alternatives if each.model == target.model.id), None)
    if expected is not None and expected.estimated_cost_micros is not None:
        return Fraction(expected.estimated_cost_micros * PICO_PER_MICRO)
    prices = target.host.prices_at(at_s)
    return None if prices is None else price(estimated_usage(request, Seen(), target), prices).total
