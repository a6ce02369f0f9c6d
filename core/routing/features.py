"""Turns a text into the names of its features: few about its shape, many about its words; it knows no weights."""

import re
from collections.abc import Mapping
from typing import Final

HEAD, TAIL = 14, 10
"""How many words at the beginning and at the end count as the place where people say what they want."""

MOST_WORDS = 400
STEM = 5

# \w leaves out the vowel signs of Indic scripts, Thai and Arabic.
WORD: Final = re.compile(r"[\w\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e]+")
UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")
CODE: Final = re.compile(
    r"\b(?:def|return|function|const|var|import|select|from|where|class|void|int|null|print\w*|console|git|npm|pip|"
    r"docker|sudo|regex|sql|python|javascript|html|css)\b|=>|->|[=!]=|</|\(\)|\w\.\w+\(|[;{]\n"
)
NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
SUM: Final = re.compile(r"[\dx)²]\s?[-+*/×÷^=<]\s?[\dx(]|\d\s?%|\b[a-z]\([a-z]\)|[√∫∑²³π≤≥λ]")
ITEM: Final = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s", re.MULTILINE)
QUOTED: Final = re.compile(r"[\"“„«「『‘“][^\"”“»」』\n]{3,}[\"”“»」』’]")

LENGTHS: Final = (15, 30, 60, 120, 250, 600, 1_500)


def features(text: str, cues: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The features of a text that is at most a few thousand characters long.

    Args:
        text: As the caller wrote it.
        cues: Words, and beginnings of words that end in `*`, that tell a task by themselves, with the task's name.

    Returns:
        The text's shape, its cues among it, and its words; each name once.
    """
    lower = text.lower()
    words = _words(lower)
    return _shape(text, lower, words, cues), _lexical(words)


def _words(lower: str) -> list[str]:
    """Words in order; a run of a script without spaces gives its characters by twos."""
    if lower.isascii() or not UNSPACED.search(lower):
        return WORD.findall(lower)[:MOST_WORDS]
    words: list[str] = []
    for run in WORD.findall(lower)[:MOST_WORDS]:
        if UNSPACED.match(run):
            words += [run[at : at + 2] for at in range(max(1, min(len(run), MOST_WORDS) - 1))]
        else:
            words.append(run)
    return words[:MOST_WORDS]


def _lexical(words: list[str]) -> list[str]:
    named = set(words)
    named.update([word[:STEM] + "*" for word in words if len(word) > STEM])
    head, tail = words[:HEAD], words[-TAIL:]
    named.update(["<" + word for word in head[:4]])
    named.update([">" + word for word in tail[-3:]])
    named.update([f"{one} {other}" for one, other in zip(head, head[1:], strict=False)])
    named.update([f"{one} {other}" for one, other in zip(tail, tail[1:], strict=False)])
    return sorted(named)


def _shape(text: str, lower: str, words: list[str], cues: Mapping[str, str]) -> list[str]:
    size = len(text)
    named = [f"#len{sum(size > length for length in LENGTHS)}"]
    named += _cue_marks(lower, words, cues)
    named += _levels("code", len(CODE.findall(lower)), (0, 1, 3))
    named += _levels("sum", len(SUM.findall(lower)), (0, 1, 3))
    named += _levels("number", len(NUMBER.findall(lower)), (0, 2, 6))
    lines = text.count("\n")
    named += _levels("line", lines, (0, 2, 6))
    if lines:
        named += _levels("item", len(ITEM.findall(text)), (0, 2))
    symbols = sum(map(text.count, "{}();=<>[]_\\"))
    named += _levels("symbol", 100 * symbols // (size + 1), (1, 5, 10))
    end = text.rstrip()[-1:]
    named += [
        name
        for name, holds in (
            ("#asks", end in ("?", "？", "؟")),
            ("#asked", "?" in text or "？" in text or "؟" in text),
            ("#exclaims", end in ("!", "！")),
            ("#fence", "```" in text),
            ("#quote", QUOTED.search(text) is not None),
            ("#acts", text.startswith("*")),
            ("#table", text.count("|") > 3 or text.count(";") > 5),
            ("#object", '{"' in text or '": ' in text),
            ("#body", _has_body(text)),
            ("#lower", text == lower),
        )
        if holds
    ]
    return named


def _has_body(text: str) -> bool:
    """Whether something was pasted below or behind a short instruction."""
    at = min((at for mark in (":", "：", "\n") if (at := text.find(mark)) >= 0), default=-1)
    return 0 <= at < 160 and len(text) - at > 80


def _levels(name: str, count: int, bounds: tuple[int, ...]) -> list[str]:
    return [f"#{name}>{bound}" for bound in bounds if count > bound]


def _cue_marks(lower: str, words: list[str], cues: Mapping[str, str]) -> list[str]:
    marks = {"#first:" + task for word in words[:2] if (task := _cue(word, cues))}
    marks.update(["#head:" + task for word in words[:HEAD] if (task := _cue(word, cues))])
    marks.update(["#tail:" + task for word in words[-TAIL:] if (task := _cue(word, cues))])
    for one, other in zip(words[:HEAD], words[1 : HEAD + 1], strict=False):
        if task := cues.get(f"{one} {other}"):
            marks.add("#head:" + task)
    return sorted(marks)


def _cue(word: str, cues: Mapping[str, str]) -> str | None:
    return cues.get(word) or cues.get(word[:6] + "*") or cues.get(word[:STEM] + "*") or cues.get(word[:4] + "*")
