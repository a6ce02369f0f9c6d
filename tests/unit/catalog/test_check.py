"""The check names what is missing, contradictory, unknown or about to end, and nothing else."""

from dataclasses import replace
from datetime import date

import pytest

from core.catalog.loader import Catalog, load_catalog
from core.catalog.model import Abilities, Host, Model, Score, Thinking, Vendor
from core.money import ContextTier, Prices, Rates
from functions.local.catalog.check import check
from functions.local.catalog.disagreements import Disagreement
from functions.local.catalog.findings import Finding, Severity
from tests.support.targets import make_vendor

TODAY = date(2026, 11, 30)
RATES = Rates(1_000_000, 2_000_000)
HOST = Host("lab", "m", prices=Prices(RATES), price_source="their page", price_date="2026-11-30")
MODEL = Model("lab/m", "M", "lab", (HOST,), 100, 10, quality={"code": Score(0.5, "a table", "2026-07")})


def catalog(*models: Model, vendor: Vendor | None = None) -> Catalog:
    return Catalog(models, {"lab": vendor or make_vendor()}, {model.id: place for place, model in enumerate(models)})


def found(model: Model) -> list[str]:
    return [str(finding) for finding in check(catalog(model), TODAY)]


def test_nothing_is_said_of_a_model_that_is_whole() -> None:
    assert found(MODEL) == []


@pytest.mark.parametrize(
    ("changes", "finding"),
    [
        ({"abilities": Abilities(refuses=frozenset({"temprature"}))}, "error: lab/m: abilities.refuses: there is no"),
        ({"quality": {"chess": Score(0.5, "s", "2026")}}, "error: lab/m: quality.chess: there is no such task"),
        ({"quality": {}}, "info: lab/m: quality: evaluated for no task"),
        ({"max_output_tokens": 101}, "error: lab/m: max_output_tokens: the longest answer is longer than the window"),
        ({"abilities": Abilities(efforts=("low",))}, "error: lab/m: abilities.thinking: a model that does not think"),
        ({"abilities": Abilities(thinks_by_default=True)}, "error: lab/m: abilities.thinking: a model that does not"),
        ({"abilities": Abilities(forced_tools=False)}, "error: lab/m: abilities.forced_tools: a model without tools"),
        ({"deprecated": "2026-12-01"}, "warning: lab/m: deprecated: offered until 2026-12-01"),
        ({"deprecated": "2026-11-30"}, "warning: lab/m: deprecated: no longer offered since 2026-11-30"),
        (
            {"abilities": Abilities(thinking=Thinking.OPTIONAL)},
            "info: lab/m: lab.thinking_switch: the model can choose to think, and this host has no switch",
        ),
    ],
)
def test_a_model(changes: dict[str, object], finding: str) -> None:
    said = found(replace(MODEL, **changes))  # type: ignore[arg-type]  # members by name, from the table
    assert any(each.startswith(finding) for each in said), said
    assert len(said) <= 2


@pytest.mark.parametrize(
    ("changes", "finding"),
    [
        ({"prices": None}, "warning: lab/m: lab.prices: unknown: requests are not charged"),
        ({"price_source": None}, "warning: lab/m: lab.prices: without a source and a date"),
        ({"price_date": None}, "warning: lab/m: lab.prices: without a source and a date"),
        ({"prices": Prices(replace(RATES, input=0))}, "warning: lab/m: lab.prices: a price of 0 means free"),
        ({"prices": Prices(replace(RATES, output=0))}, "warning: lab/m: lab.prices: a price of 0 means free"),
        (
            {"prices": Prices(RATES, (ContextTier(5, ">", RATES), ContextTier(5, ">=", RATES)))},
            "error: lab/m: lab.prices.tiers: two tiers begin at the same number of tokens",
        ),
        (
            {"prices": Prices(RATES, per_request=5, minimum=5)},
            "warning: lab/m: lab.prices.minimum: says nothing: every request costs that much already",
        ),
        ({"refuses": frozenset({"tolls"})}, "error: lab/m: lab.refuses: there is no request field 'tolls'"),
        ({"max_output_tokens": 200}, "error: lab/m: lab.max_output_tokens: the longest answer is longer"),
        ({"deprecated": "2027-01-01"}, "warning: lab/m: lab.deprecated: offered until 2027-01-01"),
    ],
)
def test_a_host(changes: dict[str, object], finding: str) -> None:
    host = replace(HOST, **changes)  # type: ignore[arg-type]  # members by name, from the table
    (said,) = found(replace(MODEL, hosts=(host,)))
    assert said.startswith(finding)


def test_an_end_that_model_and_host_share_is_told_once() -> None:
    host = replace(HOST, deprecated="2027-01-01")
    assert found(replace(MODEL, hosts=(host,), deprecated="2027-01-01")) == [
        "warning: lab/m: deprecated: offered until 2027-01-01"
    ]


def test_one_name_of_two_models() -> None:
    one, two = replace(MODEL, aliases=("x", "lab/two")), replace(MODEL, id="lab/two", aliases=("x", "x"))
    said = [str(finding) for finding in check(catalog(one, two), TODAY)]
    assert said == [
        "error: lab/m: aliases: 'lab/two' is a name of lab/two as well",
        "error: lab/two: aliases: 'x' is a name of lab/m as well",
        "error: lab/two: aliases: 'x' is a name of lab/m as well",
    ]


def test_a_field_that_a_vendor_refuses_and_nobody_knows() -> None:
    vendor = replace(make_vendor(), refuses=frozenset({"n", "nn"}))
    assert check(catalog(MODEL, vendor=vendor), TODAY) == [
        Finding(Severity.ERROR, "", "lab.refuses", "there is no request field 'nn'")
    ]


def test_where_sources_differ_both_words_are_told_and_errors_come_first() -> None:
    differ = Disagreement("lab/m", "lab", "input", (("one", "2026-11-30", "1"), ("two", "2026-07-02", "1.5")))
    unknown = replace(MODEL, id="lab/n", quality={"chess": Score(0.5, "s", "2026")})
    said = [str(finding) for finding in check(catalog(MODEL, unknown), TODAY, [differ])]
    assert said == [
        "error: lab/n: quality.chess: there is no such task",
        "warning: lab/m: lab.input: sources differ: 1 (one, 2026-11-30); 1.5 (two, 2026-07-02)",
    ]


def test_an_operators_own_file_is_checked_like_any_other() -> None:
    own = (
        '[[models]]\nid = "local/m"\ncontext_tokens = 10\nmax_output_tokens = 20\n'
        'hosts = [{ vendor = "vllm", upstream_model = "m" }]\n'
    )
    said = [each for each in check(load_catalog([("own.toml", own)]), TODAY) if each.model == "local/m"]
    assert {(each.severity, each.field) for each in said} == {
        (Severity.ERROR, "max_output_tokens"),
        (Severity.ERROR, "vllm.max_output_tokens"),
        (Severity.WARNING, "vllm.prices"),
        (Severity.INFO, "quality"),
    }
