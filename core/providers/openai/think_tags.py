"""Takes thinking out of content that begins with it in tags, for hosts that do not do it themselves.

Tags count at the very start of an answer only; later ones are the model's text.
"""

from dataclasses import dataclass
from typing import Final

_OPEN: Final = ("<think>", "<thinking>", "<reasoning>")
_CLOSE: Final = {"<think>": "</think>", "<thinking>": "</thinking>", "<reasoning>": "</reasoning>"}


@dataclass(frozen=True, slots=True)
class Split:
    """What a piece of content brought: thinking first, then text."""

    thinking: str = ""
    text: str = ""


class ThinkTags:
    """Splits the content of one choice, however it is cut.

    Args:
        assume_open: Where no opening tag comes, the host's template wrote it into the prompt: only the closing one
            will come.
    """

    __slots__ = ("_assumed", "_close", "_held", "_is_text", "_seen", "_trims")

    def __init__(self, *, assume_open: bool) -> None:
        self._assumed = assume_open
        self._close = ""
        self._held = ""
        self._seen: list[str] = []
        self._is_text = False
        self._trims = False

    def split(self, piece: str) -> Split:
        """The next piece of content; an end that may be part of a tag is held."""
        if self._is_text:
            return Split(text=self._trimmed(piece))
        self._held += piece
        if not self._close and not self._begin():
            return Split()
        if not self._close:
            return Split(text=self._rest())
        thinking, tag, text = self._held.partition(self._close)
        if tag:
            thinking = self._trimmed(thinking)
            self._held, self._trims = text, True
            return Split(thinking, self._trimmed(self._rest()))
        ready = len(self._held) - _partial(self._held, self._close)
        thinking, self._held = self._held[:ready], self._held[ready:]
        thinking = self._trimmed(thinking)
        if self._assumed:
            self._seen.append(thinking)
        return Split(thinking=thinking)

    def end(self, *, is_whole: bool) -> Split:
        """What was held, at the end of the answer.

        Args:
            is_whole: The answer is complete, not cut at its limit: thinking that was only assumed, and never ended, was
                the answer.
        """
        is_text = self._is_text or not self._close
        held = self._rest()
        if is_text:
            return Split(text=held)
        answer = "".join([*self._seen, held]) if self._assumed and is_whole else ""
        return Split(thinking=held, text=answer)

    def _begin(self) -> bool:
        """Decide how the answer begins; False while that cannot be told."""
        start = self._held.lstrip()
        opened = next((tag for tag in _OPEN if start.startswith(tag)), None)
        if opened:
            self._close, self._assumed, self._trims = _CLOSE[opened], False, True
            self._held = start.removeprefix(opened)
            return True
        if any(tag.startswith(start) for tag in _OPEN):
            return False
        if self._assumed:
            self._close = _CLOSE[_OPEN[0]]
        return True

    def _rest(self) -> str:
        """Everything held; from here on all is text."""
        held, self._held = self._held, ""
        self._is_text = True
        return held

    def _trimmed(self, piece: str) -> str:
        """A piece without the line ends that stand between a tag and what follows it."""
        if self._trims:
            piece = piece.lstrip()
            self._trims = not piece
        return piece


def _partial(text: str, tag: str) -> int:
    """How many characters at the end of the text may be the beginning of the tag."""
    longest = min(len(text), len(tag) - 1)
    return next((size for size in range(longest, 0, -1) if text.endswith(tag[:size])), 0)
