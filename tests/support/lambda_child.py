"""Starts a runtime as a process of its own, the way Lambda starts one, and ends it by its id."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def child(
    command: Sequence[str], variables: Mapping[str, str], folder: Path = ROOT
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process with nothing of this one's environment but the search path. What it prints is its `stdout`."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **variables}
    process = await asyncio.create_subprocess_exec(
        *command,
        env=environment,
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def output_until(process: asyncio.subprocess.Process, words: str) -> str:
    """What the process prints, up to and with the line that holds these words."""
    assert process.stdout is not None
    lines: list[str] = []
    while not lines or words not in lines[-1]:
        line = await process.stdout.readline()
        assert line, f"it ended without {words!r}:\n{''.join(lines)}"
        lines.append(line.decode())
    return "".join(lines)
