"""Every kind of fault in cases.toml has tests that exist, and all of its groups are there, case by case."""

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
    "usage_in_streams": "Usage in streams",
    "cost": "Cost",
    "message_conversion": "Message conversion",
    "streams": "SSE framing, truncation, fallback",
    "time": "Time, cancellation, health, limits",
    "security": "Security and privacy",
}


ON_THE_WIRE = ("streamed_tool_calls", "finish_reason", "usage_in_streams")
"""The groups about the bytes that hosts send: what comes of those is to be seen in transcripts."""


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


def is_transcript(path: str) -> bool:
    return (ROOT / path / "expected.json").is_file()


def is_there(reference: str) -> bool:
    path, _, name = reference.partition("::")
    if not name:
        return is_transcript(path)
    return (ROOT / path).is_file() and name in set(names_in(path))


def test_what_keeps_a_fault_away_is_there() -> None:
    references = [reference for group in TABLE.values() for tests in group.values() for reference in tests]
    assert [reference for reference in references if not is_there(reference)] == []


def test_no_case_is_without_a_test() -> None:
    assert all(tests for group in TABLE.values() for tests in group.values())


def sections() -> Mapping[str, str]:
    """The list of cases, by its headings."""
    if not CASES.is_file():
        pytest.skip(f"THE LIST OF CASES WAS NOT COMPARED: it is not in {CASES}")
    return dict(re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", CASES.read_text("utf-8"), re.MULTILINE))


def test_every_group_of_cases_is_there() -> None:
    assert set(sections()) == set(GROUPS.values())
    assert TABLE.keys() == GROUPS.keys()


@pytest.mark.parametrize("group", GROUPS)
def test_all_cases_of_a_group_are_there(group: str) -> None:
    text = sections()[GROUPS[group]]
    assert set(re.findall(r"^\| (\d+)\*? \|", text, re.MULTILINE)) == TABLE[group].keys()
    starred = set(re.findall(r"^\| (\d+)\* \|", text, re.MULTILINE))
    assert starred
    if group in ON_THE_WIRE:
        assert [case for case in sorted(starred) if not any(map(is_transcript, TABLE[group][case]))] == []
