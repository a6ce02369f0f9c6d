"""Checks that need nothing but values: settings, clocks, streams, the catalog."""

from datetime import UTC, date, datetime
from email.utils import format_datetime

import pytest

from core.catalog.errors import CatalogError
from core.catalog.loader import Catalog, load_catalog
from functions.gateway.compose import every_offer
from functions.local.doctor.catalog import check_catalog
from functions.local.doctor.clock import check_clock
from functions.local.doctor.finding import Finding, Level
from functions.local.doctor.settings import check_settings
from functions.local.doctor.stream import Arrival, judge
from functions.settings import read_settings

NOW = 1_790_000_000.0
TODAY = date(2026, 12, 1)


def levels(findings: object) -> list[str]:
    assert isinstance(findings, list | tuple)
    assert all(each.level is Level.OK or each.do for each in findings), "who has to do something is told what"
    return [each.level.value for each in findings]


def test_settings_that_are_right() -> None:
    settings, found = check_settings({"HEADRACE_RECORD_DAYS": "7", "PATH": "/bin"})
    assert settings is not None
    assert (settings.record_days, levels(found)) == (7, ["ok"])
    assert "HEADRACE_RECORD_DAYS" in found[0].says


def test_settings_that_are_wrong_are_each_named() -> None:
    settings, found = check_settings({"HEADRACE_RECORD_DAYS": "0", "HEADRACE_STORE": "paper", "HEADRACE_STROE": "x"})
    assert settings is None
    assert levels(found) == ["fail", "fail", "warn"]
    assert {each.says.split(":")[0] for each in found[:2]} == {"HEADRACE_RECORD_DAYS", "HEADRACE_STORE"}
    assert found[2].do == "Did you mean HEADRACE_STORE?"


@pytest.mark.parametrize(
    ("off_s", "level"),
    [(0, "ok"), (-4, "ok"), (4, "ok"), (6, "warn"), (-30, "warn"), (61, "fail"), (-3_600, "fail")],
)
def test_a_clock_that_is_off(off_s: float, level: str) -> None:
    told = format_datetime(datetime.fromtimestamp(NOW - off_s, UTC), usegmt=True)
    found = check_clock("DynamoDB", told, NOW)
    assert levels(found) == [level]
    assert level == "ok" or ("ahead of DynamoDB" in found[0].says) is (off_s > 0)


@pytest.mark.parametrize("told", [None, "yesterday", "Tue, 32 Foo 2026 00:00:00 GMT"])
def test_a_clock_that_nobody_tells(told: str | None) -> None:
    assert levels(check_clock("a vendor", told, NOW)) == ["warn"]


USAGE = {"latency_ms": 2_100, "ttft_ms": 100}


@pytest.mark.parametrize(
    ("seen", "level", "word"),
    [
        (Arrival(0.1, 2.1, USAGE, None, "m"), "ok", "first event after 0.10 s"),
        (Arrival(0.9, 2.1, USAGE, None, "m"), "ok", "last byte after 2.10 s"),
        (Arrival(2.1, 2.1, USAGE, None, "m"), "fail", "at once"),
        (Arrival(1.3, 2.1, USAGE, None, "m"), "fail", "2.00 s in the making"),
        (Arrival(0.1, 0.1, {"latency_ms": 200, "ttft_ms": 100}, None, "m"), "warn", "too short"),
        (Arrival(0.1, 0.1, {"latency_ms": 200}, None, "m"), "warn", "its own times"),
        (Arrival(0.1, 0.1, None, None, None), "warn", "its own times"),
        (Arrival(0.1, 2.1, None, {"message": "The model stopped."}, "m"), "fail", "The model stopped."),
    ],
)
def test_how_a_stream_is_judged(seen: Arrival, level: str, word: str) -> None:
    finding = judge(seen)
    assert levels([finding]) == [level]
    assert word in finding.says


CATALOG = """
[vendors.lab]
format = "openai"
base_url = "http://127.0.0.1:9/v1"
key_env = "LAB_KEY"

[[models]]
id = "lab/gone"
context_tokens = 8192
max_output_tokens = 2048
hosts = [{ vendor = "lab", upstream_model = "gone", prices = { input = 1, output = 1 }, deprecated = "2026-11-30" }]

[[models]]
id = "lab/going"
context_tokens = 8192
max_output_tokens = 2048
hosts = [{ vendor = "lab", upstream_model = "going", prices = { input = 1, output = 1 }, deprecated = "2026-12-31" }]

[[models]]
id = "lab/lasting"
context_tokens = 8192
max_output_tokens = 2048
hosts = [{ vendor = "lab", upstream_model = "lasting", deprecated = "2027-12-31" }]
"""


def loaded() -> Catalog:
    return load_catalog([("lab.toml", CATALOG)], lambda vendor: True)


def check(has: str) -> list[Finding]:
    _, found = check_catalog(loaded, lambda vendor: vendor.name == has, TODAY)
    return list(found)


def test_what_is_out_of_date_in_the_catalog() -> None:
    found = check("lab")
    assert levels(found) == ["ok", "warn", "warn", "warn"]
    assert found[0].says == "3 models can be called, at lab"
    for each, model in zip(found[1:], ("lab/gone at lab", "lab/going at lab", "lab/lasting"), strict=True):
        assert model in each.says


def test_a_catalog_without_a_key() -> None:
    found = check("nobody")
    assert levels(found) == ["warn"]
    assert "ANTHROPIC_API_KEY" in (found[0].do or "")


def test_a_catalog_that_cannot_be_loaded() -> None:
    def broken() -> Catalog:
        raise CatalogError("mine.toml:3: 'prices' is missing")

    catalog, found = check_catalog(broken, lambda vendor: True, TODAY)
    assert (catalog, levels(found)) == (None, ["fail"])
    assert found[0].says == "mine.toml:3: 'prices' is missing"


def test_the_catalog_that_ships_loads() -> None:
    catalog, found = check_catalog(lambda: every_offer(read_settings({})).common.catalog, lambda vendor: True, TODAY)
    assert catalog is not None
    assert set(levels(found)) <= {"ok", "warn"}
