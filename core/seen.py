"""What must be known of the events that went by: all but the text, which is only counted unless it is wanted."""

from dataclasses import dataclass, field
from typing import Final

from core.chat import Usage
from core.events import Event, Finished, ReasoningDelta, RefusalDelta, TextDelta, ToolCallDelta, UsageReported

_LONGEST_WORD: Final = 100
"""What is kept of a host's own word: longer ones are no word, and could be an answer."""


@dataclass(slots=True)
class Seen:
    """The events of one answer. `text_bytes` counts all that was written, in UTF-8; `usage` is the last reported."""

    events: list[Event] = field(default_factory=list)
    text_bytes: int = 0
    usage: Usage | None = None

    def note(self, events: tuple[Event, ...], *, keep_text: bool) -> None:
        """Add events; without `keep_text` a stream of any length takes little memory."""
        for event in events:
            if isinstance(event, UsageReported):
                self.usage = event.usage
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
