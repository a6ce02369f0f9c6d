"""The shipped models are what the tool makes of the sources; it makes the same twice."""

import pytest

from core.catalog.shipped import SHIPPED_FOLDER
from functions.local.catalog.build import BuildReport, build
from functions.local.catalog.findings import Severity
from tests.support.catalogs import source_folder


@pytest.fixture(scope="module")
def report() -> BuildReport:
    return build(source_folder())


def test_the_shipped_models_are_what_the_tool_makes(report: BuildReport) -> None:
    shipped = (SHIPPED_FOLDER / "models.toml").read_text("utf-8")
    assert shipped == report.text, "the overlay or the sources changed: run `headrace catalog build`"


def test_it_makes_the_same_bytes_twice(report: BuildReport) -> None:
    assert build(source_folder()).text == report.text


def test_nothing_is_missing_in_the_sources(report: BuildReport) -> None:
    assert [str(each) for each in report.findings if each.severity is not Severity.INFO] == []


def test_every_disagreement_lists_both_numbers(report: BuildReport) -> None:
    assert report.disagreements
    for each in report.disagreements:
        numbers = [number for _, _, number in each.said]
        assert len(each.said) > 1
        assert len(set(numbers)) > 1
        assert all(source and date for source, date, _ in each.said)


# Looked at: one source has a single price for all of Bedrock's regions, and one still knows a tier of a window that is
# gone.
KNOWN = {
    *(f"amazon/nova-{size} on bedrock-eu-central-1" for size in ("2-lite", "pro", "lite", "micro")),
    "anthropic/claude-sonnet-4-5 on anthropic",
    "anthropic/claude-sonnet-4-5 on bedrock-us-east-1",
    "anthropic/claude-sonnet-4-5 on bedrock-eu-central-1",
}


def test_sources_of_the_same_month_agree_on_prices(report: BuildReport) -> None:
    limits = ("context_tokens", "max_output_tokens", "deprecated")
    november = {
        f"{each.model} on {each.vendor}"
        for each in report.disagreements
        if each.field not in limits and len({number for _, date, number in each.said if date >= "2026-11"}) > 1
    }
    assert november == KNOWN
