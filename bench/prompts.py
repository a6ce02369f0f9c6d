"""Prompts and conversations of any size: made, always the same, and never twice the same sentence in one."""

from typing import Any, Final

_SENTENCES: Final = (
    "The ferry to the island leaves at {0} past nine, unless the wind is stronger than {1} knots.",
    "Please sort these {0} invoices by customer and tell me which of them are overdue by {1} days.",
    "def step_{0}(values):\n    return [value * {1} for value in values if value > {0}]",
    "If a tank holds {0} litres and loses {1} percent a day, when is it half empty?",
    "Die Sitzung beginnt um {0} Uhr; bitte bringen Sie die {1} Unterlagen mit.",
)
_TOOLS: Final = ("search_orders", "open_ticket", "read_file")

TOOLS: Final[list[dict[str, Any]]] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "Looks something up.",
            "parameters": {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]},
        },
    }
    for name in _TOOLS
]


def text(size: int) -> str:
    """A prompt of that many bytes."""
    lines: list[str] = []
    length = number = 0
    while length < size:
        line = _SENTENCES[number % len(_SENTENCES)].format(number + 3, number * 7 % 90 + 2)
        lines.append(line)
        length += len(line) + 1
        number += 1
    return "\n".join(lines)[:size]


def conversation(turns: int) -> list[dict[str, Any]]:
    """So many questions with their answers, every second of them by way of a tool, and then one more question."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Answer briefly."}]
    for turn in range(turns):
        messages.append({"role": "user", "content": f"Question {turn}: {text(200)}"})
        if turn % 2:
            made = {"name": _TOOLS[turn % len(_TOOLS)], "arguments": f'{{"what":"item {turn}"}}'}
            calls = [{"id": f"call_{turn}", "type": "function", "function": made}]
            messages.append({"role": "assistant", "content": None, "tool_calls": calls})
            messages.append({"role": "tool", "tool_call_id": f"call_{turn}", "content": f"{turn} found: {text(100)}"})
        messages.append({"role": "assistant", "content": f"Answer {turn}: {text(300)}"})
    return [*messages, {"role": "user", "content": "And the next one?"}]
