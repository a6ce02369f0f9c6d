"""Where client programs run: an environment for each client, with the pinned versions that its folder names.

They lie in `.venv-real/`, are made anew when the pins change, and share nothing with the project's own environment.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
CLIENTS: Final = Path(__file__).parent
ENVIRONMENTS: Final = ROOT / ".venv-real"
OLDEST_NODE: Final = 20
_PATIENCE_S: Final = 900


def prepared(client: str) -> list[str]:
    """Install a client, unless it is there, and return the words that go before the path of a program."""
    with _alone(client):
        return _node(client) if (CLIENTS / client / "package.json").exists() else _python(client)


def program_path(client: str, program: str) -> Path:
    """The file to run: Node looks for packages from there upwards, so there it must lie beside them."""
    path = CLIENTS / client / program
    if path.suffix != ".mjs":
        return path
    # Put there at once, whole: another worker may be about to run it.
    copy = ENVIRONMENTS / client / program
    return Path(shutil.copy2(path, copy.with_suffix(f".{os.getpid()}"))).replace(copy)


def run(command: list[str], folder: Path, variables: Mapping[str, str] | None = None) -> str:
    """What a command prints; the test fails with all of its words when the command does."""
    ended = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
    )
    if ended.returncode != 0:
        pytest.fail(f"{' '.join(command)} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return ended.stdout


@contextmanager
def _alone(client: str) -> Iterator[None]:
    """Keep other workers from installing the same client at the same time."""
    ENVIRONMENTS.mkdir(exist_ok=True)
    with (ENVIRONMENTS / f"{client}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _python(client: str) -> list[str]:
    pins, folder = CLIENTS / client / "requirements.txt", ENVIRONMENTS / client
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    uv = str(ROOT / ".uv" / "bin" / "uv")
    if not Path(uv).exists() and (uv := shutil.which("uv") or "") == "":
        pytest.fail("There is no uv to install clients with: run `make uv`.")
    if not _is_ready(folder, pins):
        run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)], ROOT)
        run([uv, "pip", "install", "--quiet", "--python", str(python), "--requirement", str(pins)], ROOT)
        _note_ready(folder, pins)
    return [str(python)]


def _node(client: str) -> list[str]:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip(f"NOT RUN: {client} needs Node {OLDEST_NODE} or newer with npm, and there is none on the path")
    version = run([node, "--version"], ROOT).strip()
    if int(version.lstrip("v").partition(".")[0]) < OLDEST_NODE:
        pytest.skip(f"NOT RUN: {client} needs Node {OLDEST_NODE} or newer, and {node} is {version}")
    pins, folder = CLIENTS / client / "package-lock.json", ENVIRONMENTS / client
    if not _is_ready(folder, pins):
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy2(CLIENTS / client / name, folder / name)
        run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder)
        _note_ready(folder, pins)
    return [node]


def _is_ready(folder: Path, pins: Path) -> bool:
    note = folder / ".ready"
    return note.exists() and note.read_text() == _made_from(pins)


def _note_ready(folder: Path, pins: Path) -> None:
    (folder / ".ready").write_text(_made_from(pins))


def _made_from(pins: Path) -> str:
    return f"{hashlib.sha256(pins.read_bytes()).hexdigest()} {sys.version_info[:2]}\n"
