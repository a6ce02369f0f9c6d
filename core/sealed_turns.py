"""A tool-turn memory that hands what models thought to the store sealed, and takes it back; the store knows nothing.

Model and host of a turn stay readable, and so do its ids. What older versions wrote readable is still read.
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import orjson

from core.errors import StoreUnavailable
from core.kept import Place
from core.ports import Sealer, ToolMemory, ToolTurn
from core.store import schema

PURPOSE: Final = "tool turn"


class SealedTurns:
    """A `ToolMemory` around another.

    A turn whose thinking cannot be sealed or opened is kept and found without it, and marked `lost`: the loop goes on
    where its model allows that.

    Args:
        memory: Where turns are kept.
        sealer: Seals them; None where there is no key to seal with, so that no thinking is kept.
    """

    def __init__(self, memory: ToolMemory, sealer: Sealer | None) -> None:
        self._memory = memory
        self._sealer = sealer

    async def remember(self, org: str, call_ids: Sequence[str], turn: ToolTurn, now_ms: int) -> None:
        """Keep a turn under each of its calls' ids."""
        bare = replace(turn, thinking=(), reasoning=None, signatures={})
        if bare != turn:
            bare = await self._sealed(org, tuple(call_ids), turn, bare)
        await self._memory.remember(org, call_ids, bare, now_ms)

    async def recall(self, org: str, call_ids: Sequence[str], now_ms: int) -> Mapping[str, ToolTurn]:
        """The turns that are known and not expired, by call id."""
        found = await self._memory.recall(org, call_ids, now_ms)
        opened: dict[str, ToolTurn] = {}
        turns: dict[str, ToolTurn] = {}
        for call_id, turn in found.items():
            if turn.sealed is None:
                turns[call_id] = turn
            elif call_id not in turn.sealed_for:
                turns[call_id] = _lost(turn)
            else:
                if turn.sealed not in opened:  # one turn stands under each of its calls
                    opened[turn.sealed] = await self._opened(org, turn, turn.sealed)
                turns[call_id] = opened[turn.sealed]
        return turns

    async def _sealed(self, org: str, call_ids: tuple[str, ...], turn: ToolTurn, bare: ToolTurn) -> ToolTurn:
        if self._sealer is None:
            return _lost(bare)
        secret = zlib.compress(schema.dumps(schema.tool_turn_item(turn)), 1)
        try:
            sealed = await self._sealer.seal(secret, _place(org, call_ids))
        except StoreUnavailable:
            return _lost(bare)
        return replace(bare, sealed=sealed, sealed_for=call_ids)

    async def _opened(self, org: str, turn: ToolTurn, sealed: str) -> ToolTurn:
        if self._sealer is None:
            return _lost(turn)
        try:
            secret = await self._sealer.open(sealed, _place(org, turn.sealed_for))
            return schema.loads(zlib.decompress(secret), schema.tool_turn_value)
        except StoreUnavailable:
            return _lost(turn)


def _lost(turn: ToolTurn) -> ToolTurn:
    return replace(turn, sealed=None, sealed_for=(), lost=True)


def _place(org: str, call_ids: Sequence[str]) -> Place:
    return Place(org, PURPOSE, orjson.dumps(call_ids).decode())
