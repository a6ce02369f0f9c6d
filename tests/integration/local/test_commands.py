"""The `headrace` command: keys are shown once and kept as hashes; catalogs are listed, checked and compiled."""

import json
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from core.accounts.keys import is_well_formed
from core.catalog.loader import load_catalog
from functions.local.main import app, main
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
    assert listed(database) == []
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
    assert "lab/small" in {model["id"] for model in models}
    checked = headrace(database, "catalog", "check", "--json", "--catalog", str(own))
    assert checked.exit_code == 0
    assert "lab/unpriced" in {finding["model"] for finding in json.loads(checked.stdout)}


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
