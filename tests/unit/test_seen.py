"""What is kept of the events that went by."""

from core.chat import Usage
from core.events import ReasoningDelta, TextDelta, UsageReported
from core.seen import Seen


def test_a_long_stream_leaves_nothing_but_its_counts() -> None:
    seen = Seen()
    for number in range(1, 1_001):
        seen.note((TextDelta(0, "four"), UsageReported(Usage(9, output_tokens=number))), keep_text=False)
    assert seen.events == []
    assert seen.text_bytes == 4_000
    assert seen.usage == Usage(9, output_tokens=1_000)


def test_a_whole_answer_is_kept_as_it_was_written() -> None:
    seen = Seen()
    seen.note((ReasoningDelta(0, "Why?"), TextDelta(0, "Be"), TextDelta(0, "cause.")), keep_text=True)
    (choice,) = seen.reply.choices
    assert (choice.reasoning, choice.text) == ("Why?", "Because.")
