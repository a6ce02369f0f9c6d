"""The shipped models are what the tool makes of the sources; it makes the same twice."""

from collections import Counter

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


def test_sources_of_the_same_month_agree_on_what_vendors_ask_themselves(report: BuildReport) -> None:
    # Where two sources that are both of November differ, somebody has to look.
    november = Counter(
        each.vendor
        for each in report.disagreements
        if each.field not in ("context_tokens", "max_output_tokens", "deprecated")
        and len({number for _, date, number in each.said if date >= "2026-11"}) > 1
    )
    assert dict(november) == {"bedrock-eu-central-1": 12}
