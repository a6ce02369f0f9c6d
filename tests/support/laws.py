"""What holds for every decoder of every format, as functions for tests to call with their own transcripts."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from hypothesis import settings

from core.errors import GatewayError, Interrupted
from core.events import Event, Finished, TextDelta, fold
from core.providers.base import StreamDecoder
from core.turn import Turn

NewDecoder: TypeAlias = Callable[[], StreamDecoder]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an answer: its events, and the failure that ended them, if one did."""

    events: tuple[Event, ...]
    error: GatewayError | None = None

    @property
    def told(self) -> tuple[tuple[Event, ...], str | None]:
        """What a caller could notice, comparable."""
        return self.events, repr(self.error) if self.error else None


def decoded(decoder: StreamDecoder, reads: Iterable[bytes]) -> Outcome:
    """The decoder's own events, read by read, as the gateway drives it."""
    events: list[Event] = []
    try:
        for read in reads:
            events += decoder.feed(read)
            if decoder.done:
                break
        events += decoder.close()
    except GatewayError as error:
        return Outcome(tuple(events), error)
    return Outcome(tuple(events))


def answered(decoder: StreamDecoder, reads: Iterable[bytes]) -> Outcome:
    """The events of the turn that a caller gets."""
    turn = Turn(lambda choice, call: f"call_{choice}_{call}")
    outcome = decoded(decoder, reads)
    events = turn.feed(outcome.events)
    if outcome.error is not None:
        return Outcome(events, outcome.error)
    try:
        return Outcome(events + turn.close())
    except Interrupted as error:
        return Outcome(events, error)


def joined(events: Iterable[Event]) -> tuple[Event, ...]:
    """Events with neighbouring pieces of text put together: how text is cut is the upstream's business."""
    together: list[Event] = []
    for event in events:
        last = together[-1] if together else None
        if (
            isinstance(event, TextDelta)
            and isinstance(last, TextDelta)
            and event.choice == last.choice
            and not (event.logprobs or last.logprobs)
        ):
            together[-1] = replace(last, text=last.text + event.text)
        else:
            together.append(event)
    return tuple(together)


def check_splits_never_show(new: NewDecoder, data: bytes, reads: Iterable[bytes]) -> None:
    """However the bytes are cut into reads, the events and the failure are the same."""
    assert decoded(new(), reads).told == decoded(new(), [data]).told


def check_nothing_else_escapes(new: NewDecoder, reads: Iterable[bytes]) -> None:
    """Any bytes give events or a `GatewayError`; `decoded` lets everything else through."""
    outcome = answered(new(), reads)
    assert outcome.error is not None or any(isinstance(event, Finished) for event in outcome.events)


def truncations(data: bytes) -> Sequence[int]:
    """Where to cut: at every byte, or, with few examples and unless `EVERY_BYTE` is set, beside every line's end and at
    one byte of some."""
    stride = 1 if "EVERY_BYTE" in os.environ else max(1, 200 // settings().max_examples)
    ends = {place + beside for place, byte in enumerate(data) if byte == 0x0A for beside in (0, 1)}
    return sorted({*ends, *range(len(data) % stride, len(data), stride)} - {len(data)})


def check_truncation_is_never_silent(new: NewDecoder, data: bytes) -> None:
    """Cut anywhere, an answer fails, or it has every choice whole and ended as in the full transcript."""
    full = fold(answered(new(), [data]).events).choices
    for length in truncations(data):
        cut = answered(new(), [data[:length]])
        if cut.error is None:
            assert fold(cut.events).choices == full, f"a made-up end after {length} bytes"


def check_whole_is_fold(stream: Outcome, whole: Outcome) -> None:
    """A whole reply says what its stream says."""
    assert stream.error is None
    assert whole.error is None
    assert fold(whole.events) == fold(stream.events)
