"""The whole history as Gemini gets it: instructions apart, turns of user and model, each step's results together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from core.catalog.model import Target
from core.chat import ChatRequest, Json, Message, Role, ToolCall
from core.providers.base import Prepared
from core.providers.gemini.messages import SIGNATURE, GeminiPart, Wording
from core.providers.gemini.thinking import signs_calls

_USER: Final = "user"
_MODEL: Final = "model"
_SILENCE: Final[GeminiPart] = {"text": " "}

UNSIGNED: Final = "skip_thought_signature_validator"
"""Stands for the signature of calls that a model did not make ("Thought signatures", FAQ, read 2026-11-30)."""


@dataclass(slots=True)
class Conversation:
    """What goes into `systemInstruction` and into `contents`."""

    system: list[GeminiPart] = field(default_factory=list)
    contents: list[dict[str, Json]] = field(default_factory=list)

    def say(self, role: str, parts: Sequence[GeminiPart]) -> None:
        """Add to the turn of a role, or begin its turn."""
        if not parts:
            return
        if self.contents and self.contents[-1]["role"] == role:
            self.contents[-1]["parts"].extend(parts)
        else:
            self.contents.append({"role": role, "parts": list(parts)})


def conversation(request: ChatRequest, target: Target, prepared: Prepared) -> Conversation:
    """The history, message by message. All system messages are instructions, wherever they stood."""
    wording = Wording(target, prepared)
    said = Conversation()
    calls: Sequence[ToolCall] = ()
    results: list[Message] = []
    for index, message in enumerate(request.messages):
        if message.role in (Role.TOOL, Role.FUNCTION):
            results.append(message)
            continue
        said.say(_USER, wording.results(calls, results))
        calls, results = (), []
        match message.role:
            case Role.USER:
                said.say(_USER, wording.spoken(message, index))
            case Role.ASSISTANT:
                calls = message.tool_calls
                said.say(_MODEL, wording.answered(message))
            case _:
                said.system += wording.spoken(message, index)
    said.say(_USER, wording.results(calls, results))
    if not said.contents or said.contents[0]["role"] == _MODEL:
        # The format wants a user to speak first (wire reference, 4.3, read 2026-11-30).
        said.contents.insert(0, {"role": _USER, "parts": [_SILENCE]})
    if signs_calls(target):
        _sign_foreign_steps(said.contents)
    return said


def _sign_foreign_steps(contents: Sequence[dict[str, Json]]) -> None:
    """Say of each step since the user's last words that the model did not make it, where nothing of it is signed."""
    begins = max(place for place, turn in enumerate(contents) if _is_said_by_user(turn))
    for turn in contents[begins:]:
        calls = [part for part in turn["parts"] if "functionCall" in part]
        if calls and not any(SIGNATURE in call for call in calls):
            calls[0][SIGNATURE] = UNSIGNED


def _is_said_by_user(turn: Mapping[str, Json]) -> bool:
    return turn["role"] == _USER and any("functionResponse" not in part for part in turn["parts"])
