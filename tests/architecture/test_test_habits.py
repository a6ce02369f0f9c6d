"""What tests do not do: patch, sleep, or silence a checker without saying why."""

import ast
import re
from collections.abc import Iterator

from tests.architecture.source import ROOT, Reference, imports, parse, python_files, references

# (file, what it uses) -> why nothing else would do. An entry that is no longer needed fails.
REASONS: dict[tuple[str, str], str] = {}

PATCHES = ("unittest.mock", "mock", "pytest_mock")
SLEEPS = ("time.sleep", "asyncio.sleep", "anyio.sleep", "trio.sleep")

# A silencer, then at least two words on why.
SILENCER = re.compile(r"#\s*(type:\s*ignore|noqa|pragma:\s*no (cover|branch))\S*(?P<why>.*)")
REASON = re.compile(r"\w+\W+\w+")


def is_banned(found: Reference) -> bool:
    if found.name.endswith(".setattr"):
        return True
    return found.name in SLEEPS and not _yields_once(found.call)


def _yields_once(call: ast.Call | None) -> bool:
    """`sleep(0)` lets other tasks run and takes no time."""
    match call:
        case ast.Call(args=[ast.Constant(value=0)], keywords=[]):
            return True
        case _:
            return False


def habits() -> Iterator[tuple[str, int, str]]:
    for path in python_files("tests"):
        tree = parse(path)
        for found in imports(tree):
            if found.name.startswith(PATCHES):
                yield path, found.line, found.name
        for found in references(tree):
            if is_banned(found):
                yield path, found.line, found.name


def test_nothing_is_patched_and_nothing_sleeps() -> None:
    found = [f"{path}:{line} {name}" for path, line, name in habits() if (path, name) not in REASONS]
    assert found == []


def test_every_exception_is_still_needed() -> None:
    needed = {(path, name) for path, _, name in habits()}
    assert [entry for entry in REASONS if entry not in needed] == []


def test_a_silenced_checker_has_a_reason_on_the_line() -> None:
    found = [
        f"{path}:{number}"
        for path in python_files("core", "functions", "infra", "bench", "tests")
        for number, line in enumerate((ROOT / path).read_text("utf-8").splitlines(), start=1)
        if (silencer := SILENCER.search(line)) and not REASON.search(silencer["why"])
    ]
    assert found == []
