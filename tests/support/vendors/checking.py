"""Upstreams that check what their vendors check, and hold one conversation with whoever passes.

One server holds all rows; the first step of a path tells which one is meant. It keeps no state: what it made in a turn
is the same every time, and how far a conversation has come is what its history says.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from core.catalog.model import Format
from tests.support.script import Received, Step, reply
from tests.support.upstream import ScriptedUpstream
from tests.support.vendors.anthropic_wire import AnthropicWire
from tests.support.vendors.bedrock_wire import BedrockWire
from tests.support.vendors.credentials import credential_problem
from tests.support.vendors.gemini_wire import GeminiWire
from tests.support.vendors.openai_wire import OpenAIWire
from tests.support.vendors.rows import Row
from tests.support.vendors.talk import SCRIPT, Spoken, Turn, mismatches


class Wire(Protocol):
    """One row's wire format, as its vendor reads and writes it."""

    def problems(self, request: Received, body: Any) -> Iterator[str]:
        """Everything that is wrong with a call by itself."""
        ...

    def turns(self, body: Any) -> list[Turn]:
        """The assistant's turns in a history, with their results."""
        ...

    def made(self, spoken: Spoken, number: int) -> Turn:
        """The turn as it has to come back."""
        ...

    def answer(self, spoken: Spoken, number: int) -> Sequence[Step]:
        """The turn as an answer."""
        ...

    def refusal(self, status: int, message: str) -> Sequence[Step]:
        """An error in the vendor's own shape."""
        ...


_WIRES: Mapping[Format, type[Wire]] = {
    Format.OPENAI: OpenAIWire,
    Format.ANTHROPIC: AnthropicWire,
    Format.GEMINI: GeminiWire,
    Format.BEDROCK: BedrockWire,
}


def wire_of(row: Row) -> Wire:
    """The wire of a row."""
    return _WIRES[row.format](row)  # type: ignore[call-arg]  # a protocol says nothing of how its classes are made


@dataclass
class CheckingVendor:
    """One row's vendor.

    `forgives` tells whether it takes a history without its thinking, all or none; `refused` is what it found wrong,
    `served` what it answered; one that `is_down` answers nobody.
    """

    row: Row
    forgives: bool = False
    refused: list[str] = field(default_factory=list)
    served: list[Received] = field(default_factory=list)
    is_down: bool = False

    def __post_init__(self) -> None:
        self.wire = wire_of(self.row)

    def script(self, request: Received) -> Sequence[Step]:
        """The answer to a call."""
        if self.is_down:
            return reply({"message": "down"}, 503)
        if denied := credential_problem(self.row, request):
            return self._refuse(403 if self.row.format is Format.BEDROCK else 401, denied)
        # The path behind the row's own step; a signature is of the whole.
        inner = replace(request, path=request.path.removeprefix(f"/{self.row.slug}"))
        try:
            body = json.loads(request.body)
        except ValueError:
            return self._refuse(400, "the body is not JSON")
        found = next(self.wire.problems(inner, body), None)
        if found is not None:
            return self._refuse(400, found)
        turns = self.wire.turns(body)
        if len(turns) >= len(SCRIPT):
            return self._refuse(400, "the conversation is over")
        made = [self.wire.made(spoken, number) for number, spoken in enumerate(self._script())]
        found = next(mismatches(turns, made, without_thinking=self.forgives), None)
        if found is not None:
            return self._refuse(400, found)
        self.served.append(request)
        return self.wire.answer(self._script()[len(turns)], len(turns))

    def _script(self) -> Sequence[Spoken]:
        return SCRIPT if self.row.thinks else [replace(spoken, thinking="") for spoken in SCRIPT]

    def _refuse(self, status: int, message: str) -> Sequence[Step]:
        self.refused.append(message)
        return self.wire.refusal(status, message)


class CheckingUpstream(ScriptedUpstream):
    """The server of many vendors; `vendors` has them by their rows' slugs."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.vendors = {row.slug: CheckingVendor(row) for row in rows}
        super().__init__(self._dispatch, checks=False)

    def _dispatch(self, request: Received) -> Sequence[Step]:
        vendor = self.vendors.get(request.path.split("/")[1])
        return vendor.script(request) if vendor else reply({"error": "no such vendor"}, 404)
