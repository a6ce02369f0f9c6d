"""`headrace route`: a decision as a table or as JSON, without any model."""

import json
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from core.errors import GatewayError, Unprocessable
from functions.local.output import Refusal
from functions.local.route import route
from tests.support.auto_catalog import CHEAP, NEW, STRONG, catalog, entry

PROMPT = "Write a Python function that reverses a string."
APP = typer.Typer(pretty_exceptions_enable=False)
APP.command()(route)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    deep = entry("lab/deep", price=2, quality=0.7, more='thinking = "always", reasoning_tokens = 1500')
    blind = entry("lab/gone").replace('id = "lab/gone"', 'id = "lab/gone"\ndeprecated = "2020-01-01"')
    file = tmp_path / "own.toml"
    text = catalog(STRONG, CHEAP, NEW, deep, blind, *(entry(f"lab/x{number}", price=None) for number in range(3)))
    file.write_text(text.format(upstream="http://127.0.0.1:9"), "utf-8")
    return file


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Iterator[None]:
    """Whatever a command keeps, it keeps here."""
    with chdir(tmp_path):
        yield


def headrace(own: Path | None, *arguments: str, stdin: str | None = None) -> Result:
    variables = {"HEADRACE_SQLITE_PATH": "headrace.db"}
    if own is not None:
        variables["HEADRACE_CATALOG"] = str(own)
    return CliRunner().invoke(APP, list(arguments), env=variables, input=stdin)


def decided(own: Path, *arguments: str, stdin: str | None = None) -> Any:
    result = headrace(own, *arguments, "--json", stdin=stdin)
    assert result.exit_code == 0, result.exception
    return json.loads(result.stdout)


def test_a_prompt_gets_a_table_and_the_reason(own: Path) -> None:
    result = headrace(own, PROMPT, "--optimize", "quality", "--top", "2", "--exclude", "lab/cheap")
    assert result.exit_code == 0, result.exception
    first, facts, head, *rows = result.stdout.splitlines()
    assert first.startswith("lab/strong is expected to do this code request best of 6 models: 0.9")
    assert "code (" in facts
    assert "quality, policy default, decisiveness 0." in facts
    assert head.split() == ["model", "score", "quality", "cost"], "nobody knows the time to the first token yet"
    assert [row.split()[0] for row in rows[:2]] == ["lab/strong", "lab/deep"]
    assert rows[0].split()[3].startswith("$0.00")
    assert rows[2:] == ["left out, policy: 1 (lab/cheap)", "left out, deprecated: 1 (lab/gone)"]


def test_what_is_unknown_is_shown_as_unknown(own: Path) -> None:
    rows = headrace(own, PROMPT, "--only", "lab/new", "--only", "lab/x0", "--optimize", "cost").stdout.splitlines()
    assert [row.split()[0] for row in rows[3:5]] == ["lab/x0", "lab/new"]
    assert "$" not in rows[3]
    assert "unknown" in rows[4]
    assert any(row.startswith("left out, policy: 6 (lab/strong, lab/cheap, lab/deep, ...)") for row in rows)


def test_the_whole_decision_is_json(own: Path) -> None:
    decision = decided(own, PROMPT, "--max-tokens", "100")
    assert (decision["object"], decision["task"], decision["attempts"]) == ("routing", "code", [])
    assert decision["excluded"] == {"deprecated": ["lab/gone"]}
    assert decision["alternatives"][-1]["model"] == "lab/deep"
    capped = decided(own, PROMPT, "--max-tokens", "100", "--max-cost-micros", "500")
    assert "cost_cap" in capped["excluded"]


def test_the_prompt_may_come_from_standard_input(own: Path) -> None:
    assert decided(own, "-", stdin=PROMPT)["pick"] == decided(own, PROMPT)["pick"]


def test_a_whole_request_may_be_given(own: Path, tmp_path: Path) -> None:
    body = tmp_path / "body.json"
    body.write_text(json.dumps({"messages": [{"role": "user", "content": PROMPT}], "routing": {"optimize": "cost"}}))
    assert decided(own, "--body", str(body))["optimize"] == "cost"
    assert decided(own, "--body", str(body), "--optimize", "quality")["optimize"] == "quality"
    body.write_text(json.dumps({"model": "lab/cheap", "messages": [{"role": "user", "content": PROMPT}]}))
    named = decided(own, "--body", str(body))
    assert (named["pick"], named["task"]) == ("lab/cheap", None)
    assert "decisiveness 1.00" in headrace(own, "--body", str(body)).stdout.splitlines()[1]


@pytest.mark.parametrize(("text", "words"), [("{", "is not JSON"), ("[]", "must be a JSON object")])
def test_a_file_that_is_no_request_is_named(own: Path, tmp_path: Path, text: str, words: str) -> None:
    body = tmp_path / "body.json"
    body.write_text(text)
    failure = headrace(own, "--body", str(body)).exception
    assert isinstance(failure, Refusal)
    assert words in str(failure)
    assert str(body) in str(failure)


def test_there_must_be_something_to_ask_and_only_once(own: Path, tmp_path: Path) -> None:
    body = tmp_path / "body.json"
    body.write_text("{}")
    assert "nothing to ask" in str(headrace(own, " ").exception)
    assert "not both" in str(headrace(own, PROMPT, "--body", str(body)).exception)


def test_what_cannot_be_served_fails_with_the_reasons(own: Path) -> None:
    failure = headrace(own, PROMPT, "--only", "lab/cheap", "--exclude", "lab/cheap").exception
    assert isinstance(failure, Unprocessable)
    assert isinstance(failure, GatewayError)


def test_without_keys_every_vendor_can_be_looked_at_all_the_same() -> None:
    assert str(headrace(None, PROMPT).exception) == (
        "No model can be used at the moment. The operator has to give the gateway a vendor's key. "
        "Or see what every vendor would offer: headrace route --all-vendors."
    )
    assert headrace(None, PROMPT, "--all-vendors").exit_code == 0


def test_own_models_are_among_all_vendors(own: Path) -> None:
    assert decided(own, PROMPT, "--all-vendors", "--only", "lab/cheap")["pick"] == "lab/cheap"
