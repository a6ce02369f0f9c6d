"""Which of several stated limits to believe."""

from collections import Counter
from collections.abc import Sequence

from functions.local.catalog.sources.offer import Offer


def window(offers: Sequence[Offer]) -> int | None:
    """The context window, in tokens, or None when nobody states it: what most sources say, else the first."""
    stated = windows(offers)
    return Counter(stated).most_common(1)[0][0] if stated else None


def windows(offers: Sequence[Offer]) -> list[int]:
    """What each source that states a window means by it, in their order.

    Some give the room for input alone: where that and the longest answer make up another source's number, they mean
    the same window.
    """
    stated = [offer for offer in offers if offer.context_tokens is not None]
    numbers = {offer.context_tokens for offer in stated}
    meant = [(offer.context_tokens or 0) + (offer.max_output_tokens or 0) for offer in stated]
    return [
        whole if whole in numbers else offer.context_tokens or 0 for offer, whole in zip(stated, meant, strict=True)
    ]


def longest_answer(offers: Sequence[Offer]) -> int | None:
    """The longest answer, in tokens: what the first source says that knows it."""
    return next((offer.max_output_tokens for offer in offers if offer.max_output_tokens is not None), None)
