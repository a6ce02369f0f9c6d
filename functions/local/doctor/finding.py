"""What a check finds; values only."""

from dataclasses import dataclass
from enum import Enum


class Level(Enum):
    """How good it is: `WARN` is what works and will not do for ever, `FAIL` what is broken."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's: what was looked at, what it is like, and what to do about it; None where nothing is."""

    about: str
    level: Level
    says: str
    do: str | None = None


def fine(about: str, says: str) -> Finding:
    """It is as it should be."""
    return Finding(about, Level.OK, says)


def warn(about: str, says: str, do: str) -> Finding:
    """It works, but."""
    return Finding(about, Level.WARN, says, do)


def fail(about: str, says: str, do: str) -> Finding:
    """It is broken."""
    return Finding(about, Level.FAIL, says, do)
