"""Limits to test with: one organisation, one of its keys, and requests that take of both."""

from collections.abc import Mapping

from core.counters import MICROS, PARALLEL, REQUESTS, TOKENS, day_counter, minute_counter, month_counter
from core.reservation import ORGANISATION, Counters, Reservation, key_subject
from tests.contracts.values import LEASE_MS, NOW_MS, request_id

KEY = key_subject("key_1")
DAY = day_counter(MICROS, NOW_MS)
MONTH = month_counter(MICROS, NOW_MS)
DAY_REQUESTS = day_counter(REQUESTS, NOW_MS)
MINUTE_TOKENS = minute_counter(TOKENS, NOW_MS)
ROOM = 10


def asking(number: int, *subjects: str, micros: int = 5, org: str = "acme", at_ms: int = NOW_MS) -> Reservation:
    """What a request asks for at these subjects (the key's, unless others are named)."""
    amounts = {DAY: micros, MONTH: micros, DAY_REQUESTS: 1, MINUTE_TOKENS: 2 * micros, PARALLEL: 1}
    return Reservation(org, request_id(number), at_ms + LEASE_MS, dict.fromkeys(subjects or (KEY,), amounts))


def room_for(requests: int, *subjects: str, micros: int = 5) -> Mapping[str, Counters]:
    """Bounds that so many of those requests fit into."""
    return {subject: {DAY: requests * micros, DAY_REQUESTS: 1_000} for subject in subjects or (KEY,)}


BOTH = (KEY, ORGANISATION)
