"""The `headrace` command: keys are shown once and kept as hashes; catalogs are listed, checked and compiled."""

import gzip
import json
import socket
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from core.accounts.keys import is_well_formed
from core.catalog.loader import load_catalog
from functions.local.catalog.sources.folder import FILES
from functions.local.main import app, main
from functions.local.output import Refusal
from tests.support.gateway import CATALOG


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "headrace.db"


def headrace(database: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), env={"HEADRACE_SQLITE_PATH": str(database)})


def listed(database: Path, *arguments: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = json.loads(headrace(database, "keys", "list", "--json", *arguments).stdout)
    return rows


def test_a_key_is_shown_once_and_only_its_hash_is_kept(database: Path) -> None:
    made = headrace(database, "keys", "create", "my laptop")
    token = made.stdout.strip()
    assert is_well_formed(token)
    (row,) = listed(database)
    assert (row["name"], row["hint"], row["revoked"]) == ("my laptop", f"…{token[-4:]}", None)
    assert token not in json.dumps(row)
    assert all(token.encode() not in file.read_bytes() for file in database.parent.iterdir())


def test_keys_belong_to_organisations_and_can_expire(database: Path) -> None:
    made = json.loads(headrace(database, "keys", "create", "ci", "--org", "acme", "--days", "7", "--json").stdout)
    assert made[0]["org"] == "acme"
    assert made[0]["expires"] is not None
    assert "no organisation 'default'" in str(headrace(database, "keys", "list").exception)
    assert len(listed(database, "--org", "acme")) == 1
    assert "ci" in headrace(database, "keys", "list", "--org", "acme").stdout


def test_a_key_is_revoked_by_its_id(database: Path) -> None:
    headrace(database, "keys", "create", "old")
    (row,) = listed(database)
    assert headrace(database, "keys", "revoke", str(row["id"])).exit_code == 0
    assert listed(database)[0]["revoked"] is not None
    assert "has no key 'key_none'" in str(headrace(database, "keys", "revoke", "key_none").exception)


def test_the_catalog_is_listed_and_checked(database: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(CATALOG.format(upstream="http://127.0.0.1:9"))
    models = json.loads(headrace(database, "catalog", "list", "--json", "--catalog", str(own)).stdout)
    assert {model["id"]: model["vendors"] for model in models}["lab/small"] == ["lab"]
    checked = headrace(database, "catalog", "check", "--json", "--catalog", str(own))
    assert checked.exit_code == 0
    assert "0 errors, " in headrace(database, "catalog", "check", "--catalog", str(own)).stderr
    found = {finding["model"] for finding in json.loads(checked.stdout)}
    assert "lab/unpriced" in found
    assert {model.split("/")[0] for model in found} == {"lab"}, "what ships is said to who asks about it"
    assert "about what ships" in headrace(database, "catalog", "check", "--catalog", str(own)).stderr
    shipped = headrace(database, "catalog", "check")
    assert ("qwen/" in shipped.stdout, "about what ships" in shipped.stderr) == (True, False)


def test_a_catalog_is_compiled(database: Path, tmp_path: Path) -> None:
    own, compiled = tmp_path / "own.toml", tmp_path / "own.jsonl"
    own.write_text(CATALOG.format(upstream="http://127.0.0.1:9"))
    assert headrace(database, "catalog", "compile", str(own), str(compiled)).exit_code == 0
    catalog = load_catalog([("own", compiled.read_text())])
    assert catalog.find("lab/small") is not None
    assert "would be overwritten" in str(headrace(database, "catalog", "compile", str(own), str(own)).exception)


def test_a_port_that_is_taken_is_told(database: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        failed = headrace(database, "dev", "--no-demo", "--port", port, "--data", str(tmp_path / "data"))
    assert "choose another with --port" in str(failed.exception)


def test_a_wrong_catalog_is_told_with_its_line(database: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[[models]]\nid = "lab/x"\n')
    failed = headrace(database, "catalog", "list", "--catalog", str(own))
    assert f"{own}:1" in str(failed.exception)


def test_expected_failures_are_one_line_and_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["keys", "revoke", "key_none", "--org", "nobody-has-this"])
    assert ended.value.code == 1
    assert capsys.readouterr().err == "headrace: There is no organisation 'nobody-has-this'.\n"


def test_a_store_that_cannot_be_used_is_told_in_words_for_who_runs_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    database = tmp_path / "headrace.db"
    database.write_text("This was never a database, and it is long enough to be looked at as one." * 9)
    monkeypatch.setenv("HEADRACE_SQLITE_PATH", str(database))
    with pytest.raises(SystemExit) as ended:
        main(["orgs", "list"])
    told = capsys.readouterr().err
    assert (ended.value.code, told.startswith(f"headrace: The database {database} cannot be used:")) == (1, True)
    assert "request" not in told


WRONG_FILES = {
    "bytes": (b"\x7fELF\xd0\xff", "it is not UTF-8"),
    "deep": (b"x = " + b"[" * 5_000, "nested too deeply"),
    "long": (b"x = " + b"9" * 5_000, "a number in it is too long"),
    "large": (b"x = 1e99999999999999999999", "a number in it is too long"),
    "open": (b"[[models", "not valid TOML"),
}


@pytest.mark.parametrize("kind", WRONG_FILES)
def test_what_is_no_catalog_is_told_by_every_command_that_reads_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    content, told = WRONG_FILES[kind]
    file = tmp_path / "wrong"
    file.write_bytes(content)
    monkeypatch.setenv("HEADRACE_SQLITE_PATH", str(tmp_path / "headrace.db"))
    commands = [
        ["catalog", "list", "--catalog", str(file)],
        ["catalog", "check", "--catalog", str(file)],
        ["catalog", "compile", str(file), str(tmp_path / "out")],
        ["dev", "--no-demo", "--port", str(free_port()), "--data", str(tmp_path / "data"), "--catalog", str(file)],
    ]
    for arguments in commands:
        assert told in failed(arguments, capsys)
    monkeypatch.setenv("HEADRACE_CATALOG", str(file))
    for arguments in (["route", "hi"], ["route", "hi", "--all-vendors"]):
        assert told in failed(arguments, capsys)
    assert not (tmp_path / "data").exists()


def test_folders_without_sources_and_sources_in_other_forms_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert "is missing" in failed(["catalog", "build", str(tmp_path)], capsys)
    assert "is missing" in failed(["catalog", "check", "--sources", str(tmp_path)], capsys)
    for names in tomllib.loads(FILES.read_text("utf-8")).values():
        for name in names.values():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(gzip.compress(b"[]") if name.endswith(".gz") else b"[]")
    assert "not in the form that is known" in failed(["catalog", "build", "--dry-run", str(tmp_path)], capsys)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\xff", "not JSON"),
        (b"[]", "must be a JSON object"),
        (b'{"routing": 5}', "'routing' must be an object"),
        (b'{"x": ' + b"[" * 400 + b"]" * 400 + b"}", "cannot be sent"),
    ],
)
def test_requests_that_are_none_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: bytes, told: str
) -> None:
    file = tmp_path / "body.json"
    file.write_bytes(content)
    assert told in failed(["route", "--body", str(file)], capsys)


@pytest.mark.parametrize(
    "arguments",
    [
        ("route", "-"),
        ("policies", "put", "-"),
        ("plans", "put", "-"),
        ("orgs", "catalog", "put", "acme", "-"),
        ("own-keys", "add", "openai"),
    ],
)
def test_standard_input_that_is_no_text_is_told(database: Path, arguments: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, arguments, env={"HEADRACE_SQLITE_PATH": str(database)}, input=b"x\xff")
    assert isinstance(result.exception, Refusal)
    assert "standard input is not UTF-8" in str(result.exception)


def test_an_argument_that_is_no_text_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert failed(["route", "x\udcff"], capsys) == "headrace: x\\udcff is not UTF-8.\n"


def test_a_log_that_is_nested_too_deeply_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b'{"a":' * 1_000 + b"1" + b"}" * 1_000)
    assert "nested too deeply" in failed(["ledger", "replay", str(log)], capsys)


def failed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What a command says that fails as it should: in one line."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 1
    told = capsys.readouterr().err
    assert (told.startswith("headrace: "), told.count("\n")) == (True, 1), told
    return told


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_the_version_is_told(database: Path) -> None:
    assert headrace(database, "--version").stdout == f"headrace {version('headrace')}\n"


def test_the_help_of_limits_names_no_number_that_says_nothing(database: Path) -> None:
    told = CliRunner().invoke(app, ["budgets", "set", "--help"], env={"COLUMNS": "80", "TERM": "dumb"}).stdout
    assert ("9223" in told, "Requests a minute." in told) == (False, True)


def test_failures_are_told_in_our_own_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    missing = str(tmp_path / "none")
    assert failed(["policies", "put", missing], capsys).count("none") == 1
    monkeypatch.setenv("HEADRACE_CATALOG", missing)
    assert failed(["route", "hi"], capsys) == f"headrace: {missing}: cannot be read: No such file or directory\n"
    monkeypatch.setenv("HEADRACE_STORE", "dynamodb")
    assert failed(["orgs", "list"], capsys).startswith("headrace: the store dynamodb needs HEADRACE_CONFIG_TABLE")
    monkeypatch.setenv("HEADRACE_RECORD_DAYS", "0")
    assert failed(["orgs", "list"], capsys) == "headrace: HEADRACE_RECORD_DAYS: should be greater than or equal to 1\n"
