"""What must be known of the events that went by: all but the text, which is only counted unless it is wanted."""

from dataclasses import dataclass, field
from typing import Final

from core.chat import Reply, Usage
from core.events import Event, Finished, ReasoningDelta, RefusalDelta, TextDelta, ToolCallDelta, UsageReported, fold

_LONGEST_WORD: Final = 100
"""What is kept of a host's own word: longer ones are no word, and could be an answer."""


@dataclass(slots=True)
class Seen:
    """The events of one answer but for its usage, of which some hosts send one with every chunk: `usage` is the last.
    `text_bytes` counts all that was written, in UTF-8."""

    events: list[Event] = field(default_factory=list)
    text_bytes: int = 0
    usage: Usage | None = None
    _reply: tuple[int, Reply] | None = None

    @property
    def reply(self) -> Reply:
        """What the events come to; of a stream, all but its text, and never its usage."""
        if self._reply is None or self._reply[0] != len(self.events):
            self._reply = len(self.events), fold(self.events)
        return self._reply[1]

    def note(self, events: tuple[Event, ...], *, keep_text: bool) -> None:
        """Add events; without `keep_text` a stream of any length takes little memory."""
        for event in events:
            if isinstance(event, UsageReported):
                self.usage = event.usage
                continue
            if isinstance(event, TextDelta | RefusalDelta | ReasoningDelta):
                self.text_bytes += len(event.text.encode("utf-8", "replace"))
                if not keep_text and not isinstance(event, ReasoningDelta):
                    continue
            elif isinstance(event, ToolCallDelta):
                self.text_bytes += len(event.arguments.encode("utf-8", "replace"))
            self.events.append(event)

    @property
    def upstream_finish_reason(self) -> str | None:
        """The host's own word for the end of the first answer, None where it said none, or nothing ended."""
        ends = [event for event in self.events if isinstance(event, Finished)]
        word = min(ends, key=lambda end: end.choice).upstream_reason if ends else None
        return None if word is None else word[:_LONGEST_WORD].encode("utf-8", "replace").decode()
