"""Where servers on this machine keep things, and that they say so."""

import json
from io import StringIO
from pathlib import Path
from uuid import uuid4

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from core.accounts.keys import digest
from core.store.sqlite import SqliteStore
from functions.gateway.compose import prepare
from functions.local.catalog.demo import DEMO_MODEL, FILE, demo_catalog, keep_demo
from functions.local.main import app
from functions.local.serving import DATABASE, check_start, dev_key, kept_in, welcome
from functions.settings import read_settings


@pytest.mark.parametrize(
    ("data", "variables", "folder", "file"),
    [
        (None, {}, ".headrace", "headrace.db"),
        (None, {DATABASE: ""}, ".headrace", "headrace.db"),
        (None, {DATABASE: "elsewhere/own.sqlite"}, "elsewhere", "own.sqlite"),
        ("given", {}, "given", "headrace.db"),
        ("given", {DATABASE: "elsewhere/own.sqlite"}, "given", "headrace.db"),
    ],
)
def test_the_database_is_the_one_of_all_commands_unless_a_folder_is_given(
    data: str | None, variables: dict[str, str], folder: str, file: str
) -> None:
    found, led = kept_in(None if data is None else Path(data), {"OTHER": "x", **variables})
    assert found == Path(folder).absolute()
    assert read_settings(led).sqlite_path == found / file
    assert led["OTHER"] == "x"


async def test_the_key_of_a_server_is_in_the_database_that_other_commands_work_on(tmp_path: Path) -> None:
    folder, variables = kept_in(None, {DATABASE: str(tmp_path / "own.sqlite")})
    token = await dev_key(read_settings(variables), folder)
    assert await dev_key(read_settings(variables), folder) == token
    store = SqliteStore(tmp_path / "own.sqlite")
    assert await store.key(digest(token)) is not None
    await store.close()


@pytest.mark.parametrize("command", ["dev", "lambda"])
def test_the_help_names_both(command: str) -> None:
    told = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200", "TERM": "dumb"}).stdout
    assert DATABASE in told
    assert ".headrace" in told


def test_what_is_opened_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / ("long-" * 30) / "own.sqlite"
    tables = {"HEADRACE_CONFIG_TABLE": "c", "HEADRACE_LEDGER_TABLE": "l"}
    for variables, kept in (
        ({DATABASE: str(path)}, str(path)),
        ({"HEADRACE_STORE": "dynamodb", **tables}, "the tables c and l"),
    ):
        console = Console(file=StringIO(), width=40)
        welcome(console, "It serves", "http://127.0.0.1:1/v1", "hr_x", "m", read_settings(variables))
        assert f"\nKept in: {kept}\nDocs: http://127.0.0.1:1/docs\n" in console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO
    capsys.readouterr()


def test_commands_know_the_demo_model_that_is_served_from_their_data_folder(tmp_path: Path) -> None:
    def headrace(*arguments: str, **more: str) -> Result:
        return CliRunner().invoke(app, list(arguments), env={DATABASE: str(tmp_path / "headrace.db"), **more})

    made = ("keys", "create", "x", "--model", DEMO_MODEL)
    assert "There is no model" in str(headrace(*made).exception)
    keep_demo(tmp_path, demo_catalog("http://127.0.0.1:9/v1"))
    assert headrace(*made).exit_code == 0
    policy = json.dumps({"name": "demo", "allow_models": [DEMO_MODEL]})
    assert (
        CliRunner()
        .invoke(app, ["policies", "put", "-"], input=policy, env={DATABASE: str(tmp_path / "headrace.db")})
        .exit_code
        == 0
    )
    for more in ((), ("--all-vendors",)):
        routed = json.loads(headrace("route", "Hello", "--only", DEMO_MODEL, "--json", *more).stdout)
        assert routed["pick"] == DEMO_MODEL
    itself = headrace("route", "Hello", "--json", "--only", DEMO_MODEL, HEADRACE_CATALOG=str(tmp_path / FILE))
    assert json.loads(itself.stdout)["pick"] == DEMO_MODEL
    keep_demo(tmp_path, None)
    assert "There is no model" in str(headrace(*made).exception)


async def test_variables_that_are_no_settings_are_named_at_the_start_without_their_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    variables = {DATABASE: str(tmp_path / "headrace.db"), "HEADRACE_STROE": "s3cret", "HEADRACE_CATALOGUE": "x"}
    await check_start(read_settings(variables), variables)
    told = capsys.readouterr().err
    assert told == "headrace: no settings, and without effect: HEADRACE_CATALOGUE, HEADRACE_STROE\n"
    # A service of its own has a logger of its own, which writes to where this test reads.
    variables["HEADRACE_SERVICE"] = f"tests-{uuid4().hex}"
    prepare(read_settings(variables), variables)
    line = json.loads(capsys.readouterr().out)
    assert (line["level"], line["variables"]) == ("WARNING", ["HEADRACE_CATALOGUE", "HEADRACE_STROE"])
