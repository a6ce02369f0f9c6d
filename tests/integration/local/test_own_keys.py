"""`headrace own-keys`: kept sealed, shown by its last characters, read from a pipe and never from the command line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from functions.local.main import app

SECRET = "sk-canary-0123456789-wxyz"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    headrace(tmp_path, "keys", "create", "first", "--org", "acme")
    return tmp_path


def headrace(folder: Path, *arguments: str, given: str = "") -> Result:
    environment = {"HEADRACE_SQLITE_PATH": str(folder / "headrace.db")}
    return CliRunner().invoke(app, list(arguments), input=given, env=environment)


def listed(folder: Path) -> list[tuple[str, str]]:
    rows = json.loads(headrace(folder, "own-keys", "list", "--org", "acme", "--json").stdout)
    return [(row["vendor"], row["hint"]) for row in rows]


def test_a_key_is_added_replaced_listed_and_removed(folder: Path) -> None:
    added = headrace(folder, "own-keys", "add", "openai", "--org", "acme", given=SECRET + "\n")
    assert (added.exit_code, "…wxyz" in added.output, SECRET in added.output) == (0, True, False)
    headrace(folder, "own-keys", "add", "anthropic", "--org", "acme", given="sk-ant-0123456789-abcd")
    assert listed(folder) == [("anthropic", "…abcd"), ("openai", "…wxyz")]
    headrace(folder, "own-keys", "add", "openai", "--org", "acme", given="sk-another-0123456789-9999")
    assert listed(folder) == [("anthropic", "…abcd"), ("openai", "…9999")]
    assert "…9999" in headrace(folder, "own-keys", "list", "--org", "acme").output
    assert headrace(folder, "own-keys", "remove", "openai", "--org", "acme").exit_code == 0
    assert listed(folder) == [("anthropic", "…abcd")]


def test_the_key_is_in_no_file(folder: Path) -> None:
    headrace(folder, "own-keys", "add", "openai", "--org", "acme", given=SECRET)
    assert {path.name for path in folder.iterdir()} >= {"headrace.db", "seal.key"}
    for path in folder.iterdir():
        assert b"canary" not in path.read_bytes(), path


@pytest.mark.parametrize(
    "given", ["", "  \n", "two words", "two\nlines", "schl\N{LATIN SMALL LETTER U WITH DIAERESIS}ssel"]
)
def test_what_is_no_key_is_refused_and_not_repeated(folder: Path, given: str) -> None:
    refused = headrace(folder, "own-keys", "add", "openai", "--org", "acme", given=given)
    assert refused.exit_code == 1
    assert "That is no key" in str(refused.exception)
    assert "words" not in str(refused.exception)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("add", "opneai", "--org", "acme"), "Did you mean 'openai'?"),
        (("add", "zzz", "--org", "acme"), "There are: alibaba, anthropic, "),
        (("add", "llama-cpp", "--org", "acme"), "without a key"),
        (("add", "openai", "--org", "nobody"), "no organisation 'nobody'"),
        (("remove", "openai", "--org", "acme"), "no key of its own at 'openai'"),
        (("list", "--org", "nobody"), "no organisation 'nobody'"),
    ],
)
def test_mistakes_are_told(folder: Path, arguments: tuple[str, ...], words: str) -> None:
    refused = headrace(folder, "own-keys", *arguments, given=SECRET)
    assert words in str(refused.exception)


def test_a_key_cannot_stand_on_the_command_line(folder: Path) -> None:
    assert headrace(folder, "own-keys", "add", "openai", SECRET, "--org", "acme").exit_code == 2
