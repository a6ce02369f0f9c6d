"""The tool turns that this process saw lately, so that most requests of a tool loop need not ask the store."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.ports import ToolMemory, ToolTurn

REMEMBERED_MS: Final = 86_400_000
"""How long a turn that was made here is known here; as long as it is kept."""

RECALLED_MS: Final = 300_000
"""How long a turn that was looked up is taken without looking again: when it expires is known to the store alone."""

MOST_TURNS: Final = 2_000
MOST_CHARACTERS: Final = 16_000_000
"""What the known turns may hold together, in characters of thinking."""


@dataclass(frozen=True, slots=True)
class _Known:
    turn: ToolTurn
    until_ms: int
    size: int


class RecentTurns:
    """A `ToolMemory` in front of another: the last turns that were asked for, the others from there in one look-up.

    Args:
        memory: Where turns are kept.
        most: How many are known here, each of a turn's calls counted.
        most_characters: How much thinking is known here.
    """

    def __init__(self, memory: ToolMemory, *, most: int = MOST_TURNS, most_characters: int = MOST_CHARACTERS) -> None:
        self._memory = memory
        self._most = most
        self._most_characters = most_characters
        self._known: OrderedDict[tuple[str, str], _Known] = OrderedDict()
        self._characters = 0

    async def remember(self, org: str, call_ids: Sequence[str], turn: ToolTurn, now_ms: int) -> None:
        """Keep a turn under each of its calls' ids."""
        await self._memory.remember(org, call_ids, turn, now_ms)
        for call_id in call_ids:
            self._keep((org, call_id), turn, now_ms + REMEMBERED_MS)

    async def recall(self, org: str, call_ids: Sequence[str], now_ms: int) -> Mapping[str, ToolTurn]:
        """The turns that are known and not expired, by call id."""
        turns: dict[str, ToolTurn] = {}
        for call_id in call_ids:
            known = self._known.get((org, call_id))
            if known is not None and now_ms < known.until_ms:
                turns[call_id] = known.turn
                self._known.move_to_end((org, call_id))
        others = [call_id for call_id in dict.fromkeys(call_ids) if call_id not in turns]
        if others:
            found = await self._memory.recall(org, others, now_ms)
            for call_id, turn in found.items():
                self._keep((org, call_id), turn, now_ms + RECALLED_MS)
            turns |= found
        return turns

    def _keep(self, name: tuple[str, str], turn: ToolTurn, until_ms: int) -> None:
        self._forget(name)
        self._known[name] = known = _Known(turn, until_ms, _characters(turn))
        self._characters += known.size
        while len(self._known) > self._most or self._characters > self._most_characters:
            self._forget(next(iter(self._known)))

    def _forget(self, name: tuple[str, str]) -> None:
        known = self._known.pop(name, None)
        if known is not None:
            self._characters -= known.size


def _characters(turn: ToolTurn) -> int:
    """About how much a turn holds; each of its calls counts it again, though they share it."""
    blocks = sum(len(block.text) + len(block.signature or "") + len(block.redacted or "") for block in turn.thinking)
    details = sum(len(str(block.detail)) for block in turn.thinking if block.detail is not None)
    return blocks + details + len(turn.reasoning or "") + sum(map(len, turn.signatures.values()))
