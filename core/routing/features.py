"""Turns a text into the names of its features: few about its shape, many about its words; it knows no weights."""

import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

HEAD, TAIL = 14, 10
"""How many words at the beginning and at the end count as the place where people say what they want."""

MOST_WORDS = 300
MOST_CUED = 80
MOST_PASTED = 60
STEM = 5

LEAD, BODY = 160, 80
"""At most so many characters of a lead stand before at least so many of what was pasted."""

PLAIN_WORD: Final = re.compile(r"\w+", re.ASCII)
# \w leaves out the vowel signs of Indic scripts, Thai and Arabic.
WORD: Final = re.compile(r"[\w\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e]+")
UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")
CODE_SIGNS: Final = (
    *("=>", "->", "==", "!=", "</", "()", "{\n", ";\n", "):\n", "::", "&&", " --", "Error", "_"),
    *(".py", ".js", ".ts", ".sh", ".go", ".rs", ".java", ".css", ".html", ".sql", ".yml", ".yaml", ".toml", ".json"),
)
CAMEL: Final = re.compile(r"[a-z][A-Z]")
NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
OPERATOR: Final = re.compile(r"[-+*/\u00d7÷^=<](?=\s?[\dx(])(?<=[\dx)²\s].)")
MATHS_SIGNS: Final = (*"%√∫∑²³π≤≥λ", "(x)", "(n)", "x^", "n^", "x +", "x -")
ITEM: Final = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s", re.MULTILINE)
QUOTED: Final = re.compile(r"[\"“„«「『\u2018][^\"”“»」』\n]{3,}[\"”“»」』\u2019]")

OPENING: Final = tuple('"“„«「『\u2018')
ASKING: Final = ("?", "\uff1f", "؟")
EXCLAIMING: Final = ("!", "\uff01")
LEADING: Final = (":", "\uff1a", "\n")

LENGTHS: Final = (15, 30, 60, 120, 250, 600, 1_500)


def features(text: str, cues: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The features of a text that is at most a few thousand characters long.

    Args:
        text: As the caller wrote it.
        cues: Words, and beginnings of words that end in `*`, that tell a task by themselves, with what they tell.

    Returns:
        The text's shape, its cues among it, and its words; each name once.
    """
    lower = text.lower()
    words, pasted = _parted(lower)
    return _shape(text, lower) + _cue_marks(words, pasted, cues), _lexical(words, pasted)


def code_signs(text: str) -> int:
    """How many signs of program code a text has, apart from its words."""
    return sum(map(text.count, CODE_SIGNS)) + len(CAMEL.findall(text))


def maths_signs(text: str) -> int:
    """How many operations and mathematical signs a text has."""
    return sum(map(text.count, MATHS_SIGNS)) + len(OPERATOR.findall(text))


def _parted(lower: str) -> tuple[list[str], list[str]]:
    """The words of what is asked, and those of what was pasted beside it: quotations, and what stands below."""
    quoted = QUOTED.findall(lower)
    said = QUOTED.sub(" ", lower) if quoted else lower
    at = _body_at(said)
    if at < 0:
        words, below = _words(said), []
    else:
        end = max(at, said.rfind("\n", at, len(said.rstrip())))
        after = said[end:] if end > at and len(said) - end < LEAD else ""
        words, below = _words(said[:at]) + _words(after), _words(said[at : end if after else len(said)])
    pasted = [word for quotation in quoted for word in _words(quotation)] + below
    return (words, pasted) if words else (pasted, [])


def _words(lower: str) -> list[str]:
    """Words in order; a run of a script without spaces gives its characters by twos."""
    if lower.isascii():
        return PLAIN_WORD.findall(lower)[:MOST_WORDS]
    found: list[str] = WORD.findall(lower)[:MOST_WORDS]
    if not UNSPACED.search(lower):
        return found
    words: list[str] = []
    for run in found:
        if UNSPACED.match(run):
            words += [run[at : at + 2] for at in range(max(1, min(len(run), MOST_WORDS) - 1))]
        else:
            words.append(run)
    return words[:MOST_WORDS]


def _lexical(words: list[str], pasted: list[str]) -> list[str]:
    named = set(words)
    named.update([word[:STEM] + "*" for word in words if len(word) > STEM])
    named.update(["~" + word for word in pasted[:MOST_PASTED]])
    head, tail = words[:HEAD], words[-TAIL:]
    named.update(["<" + word for word in head[:4]])
    named.update([">" + word for word in tail[-3:]])
    named.update([f"{one} {other}" for one, other in pairwise(head)])
    named.update([f"{one} {other}" for one, other in pairwise(tail)])
    return list(named)


def _shape(text: str, lower: str) -> list[str]:
    size = len(text)
    lines = text.count("\n")
    symbols = sum(map(text.count, "{}();=<>[]_\\"))
    end = text.rstrip()[-1:]
    at = _body_at(lower)
    named = [f"#len{sum(size > length for length in LENGTHS)}"]
    named += _levels("code", code_signs(text), (0, 1, 3, 6))
    named += _levels("sum", maths_signs(lower), (0, 1, 3))
    named += _levels("number", len(NUMBER.findall(lower)), (0, 2, 6))
    named += _levels("line", lines, (0, 2, 6))
    named += _levels("item", len(ITEM.findall(text)) if lines else 0, (0, 2))
    named += _levels("symbol", 100 * symbols // (size + 1), (1, 5, 10))
    marks = (
        ("#asks", end in ASKING),
        ("#asked", any(mark in text for mark in ASKING)),
        ("#exclaims", end in EXCLAIMING),
        ("#fence", "```" in text),
        ("#quote", QUOTED.search(text) is not None),
        ("#quoted first", text[:1] in OPENING),
        ("#acts", text.startswith("*")),
        ("#table", text.count("|") > 3 or text.count(";") > 5),
        ("#object", '{"' in text or '": ' in text),
        ("#body", at >= 0),
        ("#long body", at >= 0 and size - at > 250),
        ("#lower", text == lower),
    )
    return named + [name for name, holds in marks if holds]


def _body_at(text: str) -> int:
    """Where something pasted begins behind a short lead, or -1."""
    at = min((at for mark in LEADING if (at := text.find(mark, 8)) >= 0), default=-1)
    return at if 0 <= at < LEAD and len(text) - at > BODY else -1


def _levels(name: str, count: int, bounds: tuple[int, ...]) -> list[str]:
    return [f"#{name}>{bound}" for bound in bounds if count > bound]


def _cue_marks(words: list[str], pasted: list[str], cues: Mapping[str, str]) -> list[str]:
    words = words[:MOST_CUED]
    told = [cues.get(word) or cues.get(word[:STEM] + "*") for word in words]
    pairs = [cues.get(f"{one} {other}") for one, other in pairwise(words)]
    marks = {"#first:" + each for each in (*told[:2], *pairs[:1]) if each}
    marks.update(["#head:" + each for each in (*told[:HEAD], *pairs[:HEAD]) if each])
    marks.update(["#tail:" + each for each in told[-TAIL:] if each])
    counts = Counter([each for each in told if each])
    counts.update([each for each in pairs if each])
    marks.update(["#some:" + each for each in counts])
    marks.update(["#many:" + each for each, count in counts.items() if count > 2])
    marks.update(["#pasted:" + each for word in pasted[:MOST_PASTED] if (each := cues.get(word))])
    return list(marks)
