"""What requests add up to: by organisation, key, model, task and quarter of an hour; values and pure arithmetic.

A quarter of an hour is the longest time of which every zone's hours and days are made: all offsets in use are whole
quarters (IANA time zone database 2026b).
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import Enum
from operator import add, attrgetter, neg

from core.record import LOST, Record

QUARTER_MS = 900_000
OPENING_MS = 30_000
"""How long it may take until a request that came in has its open record in the store, at most."""

FAULTY = frozenset({"failed", "interrupted", LOST})
"""Outcomes of requests that count as errors; a caller who leaves is none."""

MOST = 2**53
"""The most that one request adds to a count: what a host makes up must not spoil the sums."""


class By(Enum):
    """What totals can be told apart by."""

    KEY = "key"
    MODEL = "model"
    TASK = "task"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Bucket:
    """Where a request is counted. `quarter` is the number of the quarter hour since 1970 in which it came in.

    Empty names are those that a request does not have, and zero and empty stand for what totals are not told apart by.
    """

    quarter: int = 0
    key_id: str = ""
    model: str = ""
    task: str = ""


@dataclass(frozen=True, slots=True)
class Counts:
    """What requests used. Money is in micro-dollars; `unpriced` counts requests of unknown price, whose charge is in no
    sum; cached, written, audio and image tokens are part of the input, reasoning and audio of the output."""

    requests: int = 0
    errors: int = 0
    unpriced: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    input_audio_tokens: int = 0
    input_image_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    output_audio_tokens: int = 0
    cost_micros: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        """Both together."""
        return Counts(*map(add, in_order(self), in_order(other)))

    def __neg__(self) -> "Counts":
        """What undoes it."""
        return Counts(*map(neg, in_order(self)))


COUNTS = tuple(field.name for field in fields(Counts))
"""The names of all counts, in order."""

in_order = attrgetter(*COUNTS)
"""Gives all counts, in order."""

NOTHING = Counts()


@dataclass(frozen=True, slots=True)
class Total:
    """A sum and where it is counted."""

    bucket: Bucket
    counts: Counts


def counted(record: Record) -> Total:
    """What a settled record adds, and where; a request that nothing served is counted at the model ranked first."""
    usage, charge = record.usage, record.charge
    bucket = Bucket(
        quarter=record.created_ms // QUARTER_MS,
        key_id=record.key_id,
        model=record.model or _word(record, "pick"),
        task=_word(record, "task"),
    )
    counts = Counts(
        requests=1,
        errors=int(record.outcome in FAULTY),
        unpriced=int(charge is None),
        cost_micros=0 if charge is None else charge.total,
    )
    if usage is not None:
        counts += Counts(
            input_tokens=usage.input_tokens,
            cached_tokens=usage.cached_tokens,
            cache_write_tokens=usage.cache_write_tokens + usage.cache_write_5m_tokens + usage.cache_write_1h_tokens,
            input_audio_tokens=usage.input_audio_tokens,
            input_image_tokens=usage.input_image_tokens,
            output_tokens=usage.output_tokens,
            reasoning_tokens=usage.reasoning_tokens or 0,
            output_audio_tokens=usage.output_audio_tokens,
        )
    return Total(bucket, Counts(*(min(count, MOST) for count in in_order(counts))))


def summed(totals: Iterable[Total], by: Iterable[By] = By) -> list[Total]:
    """One total for each bucket, of those dimensions alone; a bucket of which nothing is left is left out."""
    kept = frozenset(by)
    sums: dict[Bucket, Counts] = {}
    for total in totals:
        bucket = narrowed(total.bucket, kept)
        sums[bucket] = sums.get(bucket, NOTHING) + total.counts
    return [Total(bucket, counts) for bucket, counts in sums.items() if counts != NOTHING]


def narrowed(bucket: Bucket, by: frozenset[By]) -> Bucket:
    """The bucket without what is not asked for."""
    return Bucket(
        quarter=bucket.quarter if By.TIME in by else 0,
        key_id=bucket.key_id if By.KEY in by else "",
        model=bucket.model if By.MODEL in by else "",
        task=bucket.task if By.TASK in by else "",
    )


def _word(record: Record, name: str) -> str:
    value = record.decision.get(name)
    return value if isinstance(value, str) else ""
