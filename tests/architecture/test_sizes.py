"""Files stay small: near 120 lines, 300 at most, up to 400 with a reason written here."""

from tests.architecture.source import ROOT, python_files

LARGE = 300
LIMIT = 400

REASONS: dict[str, str] = {
    "core/chat.py": "the vocabulary that everything else speaks is read as one page",
    "core/errors.py": "the whole tree of failures, with what each allows, is read in one place",
    "core/ports.py": "all that the gateway needs from outside, and what each side promises, is read in one place",
}


def sizes() -> dict[str, int]:
    files = python_files("core", "functions")
    return {path: len((ROOT / path).read_text("utf-8").splitlines()) for path in files}


def test_no_file_is_large_without_a_reason() -> None:
    large = {path: lines for path, lines in sizes().items() if lines > LARGE}
    assert {path: lines for path, lines in large.items() if path not in REASONS} == {}


def test_no_file_is_over_the_limit_with_any_reason() -> None:
    assert {path: lines for path, lines in sizes().items() if lines > LIMIT} == {}


def test_reasons_are_given_for_large_files_only() -> None:
    now = sizes()
    assert [path for path in REASONS if now.get(path, 0) <= LARGE] == []
