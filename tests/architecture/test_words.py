"""What is under version control holds on every machine: it names no folder or host of one."""

import re
import subprocess

import pytest

from tests.architecture.source import ROOT

# Written in pieces, so that this file does not find itself.
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:" + "wo" + "rk|ro" + "ot)/")
PLACE = re.compile("work" + "place", re.IGNORECASE)

# Where packages come from is the package client's setting, never ours.
REGISTRY = re.compile("|".join(["pypi" + r"\.org", "python" + r"hosted\.org", "npm" + r"js\.org"]))
LOCK_FILES = ("uv.lock", "package-lock.json")


def versioned() -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout: which files are the project's cannot be told")
    names = listed.stdout.decode().split("\0")
    return [name for name in names if name and (ROOT / name).is_file()]


def test_no_file_speaks_of_one_machine() -> None:
    found = []
    for name in versioned():
        text = (ROOT / name).read_bytes().decode("utf-8", "replace")
        patterns = [MACHINE_PATH, PLACE]
        if not name.endswith(LOCK_FILES):
            patterns.append(REGISTRY)
        for pattern in patterns:
            found += [f"{name}: {match[0]}" for match in pattern.finditer(text)]
    assert found == []
