"""Finds the tools that packaging stands on, and says how to get one that is missing."""

import shutil
from dataclasses import dataclass
from pathlib import Path


class ToolMissing(Exception):
    """A tool was not found; the message says where it was sought and what makes it."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A command, where the project keeps it (as a path from the root), and what puts it there."""

    name: str
    kept_at: str
    made_by: str


UV = Tool("uv", ".uv/bin/uv", "make uv")
SAM = Tool("sam", ".venv-sam/bin/sam", "make sam")


def locate(tool: Tool, root: Path, given: Path | None = None) -> Path:
    """The tool's absolute path: the one given, else the project's own, else the one on PATH.

    Raises ToolMissing when there is none, or when the one given cannot be run.
    """
    if given is not None:
        if found := shutil.which(given):
            return Path(found).absolute()
        raise ToolMissing(f"{given} is not a program that can be run")
    found = shutil.which(root / tool.kept_at) or shutil.which(tool.name)
    if found is None:
        raise ToolMissing(
            f"{tool.name} is neither at {tool.kept_at} nor on PATH: run `{tool.made_by}`, "
            f"or say where it is with --{tool.name} PATH"
        )
    return Path(found).absolute()
