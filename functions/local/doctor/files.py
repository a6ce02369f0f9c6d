"""What is to be said of a file with secrets in it."""

from collections.abc import Sequence
from pathlib import Path

from functions.local.doctor.finding import Finding, warn


def is_there(path: Path) -> bool:
    """Whether the file exists."""
    return path.exists()


def check_privacy(about: str, path: Path) -> Sequence[Finding]:
    """Whether others on this machine can read it."""
    if path.stat().st_mode & 0o077 == 0:
        return []
    return [warn(about, f"others on this machine can read {path}", f"chmod 600 {path}")]
