"""The operator's commands: organisations, policies, plans, limits, keys and the operator's own key."""

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from core.accounts.keys import digest, is_well_formed
from core.counters import EVER
from core.reservation import ORGANISATION, Reservation
from core.store.sqlite import SqliteStore
from functions.local.main import app
from tests.contracts.values import final, open_record
from tests.support.auto_catalog import THREE, entry


class Command:
    """Runs the command over one database."""

    def __init__(self, folder: Path) -> None:
        self.catalog = folder / "own.toml"
        self.catalog.write_text(THREE.format(upstream="http://127.0.0.1:9"))
        self.folder = folder
        self.environment = {
            "HEADRACE_SQLITE_PATH": str(folder / "headrace.db"),
            "HEADRACE_CATALOG": str(self.catalog),
            "COLUMNS": "200",
        }

    def run(self, *arguments: str, stdin: str | None = None, **more: str) -> Result:
        return CliRunner().invoke(app, list(arguments), env={**self.environment, **more}, input=stdin)

    def __call__(self, *arguments: str, stdin: str | None = None) -> str:
        result = self.run(*arguments, stdin=stdin)
        assert result.exit_code == 0, (arguments, result.output, result.exception)
        return result.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--json"))

    def refused(self, *arguments: str, stdin: str | None = None) -> str:
        result = self.run(*arguments, stdin=stdin)
        assert result.exit_code == 1, result.output
        return str(result.exception)


@pytest.fixture
def headrace(tmp_path: Path) -> Command:
    return Command(tmp_path)


def test_organisations_are_made_changed_paid_for_and_deleted(headrace: Command) -> None:
    (made,) = headrace.json("orgs", "create", "acme", "--name", "Acme Ltd", "--markup", "1/20")
    assert (made["id"], made["name"], made["markup"], made["plan"]) == ("acme", "Acme Ltd", "0.05", "standard")
    assert "already" in headrace.refused("orgs", "create", "acme")
    (changed,) = headrace.json("orgs", "change", "acme", "--plan", "prepaid", "--discount", "0.1")
    assert (changed["name"], changed["plan"], changed["discount"]) == ("Acme Ltd", "prepaid", "0.1")
    assert "no plan 'none'" in headrace.refused("orgs", "change", "acme", "--plan", "none")
    headrace("orgs", "pay", "acme", "2500000", "--id", "invoice-1")
    again = headrace.run("orgs", "pay", "acme", "2500000", "--id", "invoice-1")
    assert (again.exit_code, "is already paid in; nothing was added" in again.stderr) == (0, True)
    assert "$2.50" in again.stdout
    another = headrace.refused("orgs", "pay", "acme", "2500001", "--id", "invoice-1")
    assert "of 2500000 micro-dollars was added" in another
    table = headrace("orgs", "list")
    assert "Acme Ltd" in table
    assert "$2.50" in table
    shown = headrace.json("orgs", "show", "acme")[0]
    assert (shown["credit_micros"], shown["balance_micros"]) == (2_500_000, 2_500_000)
    assert "Nothing was deleted" in headrace.refused("orgs", "delete", "acme", stdin="n\n")
    assert "acme is deleted" in headrace("orgs", "delete", "acme", "--yes")
    assert "no organisation 'acme'" in headrace.refused("orgs", "delete", "acme", "--yes")
    assert headrace.json("orgs", "list") == []


def test_what_is_left_of_the_credits_is_shown_beside_what_was_paid_in(headrace: Command) -> None:
    headrace("orgs", "create", "acme", "--plan", "prepaid")
    headrace("orgs", "pay", "acme", "2500000", "--id", "invoice-1")
    headrace("orgs", "create", "other")

    async def spend() -> None:
        store = SqliteStore(headrace.folder / "headrace.db")
        asked = Reservation("acme", "req-1", 1, {ORGANISATION: {EVER: 700_000}})
        assert (await store.reserve(asked, {ORGANISATION: {EVER: 2_500_000}})).is_taken
        await store.close()

    asyncio.run(spend())
    assert [row["balance_micros"] for row in headrace.json("orgs", "list")] == [1_800_000, None]
    head, row, _ = headrace("orgs", "list").splitlines()
    assert head.split()[-4:] == ["paid", "in", "left", "made"]
    assert ("$2.50" in row, "$1.80" in row) == (True, True)


def test_credits_are_taken_back(headrace: Command) -> None:
    headrace("orgs", "create", "acme")
    headrace("orgs", "pay", "--id", "refund-1", "acme", "--", "-500000")
    assert headrace.json("orgs", "show", "acme")[0]["credit_micros"] == -500_000


def test_policies_are_edited_as_json(headrace: Command, tmp_path: Path) -> None:
    headrace("orgs", "create", "acme")
    file = tmp_path / "policy.json"
    file.write_text(json.dumps({"name": "cheap", "optimize": "cost", "allow_models": ["lab/cheap"]}))
    assert "acme has the policy cheap" in headrace("policies", "put", "--org", "acme", str(file))
    shown = json.loads(headrace("policies", "show", "--org", "acme", "cheap"))
    assert (shown["object"], shown["optimize"], shown["max_attempts"]) == ("policy", "cost", 3)
    shown["max_attempts"] = 1
    headrace("policies", "put", "--org", "acme", "-", stdin=json.dumps(shown))
    assert json.loads(headrace("policies", "show", "--org", "acme", "cheap")) == shown
    assert headrace.json("policies", "list", "--org", "acme")[0] == shown
    table = headrace("policies", "list", "--org", "acme")
    assert "lab/cheap" in table
    assert "default" in table
    for wrong, told in (
        ("{", "not JSON"),
        ("[]", "'name'"),
        ('{"name": 5}', "'name'"),
        ('{"name": "a b"}', "letters, digits"),
        ('{"name": "x", "optimise": "cost"}', "'optimise' is not a field"),
        ('{"name": "x", "max_attempts": 0}', "max_attempts"),
    ):
        assert told in headrace.refused("policies", "put", "--org", "acme", "-", stdin=wrong)
    assert "cannot be read" in headrace.refused("policies", "put", "--org", "acme", str(tmp_path / "none.json"))
    headrace("policies", "delete", "--org", "acme", "cheap")
    assert "no policy 'cheap'" in headrace.refused("policies", "show", "--org", "acme", "cheap")


def test_plans_are_edited_as_json(headrace: Command) -> None:
    assert "by the month" in headrace("plans", "list")
    free = json.loads(headrace("plans", "show", "free"))
    free["limits"]["day_requests"] = 5
    headrace("plans", "put", "-", stdin=json.dumps(free))
    assert [plan for plan in headrace.json("plans", "list") if plan["id"] == "free"] == [free]
    assert "day_requests 5" in headrace("plans", "list")
    assert "letters" in headrace.refused("plans", "put", "-", stdin='{"id": "a b"}')
    headrace("plans", "delete", "free")
    assert json.loads(headrace("plans", "show", "free"))["limits"]["day_requests"] == 100
    assert "no plan 'none'" in headrace.refused("plans", "delete", "none")


def test_limits_of_organisations_and_keys_are_set_and_cleared(headrace: Command) -> None:
    (key,) = json.loads(headrace("keys", "create", "ci", "--org", "acme", "--json"))
    set_to = headrace.json("budgets", "set", "--org", "acme", "--day-micros", "5000", "--parallel", "2")
    assert (set_to["day_micros"], set_to["parallel"], set_to["month_micros"]) == (5_000, 2, None)
    headrace("budgets", "set", "--org", "acme", "--month-micros", "9000")
    assert headrace.json("budgets", "show", "--org", "acme") == {**set_to, "month_micros": 9_000}
    assert "5,000" in headrace("budgets", "show", "--org", "acme")
    headrace("orgs", "change", "acme", "--plan", "free")
    table = headrace("budgets", "show", "--org", "acme", "--key", key["id"]).splitlines()
    assert table[0].split() == ["limit", "key", "organisation", "plan"]
    assert table[3].split() == ["day-requests", "none", "none", "100"]
    headrace("orgs", "change", "acme", "--plan", "standard")
    told = headrace.run(
        "budgets", "set", "--org", "acme", "--day-requests", "5", "--day-micros", "6", "--parallel", "3"
    )
    assert told.stderr == "day-requests counts from now on: what was used before is not counted.\n"
    told = headrace.run("budgets", "set", "--org", "acme", "--minute-tokens", "5", "--month-requests", "6")
    assert told.stderr == "month-requests, minute-tokens count from now on: what was used before is not counted.\n"
    headrace("budgets", "clear", "--org", "acme", "day-requests", "minute-tokens", "month-requests")
    headrace("budgets", "set", "--org", "acme", "--day-micros", "5000", "--parallel", "2")
    assert headrace.json("budgets", "clear", "--org", "acme", "day-micros")["day_micros"] is None
    headrace("budgets", "set", "--org", "acme", "--key", key["id"], "--minute-requests", "10")
    assert headrace.json("budgets", "show", "--org", "acme", "--key", key["id"])["minute_requests"] == 10
    assert headrace.json("budgets", "show", "--org", "acme")["minute_requests"] is None
    assert set(headrace.json("budgets", "clear", "--org", "acme").values()) == {None}
    assert "Name a limit" in headrace.refused("budgets", "set", "--org", "acme")
    assert "no limit 'week'" in headrace.refused("budgets", "clear", "--org", "acme", "week")


def test_keys_are_bound_changed_rotated_and_deleted(headrace: Command) -> None:
    headrace("orgs", "create", "acme")
    headrace("policies", "put", "--org", "acme", "-", stdin='{"name": "cheap"}')
    made = json.loads(
        headrace(
            *("keys", "create", "ci", "--org", "acme", "--policy", "cheap", "--policy", "default"),
            *("--model", "cheap-alias", "--scope", "inference", "--json"),
        )
    )[0]
    assert (made["policies"], made["models"], made["scopes"]) == (["cheap", "default"], ["lab/cheap"], ["inference"])
    assert "inference" in headrace("keys", "list", "--org", "acme")
    changed = json.loads(
        headrace("keys", "change", made["id"], "--org", "acme", "--all-models", "--days", "3", "--name", "new")
    )
    assert (changed["models"], changed["name"], changed["scopes"]) == (None, "new", ["inference"])
    assert changed["expires"] is not None
    forever = json.loads(headrace("keys", "change", made["id"], "--org", "acme", "--forever"))
    assert forever["expires"] is None
    both = headrace.refused("keys", "change", made["id"], "--org", "acme", "--forever", "--days", "3")
    assert "not both" in both
    assert "no policy 'none'" in headrace.refused("keys", "create", "x", "--org", "acme", "--policy", "none")
    assert "cannot be an organisation's id" in headrace.refused("keys", "create", "x", "--org", "a#b")
    new = headrace.json("keys", "rotate", made["id"], "--org", "acme", "--overlap-hours", "1")[0]
    assert is_well_formed(new["key"])
    assert (new["policies"], new["name"]) == (["cheap", "default"], "new")
    assert json.loads(headrace("keys", "show", made["id"], "--org", "acme"))["expires"] is not None
    headrace("keys", "delete", made["id"], "--org", "acme")
    assert [key["id"] for key in headrace.json("keys", "list", "--org", "acme")] == [new["id"]]


def test_an_organisations_catalog_is_checked_shown_and_taken_away(headrace: Command, tmp_path: Path) -> None:
    headrace("orgs", "create", "acme")
    own = tmp_path / "acme.toml"
    own.write_text(entry("lab/own").format())
    assert "acme has 1 model of its own" in headrace("orgs", "catalog", "put", "acme", str(own))
    assert headrace("orgs", "catalog", "show", "acme") == own.read_text()
    wrong = headrace.refused("orgs", "catalog", "put", "acme", "-", stdin='[vendors.lab]\nformat = "x"\n')
    assert "catalog:2: vendors.lab.format" in wrong
    routed = json.loads(headrace("route", "Hello", "--org", "acme", "--only", "lab/own", "--json"))
    assert routed["pick"] == "lab/own"
    headrace("orgs", "catalog", "delete", "acme")
    assert "no catalog" in headrace.refused("orgs", "catalog", "show", "acme")


def test_the_operators_key_is_shown_once_with_its_hash(headrace: Command) -> None:
    made = headrace.json("operator", "init")
    assert made["sha256"] == digest(made["key"])
    told = headrace.run("operator", "init")
    assert told.stdout.startswith("hro_")
    assert f"HEADRACE_OPERATOR_KEY_SHA256={digest(told.stdout.strip())}" in told.stderr
    configured = {"HEADRACE_OPERATOR_KEY_SHA256": made["sha256"]}
    assert "--replace" in str(headrace.run("operator", "init", **configured).exception)
    assert headrace.run("operator", "init", "--replace", **configured).exit_code == 0


def test_the_operator_sees_the_hosts_of_a_decision(headrace: Command, tmp_path: Path) -> None:
    headrace("orgs", "create", "acme")
    record = replace(final(open_record(1)), decision={"object": "routing", "attempts": [{"model": "small"}]})

    async def keep() -> None:
        store = SqliteStore(tmp_path / "headrace.db")
        await store.settle(record)
        await store.close()

    asyncio.run(keep())
    shown = json.loads(headrace("operator", "decision", record.request_id))
    assert shown["organisation"] == "acme"
    assert shown["attempts"] == [
        {"model": "small", "host": "vendor/small-1", "upstream_status": None, "upstream_code": None}
    ]
    assert "no decision" in headrace.refused("operator", "decision", "req-none")


def test_what_there_is_not_is_told(headrace: Command) -> None:
    for arguments in (
        ("keys", "list"),
        ("usage",),
        ("policies", "list"),
        ("policies", "show", "default"),
        ("budgets", "show"),
        ("budgets", "set", "--parallel", "1"),
        ("own-keys", "list"),
        ("route", "Hello"),
    ):
        assert headrace.refused(*arguments, "--org", "none") == "There is no organisation 'none'."
    for arguments in (("show", "none"), ("delete", "none", "--yes"), ("catalog", "show", "none")):
        assert headrace.refused("orgs", *arguments) == "There is no organisation 'none'."
    assert headrace.refused("orgs", "pay", "none", "5", "--id", "x") == "There is no organisation 'none'."


def test_who_names_no_organisation_means_the_default_one(headrace: Command) -> None:
    headrace("keys", "create", "first")
    headrace("budgets", "set", "--parallel", "2")
    headrace("policies", "put", "-", stdin='{"name": "cheap"}')
    assert headrace.json("orgs", "show", "default")[0]["limits"]["parallel"] == 2
    assert [policy["name"] for policy in headrace.json("policies", "list")] == ["cheap", "default"]
    assert headrace.json("route", "Hello")["object"] == "routing"


@pytest.mark.parametrize("wrong", [("--policy", "nosuch"), ("--model", "nosuch")])
def test_a_key_that_cannot_be_made_leaves_no_organisation(headrace: Command, wrong: tuple[str, str]) -> None:
    assert "'nosuch'" in headrace.refused("keys", "create", "x", "--org", "zed", *wrong)
    assert headrace.json("orgs", "list") == []


ID = re.compile(r"key_[0-9a-f]{16}")


def test_columns_that_are_empty_in_every_row_are_left_out(headrace: Command) -> None:
    headrace("keys", "create", "ci", "--org", "acme")
    assert "expires" not in headrace("keys", "list", "--org", "acme")
    shown = headrace.run("keys", "list", "--org", "acme", COLUMNS="80", FORCE_COLOR="1", NO_COLOR="1", TERM="dumb")
    assert len(shown.stdout.splitlines()) == 2, "each row is a line"
    headrace("keys", "create", "soon", "--org", "acme", "--days", "3")
    assert "expires" in headrace("keys", "list", "--org", "acme")


def test_no_id_is_ever_cut_and_a_row_is_a_line_where_nobody_looks_on(headrace: Command) -> None:
    headrace("keys", "create", "a name that goes on and on, so that a narrow table has no room for it", "--org", "acme")
    (key,) = headrace.json("keys", "list", "--org", "acme")
    piped = headrace.run("keys", "list", "--org", "acme", COLUMNS="40").stdout.splitlines()
    assert (len(piped), ID.findall(piped[1])) == (2, [key["id"]])
    for columns in ("40", "80"):
        shown = headrace.run("keys", "list", "--org", "acme", COLUMNS=columns, FORCE_COLOR="1", TERM="dumb").stdout
        assert ID.findall(shown) == [key["id"]], "a terminal"
        assert len(shown.splitlines()) > 2, "the rest is folded"


def test_a_name_is_shown_as_it_is_written(headrace: Command) -> None:
    headrace("orgs", "create", "acme", "--name", "Acme [bold] Ltd")
    assert "Acme [bold] Ltd" in headrace("orgs", "list")


def test_a_time_beyond_all_dates_is_shown_as_the_last(headrace: Command) -> None:
    headrace("keys", "create", "old", "--org", "acme")

    async def far_away() -> None:
        store = SqliteStore(headrace.folder / "headrace.db")
        (key,) = await store.keys("acme")
        await store.save_key(replace(key, expires_ms=1_099_511_627_776_000))
        await store.close()

    asyncio.run(far_away())
    (row,) = headrace.json("keys", "list", "--org", "acme")
    assert row["expires"] == "9999-12-31T23:59:59+00:00"
    assert "9999-12-31" in headrace("keys", "list", "--org", "acme")


@pytest.mark.parametrize(
    "arguments",
    [
        ("orgs", "pay", "acme", "99999999999999999999", "--id", "x"),
        ("orgs", "pay", "acme", "1000000000000001", "--id", "x"),
        ("budgets", "set", "--org", "acme", "--day-micros", "99999999999999999999"),
        ("budgets", "set", "--org", "acme", "--parallel", "-1"),
        ("keys", "create", "x", "--days", "99999999999999999999"),
        ("route", "hi", "--max-tokens", "99999999999999999999"),
        ("route", "hi", "--max-cost-micros", "99999999999999999999"),
    ],
)
def test_numbers_out_of_bounds_are_wrong_usage(headrace: Command, arguments: tuple[str, ...]) -> None:
    headrace("orgs", "create", "acme")
    result = headrace.run(*arguments)
    assert (result.exit_code, "Invalid value" in result.output) == (2, True)
