"""Every kind of fault in cases.toml has tests that exist, and the starred ones of its groups are all there."""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence

import pytest

from tests.architecture.source import ROOT, parse

TABLE: Mapping[str, Mapping[str, Sequence[str]]] = tomllib.loads((ROOT / "tests" / "cases.toml").read_text("utf-8"))
CASES = ROOT.parent / "shared" / "cases.md"
GROUPS = {
    "streamed_tool_calls": "Streamed tool calls",
    "finish_reason": "finish_reason",
    "cost": "Cost",
    "message_conversion": "Message conversion",
    "streams": "SSE framing, truncation, fallback",
    "time": "Time, cancellation, health, limits",
    "security": "Security and privacy",
}


def names_in(path: str) -> Iterator[str]:
    """The tests of a file: `name`, or `Class::name`."""
    for node in parse(path).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.ClassDef):
            yield from (
                f"{node.name}::{inner.name}"
                for inner in node.body
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
            )


def is_there(reference: str) -> bool:
    path, _, name = reference.partition("::")
    if not name:
        return (ROOT / path / "expected.json").is_file()
    return (ROOT / path).is_file() and name in set(names_in(path))


def test_what_keeps_a_fault_away_is_there() -> None:
    references = [reference for group in TABLE.values() for tests in group.values() for reference in tests]
    assert [reference for reference in references if not is_there(reference)] == []


def test_no_case_is_without_a_test() -> None:
    assert all(tests for group in TABLE.values() for tests in group.values())


def test_all_starred_cases_are_there() -> None:
    if not CASES.is_file():
        pytest.skip(f"THE LIST OF CASES WAS NOT COMPARED: it is not in {CASES}")
    sections = dict(re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", CASES.read_text("utf-8"), re.MULTILINE))
    for group, title in GROUPS.items():
        starred = set(re.findall(r"^\| (\d+)\* \|", sections[title], re.MULTILINE))
        assert starred
        assert starred <= TABLE[group].keys()
