"""Brings whole answers into the shape that was asked for, by taking what is there; see `core.extract` for the rule."""

from dataclasses import dataclass, replace
from typing import Literal

from core.catalog.model import Target
from core.chat import ChatRequest, Choice, FinishReason, Json, Message, Reply, Role
from core.decision import Plan
from core.extract import Root, expected_root, extract, is_document

REASK = "Your answer was not a JSON document. Answer again with the JSON document alone, without any other text."


@dataclass(frozen=True, slots=True)
class Repaired:
    """A reply with its documents taken out, what they were wrapped in, and whether a choice has none."""

    reply: Reply
    wrapping: Literal["fence", "commentary", "reasked"] | None = None
    is_missing: bool = False


def repaired(reply: Reply, request: ChatRequest, *, takes_out: bool = True) -> Repaired:
    """Take the documents out of a reply whose request asked for JSON; any other stays as it is.

    Args:
        reply: The whole answer.
        request: What was asked.
        takes_out: Whether the policy allows it; without that, a document that is wrapped is one that is missing.
    """
    format = request.response_format
    if format is None or format.type == "text":
        return Repaired(reply)
    root = expected_root(format)
    choices: list[Choice] = []
    wrappings: set[str] = set()
    is_missing = False
    for choice in reply.choices:
        taken, wrapping, missing = _taken(choice, root, takes_out)
        choices.append(taken)
        is_missing = is_missing or missing
        if wrapping is not None:
            wrappings.add(wrapping)
    worst: Literal["fence", "commentary"] | None = None
    if wrappings:
        worst = "commentary" if "commentary" in wrappings else "fence"
    return Repaired(replace(reply, choices=tuple(choices)), worst, is_missing)


def once_more(plan: Plan, served: Target, elapsed_s: float) -> Plan:
    """What is left of a plan for asking the host that served a second time, so many seconds after the start."""
    return replace(
        plan,
        legs=tuple(leg for leg in plan.legs if leg.target == served),
        max_attempts=1,
        deadline_s=plan.deadline_s - elapsed_s,
        thinking_deadline_s=plan.thinking_deadline_s - elapsed_s,
        ends_s=None if plan.ends_s is None else plan.ends_s - elapsed_s,
    )


def reask(request: ChatRequest, answer: str) -> ChatRequest:
    """The request that asks once more, with the answer that had no document in it."""
    turns: tuple[dict[str, Json], ...] = (
        {"role": "assistant", "content": answer},
        {"role": "user", "content": REASK},
    )
    messages = tuple(Message(Role(turn["role"]), turn["content"], turn) for turn in turns)
    return replace(request, messages=request.messages + messages)


def _taken(choice: Choice, root: Root, takes_out: bool) -> tuple[Choice, str | None, bool]:
    # A cut answer, a refusal and a tool call are what they are; only a finished text can hold the document.
    if choice.text is None or choice.finish is not FinishReason.STOP or is_document(choice.text):
        return choice, None, False
    found = extract(choice.text, root) if takes_out else None
    if found is None:
        return choice, None, True
    return replace(choice, text=found.text), found.wrapping, False
