"""Reads the cues: words that tell a task by themselves, in many languages."""

from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).with_name("cues.txt")


def read_cues() -> dict[str, str]:
    """Each cue with its task; a cue that stands twice keeps its first."""
    cues: dict[str, str] = {}
    for line in FILE.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            task, _, listed = line.partition(":")
            for cue in listed.split(","):
                cues.setdefault(cue.strip().lower(), task)
    return cues
