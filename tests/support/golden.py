"""Golden transcripts: folders that hold a caller's request, an upstream's bytes, and what must come of them.

tests/golden/<format>/<case>/
    case.json      `source`, what it `shows` (matrix.toml), the case that it goes on from (`after`), and what differs
                   from a plain host: `vendor`, `host`, `abilities`, `status`, `headers`
    request.json   the caller's body, as the plain surface reads it
    upstream.txt   the answer's bytes (`upstream.bin` where they are no text)
    expected.json  the decoder's events, and the failure that ends them, if one does
    whole.json     optional: the same answer as a body without stream
    sent.json      optional: the body that goes to the upstream
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from core.catalog.model import Abilities, Auth, Format, Quirk, StructuredOutput, Target, Thinking, ThinkingSwitch
from core.chat import ChatRequest
from core.errors import GatewayError
from core.events import Event, TextDelta, fold
from core.memory import tool_turn
from core.ports import ToolTurn
from core.providers.base import Prepared, StreamDecoder
from core.providers.registry import provider
from core.surfaces.openai_chat import parse_chat
from core.surfaces.surface import PLAIN
from tests.support.laws import answered, decoded
from tests.support.targets import make_target, make_vendor

GOLDEN = Path(__file__).parents[1] / "golden"

_ABLE: Mapping[str, object] = {"tools": True, "parallel_tools": True, "vision": True, "documents": True}
_ENUMS: Mapping[str, type[Enum]] = {
    "auth": Auth,
    "format": Format,
    "thinking": Thinking,
    "thinking_switch": ThinkingSwitch,
    "structured_output": StructuredOutput,
}


@dataclass(frozen=True)
class Case:
    """One transcript."""

    format: Format
    folder: Path

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name

    @cached_property
    def about(self) -> dict[str, Any]:
        """What `case.json` says."""
        about: dict[str, Any] = self.json("case.json")
        return about

    @property
    def shows(self) -> tuple[str, ...]:
        """The capabilities of the scenario matrix that it is an example of."""
        return tuple(self.about.get("shows", ()))

    @cached_property
    def data(self) -> bytes:
        """The upstream's bytes."""
        text = self.folder / "upstream.txt"
        return (text if text.exists() else self.folder / "upstream.bin").read_bytes()

    @cached_property
    def request(self) -> ChatRequest:
        """The caller's request."""
        return parse_chat((self.folder / "request.json").read_bytes(), PLAIN).request

    @cached_property
    def target(self) -> Target:
        """The host that answered."""
        about = self.about
        return make_target(
            vendor=make_vendor(**{"format": self.format, **_members(about.get("vendor", {}))}),
            abilities=Abilities(**{**_ABLE, **_members(about.get("abilities", {}))}),
            **_members(about.get("host", {})),
        )

    def decoders(self) -> Callable[[], StreamDecoder]:
        """Makes new decoders for the answer."""
        codec = provider(self.format)
        sent = codec.encode(self.request, self.target, Prepared())
        status, headers = self.about.get("status", 200), self.about.get("headers", {})
        return lambda: codec.decoder(sent, status, headers)

    def turns_before(self) -> Mapping[str, ToolTurn]:
        """What the transcript that this one goes on from (`after`) left in the tool memory."""
        if "after" not in self.about:
            return {}
        earlier = Case(self.format, self.folder.with_name(self.about["after"]))
        (choice,) = fold(answered(earlier.decoders()(), [earlier.data]).events).choices
        turn = tool_turn(earlier.target, choice)
        assert turn is not None
        return {call.id: turn for call in choice.tool_calls}

    def has(self, file: str) -> bool:
        """Whether an optional file is there."""
        return (self.folder / file).exists()

    def json(self, file: str) -> Any:
        """A file of the case, parsed."""
        return orjson.loads((self.folder / file).read_bytes())


def cases(wire: Format) -> list[Case]:
    """All transcripts of a format, by name."""
    return [Case(wire, folder) for folder in sorted((GOLDEN / wire.value).iterdir()) if folder.is_dir()]


def opening(case: Case) -> int:
    """How many bytes of the answer it takes until the first text is there."""
    for length in range(len(case.data)):
        if any(isinstance(event, TextDelta) for event in decoded(case.decoders()(), [case.data[:length]]).events):
            return length
    raise AssertionError("no text comes")


def case_id(case: Case) -> str:
    """How a test is named for a case."""
    return case.name


def event_form(event: Event) -> dict[str, Any]:
    """An event as readable JSON: its name, and the members that say something."""
    return {type(event).__name__: _form(event)}


def failure_form(error: GatewayError | None) -> dict[str, Any] | None:
    """A failure as readable JSON: its class, and the members that say something."""
    if error is None:
        return None
    names = ("param", "code", "retry_after_s", "detail", "upstream_status", "upstream_code")
    members = {name: getattr(error, name, None) for name in names}
    told = {name: value for name, value in members.items() if value not in (None, "")}
    if told.get("code") == error.default_code:
        del told["code"]
    return {type(error).__name__: told}


def _form(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        form = {}
        for field in fields(value):
            member = getattr(value, field.name)
            default = field.default_factory() if field.default_factory is not MISSING else field.default
            if member != default and not (field.name == "choice" and member == 0):
                form[field.name] = _form(member)
        return form
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, list | tuple):
        return [_form(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _form(item) for name, item in value.items()}
    return value


def _members(written: Mapping[str, Any]) -> dict[str, Any]:
    """Members of catalog values from JSON."""
    members: dict[str, Any] = {}
    for name, value in written.items():
        if name == "quirks":
            value = frozenset(Quirk(quirk) for quirk in value)
        elif name == "refuses":
            value = frozenset(value)
        elif name == "efforts":
            value = tuple(value)
        elif name in _ENUMS:
            value = _ENUMS[name](value)
        members[name] = value
    return members
