"""The usage of an answer whose host told none: an estimate, marked as one, never beyond what could have been used."""

from core.catalog.model import Target
from core.chat import ChatRequest, Usage
from core.routing.facts import facts_of
from core.seen import Seen
from core.tokens import estimated_tokens


def estimated_usage(request: ChatRequest, seen: Seen, target: Target) -> Usage:
    """What an answer at `target` used, by what was asked and what went by."""
    limit = request.max_tokens or target.max_output_tokens
    return Usage(
        input_tokens=min(facts_of(request).prompt_tokens, target.context_tokens),
        output_tokens=min(estimated_tokens(seen.text_bytes), limit * request.n),
        estimated=True,
    )
