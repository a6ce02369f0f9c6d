"""Takes from a conversation the little text that tells what is asked; it never copies a long prompt whole."""

from core.chat import ChatRequest, Message, Role, TextPart

MOST = 3_200
"""How many characters are looked at of what the user said last."""

MOST_INSTRUCTIONS = 640
MOST_BEFORE = 320
SHORT = 40
MOST_PARTS = 32

_INSTRUCTIONS = (Role.SYSTEM, Role.DEVELOPER)


def sampled(text: str, most: int = MOST) -> str:
    """The text where it has at most so many characters, else its beginning, middle and end on lines of their own."""
    if len(text) <= most:
        return text
    head, middle = most // 2, most // 8
    tail = most - head - middle
    centre = (len(text) - middle) // 2
    return "\n".join((text[:head], text[centre : centre + middle], text[-tail:]))


def asked(request: ChatRequest) -> str:
    """What is asked, sampled: instructions to the model, then what the user said last.

    A last word too short to mean anything by itself ("yes, go on") comes with what the user said before it.
    """
    said = _said(request.messages)
    for message in request.messages:
        if message.role in _INSTRUCTIONS:
            instructions = _text(message, MOST_INSTRUCTIONS)
            return f"{instructions}\n{said}" if instructions else said
    return said


def _said(messages: tuple[Message, ...]) -> str:
    last = ""
    for message in reversed(messages):
        if message.role is not Role.USER:
            continue
        if last:
            before = _text(message, MOST_BEFORE)
            return f"{before}\n{last}" if before else last
        last = _text(message, MOST)
        if len(last) >= SHORT:
            return last
    return last


def _text(message: Message, most: int) -> str:
    if isinstance(message.content, str):
        return sampled(message.content, most)
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    if len(texts) > MOST_PARTS:
        texts[MOST_PARTS // 2 : -MOST_PARTS // 2] = ["\n"]
    return sampled("\n".join(sampled(text, most) for text in texts), most)
